"""What a page was made from: parameters of the models, rules of the metrics, and versions of the programs."""

import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwood._util.versions import version_of
from rankwood._version import __version__
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec.files import Qrels
from rankwood.engines.base import ENGINES
from rankwood.fit.result import FitResult, StagesResult
from rankwood.report.fitted import Configured
from rankwood.report.page.outcome import PageOutcome
from rankwood.report.page.scored import ScoredModel
from rankwood.report.page.training import Stage

_PROGRAMS = ("numpy", "numba", "scipy", "scikit-learn")


class ParameterRow(NamedTuple):
    """A parameter or a fact by model, and whether models differ in it; None if a model hasn't got it."""

    name: str
    values: list[str | None]
    differs: bool


class Provenance(NamedTuple):
    """Everything that is needed to make the page again."""

    models: list[str]  # that have parameters
    facts: list[ParameterRow]
    parameters: list[ParameterRow]
    rules: list[tuple[str, str]]
    versions: list[tuple[str, str]]


def provenance_of(
    models: Sequence[ScoredModel], stages: Sequence[Stage], outcome: PageOutcome, test: Any
) -> Provenance:
    """Return parameters, rules and versions."""
    known = [m for m in models if m.estimator is not None]
    return Provenance(
        [m.name for m in known],
        [row._replace(differs=False) for row in _merged([_facts(m) for m in known])],
        _merged([_parameters(m) for m in known]),
        _rules(outcome, test),
        _versions(stages),
    )


def _merged(tables: list[dict[str, str]]) -> list[ParameterRow]:
    """Return one row per name, in the order of first appearance."""
    rows = []
    for name in dict.fromkeys(name for table in tables for name in table):
        values = [table.get(name) for table in tables]
        known = {value for value in values if value is not None}
        rows.append(ParameterRow(name, values, len(known) > 1))
    return rows


def _facts(model: ScoredModel) -> dict[str, str]:
    """Return what training found out."""
    facts, result, where = {"kind": type(model.estimator).__name__}, model.result, ""
    if result is None:
        features = getattr(model.estimator, "n_features_in_", None)  # scikit-learn's word
        return facts if features is None else {**facts, "features": str(features)}
    last: FitResult | None
    if isinstance(result, StagesResult):
        rounds = ["?" if one is None else str(one.rounds) for one in result.first]
        unit = result.first[0].unit if result.first[0] is not None else "tree"
        facts[f"{unit}s of the first stage"] = ", ".join(rounds)
        last, where = result.second, " of the second stage"
    else:
        last = result
    if last is not None:
        facts["objective"] = repr(last.settings.objective)
        facts[f"{last.unit}s{where}"] = str(last.rounds)
    facts["features"] = str(result.schema.n_features)
    return facts | {f"seconds for {step}": f"{spent:.2f}" for step, spent in result.seconds.items()}


def _parameters(model: ScoredModel) -> dict[str, str]:
    """Return all parameters, those of the stages included; estimators among them are named by their own.

    A parameter that was left open has the value that training used.
    """
    if not isinstance(model.estimator, Configured):
        return {}
    chosen = model.result.settings.chosen if isinstance(model.result, FitResult) else {}
    params = {**model.estimator.get_params(deep=True), **chosen}
    return {
        name: value if isinstance(value, str) else repr(value)
        for name, value in params.items()
        if not isinstance(value, Configured)
    }


def _rules(outcome: PageOutcome, test: Any) -> list[tuple[str, str]]:
    """Return the data and the rules of the metrics."""
    rows = []
    if isinstance(test, (RankingData, Qrels)):
        rows.append(("test data", repr(test)))
    rows += [(name, outcome.definitions.get(name, "not known")) for name in outcome.metrics]
    rows += [(f"rule: {name}", str(value)) for name, value in outcome.conventions.items()]
    return rows


def _versions(stages: Sequence[Stage]) -> list[tuple[str, str]]:
    """Return the versions of the programs that made the page, and of the engines of its models."""
    used = {r.settings.learner for stage in stages for r in stage.results if r is not None}
    engines = {name: one.package for name, one in ENGINES.items()} | {"neural": "torch"}
    packages = [*_PROGRAMS, *(package for name, package in engines.items() if name in used)]
    versions = [(package, version_of(package)) for package in packages if package]
    return [
        ("rankwood", __version__),
        ("Python", platform.python_version()),
        *((package, version) for package, version in versions if version is not None),
        ("system", platform.platform()),
    ]
