"""What a page was made from: parameters of the models, rules of the metrics, and versions of the programs."""

import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwood._core.versions import version_of
from rankwood._version import __version__
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec import Qrels
from rankwood.engines.base import ENGINES
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
        [row._replace(differs=False) for row in _merged([_facts(m.estimator) for m in known])],
        _merged([_parameters(m.estimator) for m in known]),
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


def _facts(estimator: Any) -> dict[str, str]:
    """Return what training found out."""
    facts = {"kind": type(estimator).__name__}
    second = getattr(estimator, "second_", None)
    ranker = estimator if second is None else second
    if second is not None:
        rounds = [getattr(r, "best_iteration_", "?") for r in estimator.first_]
        facts[f"{_unit(estimator.first_[0])} of the first stage"] = ", ".join(map(str, rounds))
    if hasattr(ranker, "objective_"):
        facts["objective"] = repr(ranker.objective_)
    if hasattr(ranker, "best_iteration_"):
        where = "" if second is None else " of the second stage"
        facts[_unit(ranker) + where] = str(ranker.best_iteration_)
    if hasattr(estimator, "n_features_in_"):
        facts["features"] = str(estimator.n_features_in_)
    seconds = getattr(estimator, "seconds_", None) or {}
    facts |= {f"seconds for {step}": f"{spent:.2f}" for step, spent in seconds.items()}
    return facts


def _unit(ranker: Any) -> str:
    """Return what a round of training is called."""
    return "epochs" if getattr(ranker, "engine", None) == "neural" else "trees"


def _parameters(estimator: Any) -> dict[str, str]:
    """Return all parameters, those of the stages included; estimators among them are named by their own.

    A parameter that was left open has the value that training took.
    """
    if not hasattr(estimator, "get_params"):
        return {}
    params = estimator.get_params(deep=True) | getattr(estimator, "chosen_", {})
    return {
        name: value if isinstance(value, str) else repr(value)
        for name, value in params.items()
        if not hasattr(value, "get_params")
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
    used = {getattr(ranker, "engine", None) for stage in stages for ranker in stage.rankers}
    engines = {name: one.package for name, one in ENGINES.items()} | {"neural": "torch"}
    packages = [*_PROGRAMS, *(package for name, package in engines.items() if name in used)]
    versions = [(package, version_of(package)) for package in packages if package]
    return [
        ("rankwood", __version__),
        ("Python", platform.python_version()),
        *((package, version) for package, version in versions if version is not None),
        ("system", platform.platform()),
    ]
