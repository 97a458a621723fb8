"""What the estimators of a page know: learning curves, feature importance, parameters, and what objectives did."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from rankwood._util.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.diagnostics import diagnose
from rankwood.fit.result import FitResult, StagesResult
from rankwood.objectives.units import unit_of
from rankwood.render.curve import Curve, by_round
from rankwood.report.fitted import Configured, FittedStages, Predictor
from rankwood.report.page.scored import ScoredModel

FEATURES = 20  # features of the table of importance
_MOST_QUERIES = 2000  # queries that an objective is inspected on


_OF_PAIRS = (
    "this objective has gradients of pairs of documents, so none of these numbers is defined."
)


class Stage(NamedTuple):
    """A model of one stage, or a stage of a model of two: rankers that were trained alike."""

    name: str
    model: int  # position of the model, which decides its colour
    #: What training left; None for a model that isn't ours.
    results: list[FitResult | None]
    first: bool = False  # whether another stage follows


#: A metric of the validation data, or a record, by round. Its quantity is its name without that of a validation set.
StageCurve = tuple[Stage, Curve]


class Importance(NamedTuple):
    """The most important features: shares of the gain, or of something else, by stage."""

    stages: list[str]
    models: list[int]
    features: list[str]
    shares: np.ndarray  # by feature and stage; NaN if a stage hasn't got the feature
    n_features: int  # that any stage used
    what: str = "the gain of all splits"


class ObjectiveUse(NamedTuple):
    """What an objective does at the scores of its model; None where that isn't defined."""

    stage: str
    objective: str
    data: str
    queries: int
    effective_pairs: float | None = None
    incoherent: float | None = None
    false_over_missed: float | None = None
    note: str = ""


def stages_of(models: Sequence[ScoredModel]) -> list[Stage]:
    """Return the stages of all models that are known: one for a ranker, two for a `TwoStage`."""
    stages = []
    for i, model in enumerate(models):
        result = model.result
        if isinstance(result, StagesResult):
            stages += [
                Stage(f"{model.name}, first stage", i, list(result.first), True),
                Stage(f"{model.name}, second stage", i, [result.second]),
            ]
        elif result is not None:
            stages.append(Stage(model.name, i, [result]))
    return stages


def learning_curves(stages: Sequence[Stage]) -> dict[str, list[StageCurve]]:
    """Return the validation metrics by round, by name; sets other than the first have theirs before the metric."""
    curves: dict[str, list[StageCurve]] = {}
    for stage, result in _results(stages):
        for part, metrics in result.history.items():
            for metric, values in metrics.items():
                name = metric if part == result.sets[0] else f"{part} {metric}"
                curve = by_round(stage.name, values, metric, result.rounds)
                curves.setdefault(name, []).append((stage, curve))
    return curves


def stage_records(stages: Sequence[Stage]) -> dict[str, list[StageCurve]]:
    """Return what was recorded of the objectives, by name."""
    curves: dict[str, list[StageCurve]] = {}
    for stage, result in _results(stages):
        for name, values in result.curves.items():
            curve = by_round(stage.name, values, name, result.rounds)
            curves.setdefault(name, []).append((stage, curve))
    return curves


def _results(stages: Sequence[Stage]) -> Iterator[tuple[Stage, FitResult]]:
    """Yield all results that are known, each with its stage."""
    for stage in stages:
        yield from ((stage, result) for result in stage.results if result is not None)


def importance_of(stages: Sequence[Stage]) -> Importance | None:
    """Return the features with the largest shares of the gain in any stage; None if no model knows its features."""
    known: list[tuple[Stage, dict[str, float]]] = []
    for stage in stages:
        shares = [_shares(result) for result in stage.results]
        if all(shares):
            names = dict.fromkeys(name for own in shares for name in own)
            means = {n: float(np.mean([own.get(n, 0.0) for own in shares])) for n in names}
            known.append((stage, means))
    return most_important(known)


def most_important(known: Sequence[tuple[Stage, dict[str, float]]]) -> Importance | None:
    """Return the features with the largest shares in any stage; None if there are no stages."""
    if not known:
        return None
    largest: dict[str, float] = {}
    for _, means in known:
        for name, share in means.items():
            largest[name] = max(share, largest.get(name, 0.0))
    used = [name for name in largest if largest[name] > 0]
    features = sorted(used, key=lambda name: -largest[name])[:FEATURES]
    table = np.array([[means.get(name, np.nan) for _, means in known] for name in features])
    stage_names = [stage.name for stage, _ in known]
    table = table.reshape(len(features), len(known))
    return Importance(stage_names, [s.model for s, _ in known], features, table, len(used))


def _shares(result: FitResult | None) -> dict[str, float]:
    """Return the importance of each feature by name; empty if the model has none."""
    shares = None if result is None else result.importances()
    if result is None or shares is None:
        return {}
    return dict(zip(result.schema.labels(), shares.tolist(), strict=True))


def objective_uses(models: Sequence[ScoredModel]) -> list[ObjectiveUse]:
    """Inspect the objective of each model at its scores, on the training data if they are given."""
    uses = []
    for model in models:
        train = model.train
        data = model.data if train is None else train
        if model.estimator is None or data is None:
            continue
        where = "test data" if train is None else "training data"
        if isinstance(model.result, FitResult):
            scores = model.scores if train is None else model.estimator.predict(train)
            inspected = Inspected(data, scores, where, _n_jobs(model.estimator))
            uses.append(_use(model.name, model.result, inspected))
        elif model.result is not None and model.result.second is not None:
            stages = cast(FittedStages, model.estimator)
            lists, name = stages.lists(data), f"{model.name}, second stage"
            scores, where = stages.second_.predict(lists), f"{where}, truncated lists"
            inspected = Inspected(lists, scores, where, _n_jobs(stages.second_))
            uses.append(_use(name, model.result.second, inspected))
    return uses


class Inspected(NamedTuple):
    """The documents that an objective is inspected on, their scores, what they are called, and the threads."""

    data: RankingData
    scores: Any
    where: str
    n_jobs: int | None


def _n_jobs(estimator: Predictor) -> int | None:
    """Return the number of threads of an estimator; None if it doesn't say."""
    params = estimator.get_params(deep=False) if isinstance(estimator, Configured) else {}
    return params.get("n_jobs")


def _use(name: str, result: FitResult, inspected: Inspected) -> ObjectiveUse:
    """Return what the objective of one ranker does, on a part of the queries if there are many."""
    objective, (data, scores, where, n_jobs) = result.settings.objective, inspected
    n = data.groups.ids.size
    if n > _MOST_QUERIES:
        chosen = np.zeros(n, bool)
        chosen[np.linspace(0, n - 1, _MOST_QUERIES).astype(np.int64)] = True
        scores, data = np.asarray(scores)[data.groups.per_row(chosen)], data.select(chosen)
    use = ObjectiveUse(name, repr(objective), where, data.groups.ids.size)
    if unit_of(objective) == "pairs":
        return use._replace(note=_OF_PAIRS)
    try:
        found = diagnose(objective, data, scores, n_jobs=n_jobs)
    except InputError as error:
        return use._replace(note=str(error))
    return use._replace(
        effective_pairs=found.effective_pairs,
        incoherent=found.incoherent,
        false_over_missed=None if found.k is None else found.false_over_missed,
    )
