"""What the metrics say: means with intervals, tests, and pairs of models query by query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwood import stats
from rankwood._util import checks
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation
from rankwood.report.comparison.align import Aligned, align_one, better_sign, check_name
from rankwood.report.comparison.compare import compare
from rankwood.report.comparison.comparison import Comparison
from rankwood.report.comparison.reference_models import perfect, random
from rankwood.report.page.scored import ScoredModel

LEVEL = 0.95
MOST_MODELS = 6  # whose queries are shown
_RANDOM = "random model"


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
class PageOutcome:
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

    @property
    def sign(self) -> int:
        """1 if higher values of the first metric are better, -1 if lower ones are."""
        return self.better[self.metrics[0]]

    @property
    def shown(self) -> list[int]:
        """The models whose queries are shown: the baseline and the first few others, so that pages stay small."""
        others = [pair.model for pair in self.pairs]
        base = [i for i in range(len(self.models)) if i not in others]
        return sorted([*base, *others][:MOST_MODELS])

    @property
    def shown_pairs(self) -> list[Pair]:
        """The pairs whose queries are shown."""
        return [pair for pair in self.pairs if pair.model in self.shown]

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
) -> PageOutcome:
    """Compare several models, or set one against the perfect and the random order."""
    names = list(metrics or models[0].evaluation.metrics)
    bounds = {} if test is None else _bounds(names, test, models[0].evaluation, n_jobs)
    if len(models) == 1:
        return _alone(models[0], names, baseline, bounds)
    evaluations = {model.name: model.evaluation for model in models}
    found = compare(evaluations, baseline, metrics=names, references=bounds or None, n_jobs=n_jobs)
    own = [found.evaluation(name) for name in found.models]
    values = np.array([[ev.per_query[m] for m in names] for ev in own])
    base = str(found.rules["baseline"])
    at = found.models.index(base)
    pairs = [
        Pair(name, base, values[i, 0], values[at, 0], i)
        for i, name in enumerate(found.models)
        if i != at
    ]
    return PageOutcome(
        models=found.models,
        metrics=names,
        ids=own[0].per_query["qid"],
        values=values,
        better=found.better,
        conventions=found.conventions,
        definitions={k: v for m in reversed(models) for k, v in m.evaluation.definitions.items()},
        means=_means(evaluations, bounds, names),
        comparison=found,
        pairs=pairs,
    )


def _alone(
    model: ScoredModel, names: list[str], baseline: str | None, bounds: dict[str, Evaluation]
) -> PageOutcome:
    """Return the outcome of one model, which has bounds but no tests."""
    ev = model.evaluation
    for name in names:
        check_name("metric", name, ev.metrics)
    if baseline is not None and baseline != model.name:
        raise checks.InputError(
            f"baseline {baseline!r} is none of the models{checks.nearest(baseline, [model.name])}"
        )
    values = np.array([[ev.per_query[m] for m in names]])
    table = Aligned([model.name], names, ev.per_query["qid"], values, ev.conventions)
    others = {label: align_one(table, label, own) for label, own in bounds.items()}
    pairs = [Pair(model.name, _RANDOM, values[0, 0], others[_RANDOM][0], 0)] if others else []
    return PageOutcome(
        models=[model.name],
        metrics=names,
        ids=ev.per_query["qid"],
        values=values,
        better={name: better_sign(name) for name in names},
        conventions=ev.conventions,
        definitions=ev.definitions,
        means=_means({model.name: ev}, bounds, names),
        comparison=None,
        pairs=pairs,
    )


def _bounds(
    names: list[str], test: Any, first: Evaluation, n_jobs: int | None
) -> dict[str, Evaluation]:
    """Evaluate the perfect and the random order, by the rules and on the queries of the first model."""
    empty = first.conventions.get("empty")
    rules = {
        "empty": None if isinstance(empty, dict) else empty,  # the convention has a rule for each
        "convention": first.conventions.get("convention"),
        "n_jobs": n_jobs,
    }
    wanted = set(map(str, first.per_query["qid"].tolist()))
    made = {}
    for label, bound in (("perfect model", perfect), (_RANDOM, random)):
        own = bound(names, test, **rules)
        # By some conventions a query that a run lacks is omitted.
        kept = np.array([str(q) in wanted for q in own.per_query["qid"].tolist()])
        columns = {m: own.per_query[m][kept] for m in names}
        made[label] = Evaluation(own.per_query["qid"][kept], columns, own.conventions)
    return made


def _means(
    evaluations: Mapping[str, Evaluation], bounds: Mapping[str, Evaluation], names: list[str]
) -> list[Mean]:
    """Return the means of all models and metrics, those of bounds last."""
    own = [_mean(name, m, ev.per_query[m]) for name, ev in evaluations.items() for m in names]
    return own + [
        _mean(name, m, ev.per_query[m], bound=True) for name, ev in bounds.items() for m in names
    ]


def _mean(model: str, metric: str, column: np.ndarray, bound: bool = False) -> Mean:
    """Return the mean over queries that were not skipped, with its interval."""
    kept = column[~np.isnan(column)]
    low, high = (np.nan, np.nan) if bound else stats.t_interval(kept, LEVEL)
    return Mean(model, metric, float(kept.mean()) if kept.size else np.nan, low, high, bound)


def training_means(
    models: Sequence[ScoredModel], outcome: PageOutcome, rules: dict[str, Any]
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
