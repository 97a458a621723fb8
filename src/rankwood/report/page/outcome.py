"""What the metrics say: means with intervals, tests, and pairs of models query by query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwood import stats
from rankwood._core import checks
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation
from rankwood.report.align import better_sign, check_name
from rankwood.report.compare import compare
from rankwood.report.comparison import Comparison
from rankwood.report.page.scored import ScoredModel
from rankwood.report.reference_models import perfect, random

LEVEL = 0.95


class Mean(NamedTuple):
    """A mean over queries and its confidence interval; bounds such as the perfect model have none."""

    model: str
    metric: str
    mean: float
    low: float
    high: float
    bound: bool


class Pair(NamedTuple):
    """A model and what it is compared with, by the first metric: one value per query of each."""

    name: str
    against: str
    values: np.ndarray
    others: np.ndarray
    model: int  # position of the model, which decides its colour

    @property
    def gain(self) -> np.ndarray:
        """The difference of each query, 0 where it is only rounding; NaN if a value is missing."""
        return np.where(
            np.isnan(self.values + self.others), np.nan, stats.snap(self.values, self.others)
        )


class TrainingMean(NamedTuple):
    """A mean on the training data beside that on the test data."""

    model: str
    metric: str
    train: float
    test: float


@dataclass(frozen=True)
class Outcome:
    """Values of all models, metrics and queries, and what follows from them."""

    models: list[str]
    metrics: list[str]
    ids: np.ndarray
    values: np.ndarray  # by model, metric and query
    better: dict[str, int]
    conventions: dict[str, Any]
    definitions: dict[str, str]
    means: list[Mean]
    comparison: Comparison | None  # None if there is one model
    pairs: list[Pair]
    baseline: str | None

    @property
    def sign(self) -> int:
        """1 if higher values of the first metric are better, -1 if lower ones are."""
        return self.better[self.metrics[0]]

    def evaluation(self, model: int) -> Evaluation:
        """Return the values of a model, queries in the common order."""
        columns = dict(zip(self.metrics, self.values[model], strict=True))
        return Evaluation(self.ids, columns, self.conventions)


def outcome_of(
    models: Sequence[ScoredModel],
    test: Any,
    metrics: Sequence[str] | None,
    baseline: str | None,
    n_jobs: int | None,
) -> Outcome:
    """Compare several models, or set one against the perfect and the random order."""
    evaluations = {model.name: model.evaluation for model in models}
    names = list(metrics or models[0].evaluation.metrics)
    definitions = {k: v for m in reversed(models) for k, v in m.evaluation.definitions.items()}
    if len(models) == 1:
        return _alone(models[0], test, names, baseline, n_jobs)
    found = compare(evaluations, baseline, metrics=names, bounds=test, n_jobs=n_jobs)
    own = [found.evaluation(name) for name in found.models]
    values = np.array([[ev.per_query[m] for m in names] for ev in own])
    means = [_mean(name, m, ev.per_query[m]) for name, ev in evaluations.items() for m in names]
    means += [
        Mean(str(r["model"]), str(r["metric"]), float(r["mean"]), np.nan, np.nan, True)
        for r in found.means[found.means["bound"]]
    ]
    base = str(found.rules["baseline"])
    at = found.models.index(base)
    pairs = [
        Pair(name, base, values[i, 0], values[at, 0], i)
        for i, name in enumerate(found.models)
        if i != at
    ]
    ids = own[0].per_query["qid"]
    rules = found.conventions
    return Outcome(
        found.models,
        names,
        ids,
        values,
        found.better,
        rules,
        definitions,
        means,
        found,
        pairs,
        base,
    )


def _alone(
    model: ScoredModel, test: Any, names: list[str], baseline: str | None, n_jobs: int | None
) -> Outcome:
    """Return the outcome of one model, which has bounds but no tests."""
    ev = model.evaluation
    for name in names:
        check_name("metric", name, ev.metrics)
    if baseline is not None and baseline != model.name:
        raise checks.InputError(
            f"baseline {baseline!r} is none of the models{checks.nearest(baseline, [model.name])}"
        )
    values = np.array([[ev.per_query[m] for m in names]])
    means = [_mean(model.name, m, ev.per_query[m]) for m in names]
    pairs = []
    if test is not None:
        rules = {key: ev.conventions.get(key) for key in ("empty", "convention")}
        if isinstance(rules["empty"], dict):  # these are the rules of the convention itself
            rules["empty"] = None
        for label, bound in (("perfect model", perfect), ("random model", random)):
            own = bound(names, test, n_jobs=n_jobs, **rules).per_query
            means += [_mean(label, m, own[m], bound=True) for m in names]
        pairs = [Pair(model.name, "random order", values[0, 0], own[names[0]], 0)]
    better = {name: better_sign(name) for name in names}
    return Outcome(
        models=[model.name],
        metrics=names,
        ids=ev.per_query["qid"],
        values=values,
        better=better,
        conventions=ev.conventions,
        definitions=ev.definitions,
        means=means,
        comparison=None,
        pairs=pairs,
        baseline=None,
    )


def _mean(model: str, metric: str, column: np.ndarray, bound: bool = False) -> Mean:
    """Return the mean over queries that were not skipped, with its interval."""
    kept = column[~np.isnan(column)]
    low, high = (np.nan, np.nan) if bound else stats.t_interval(kept, LEVEL)
    return Mean(model, metric, float(kept.mean()) if kept.size else np.nan, low, high, bound)


def training_means(
    models: Sequence[ScoredModel], outcome: Outcome, rules: dict[str, Any]
) -> list[TrainingMean]:
    """Return the means on the training data of all models that can predict."""
    rows = []
    for i, model in enumerate(models):
        if model.estimator is None or model.train is None:
            continue
        scores = model.estimator.predict(model.train)
        ev = evaluate(outcome.metrics, model.train, scores, **rules)
        here = outcome.evaluation(i).mean()
        rows += [TrainingMean(model.name, m, x, here[m]) for m, x in ev.mean().items()]
    return rows
