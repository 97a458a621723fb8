"""What the estimators of a page know: learning curves, feature importance, parameters, and what objectives did."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwood._core.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.diagnostics import diagnose
from rankwood.objectives.units import unit_of
from rankwood.report.page.scored import ScoredModel
from rankwood.training.summary import curves_of, feature_labels

FEATURES = 20  # features of the table of importance
_NUMBERED = re.compile(r"^x(\d+)(?=:|$)")
_MOST_QUERIES = 2000  # queries that an objective is inspected on


_OF_PAIRS = (
    "this objective has gradients of pairs of documents, so none of these numbers is defined."
)


class Stage(NamedTuple):
    """A model of one stage, or a stage of a model of two: rankers that were trained alike."""

    name: str
    model: int  # position of the model, which decides its colour
    rankers: list[Any]
    first: bool = False  # whether another stage follows
    #: Whether features have names only because a first stage added to them: "x0" is the first, "x0:rank" its rank.
    numbered: bool = False


class StageCurve(NamedTuple):
    """A metric of the validation data, or a record, by round."""

    stage: Stage
    name: str
    values: list[float]
    best: int | None  # the round that was kept
    metric: str  # the name without that of a validation set


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
        estimator = model.estimator
        if hasattr(estimator, "second_"):
            numbered = not hasattr(estimator, "feature_names_in_")
            stages += [
                Stage(f"{model.name}, first stage", i, list(estimator.first_), True),
                Stage(f"{model.name}, second stage", i, [estimator.second_], numbered=numbered),
            ]
        elif estimator is not None:
            stages.append(Stage(model.name, i, [estimator]))
    return stages


def learning_curves(stages: Sequence[Stage]) -> dict[str, list[StageCurve]]:
    """Return the validation metrics by round, by name."""
    return _curves(stages, "history_")


def recorded_curves(stages: Sequence[Stage]) -> dict[str, list[StageCurve]]:
    """Return what was recorded of the objectives, by name."""
    return _curves(stages, "record_")


def _curves(stages: Sequence[Stage], attribute: str) -> dict[str, list[StageCurve]]:
    found: dict[str, list[StageCurve]] = {}
    for stage in stages:
        for ranker in stage.rankers:
            best = getattr(ranker, "best_iteration_", None)
            known = getattr(ranker, attribute, None) or {}
            for name, (metric, _, values) in zip(map(str, known), curves_of(known), strict=True):
                if len(values):
                    curve = StageCurve(stage, name, list(values), best, metric)
                    found.setdefault(name, []).append(curve)
    return found


def importance_of(stages: Sequence[Stage]) -> Importance | None:
    """Return the features with the largest shares of the gain in any stage; None if no model knows its features."""
    known: list[tuple[Stage, dict[str, float]]] = []
    for stage in stages:
        shares = [_shares(ranker, stage.numbered) for ranker in stage.rankers]
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


def _shares(ranker: Any, numbered: bool) -> dict[str, float]:
    """Return the importance of each feature by name; empty if the model has none."""
    values = getattr(ranker, "feature_importances_", None)
    if values is None:
        return {}
    names = feature_labels(ranker, len(values))
    if numbered:
        names = [_NUMBERED.sub(lambda m: f"feature {int(m[1]) + 1}", name) for name in names]
    total = float(np.sum(values)) or 1.0
    return {name: float(x) / total for name, x in zip(names, values, strict=True)}


def objective_uses(models: Sequence[ScoredModel]) -> list[ObjectiveUse]:
    """Inspect the objective of each model at its scores, on the training data if they are given."""
    uses = []
    for model in models:
        train = model.train
        data = model.data if train is None else train
        if model.estimator is None or data is None:
            continue
        where = "test data" if train is None else "training data"
        scores = model.scores if train is None else model.estimator.predict(train)
        if hasattr(model.estimator, "second_"):
            lists = model.estimator.lists(data)
            second, name = model.estimator.second_, f"{model.name}, second stage"
            use = _use(name, second, lists, second.predict(lists), f"{where}, truncated lists")
        else:
            use = _use(model.name, model.estimator, data, scores, where)
        uses += [] if use is None else [use]
    return uses


def _use(name: str, ranker: Any, data: RankingData, scores: Any, where: str) -> ObjectiveUse | None:
    """Return what the objective of one ranker does, on a part of the queries if there are many."""
    objective = getattr(ranker, "objective_", None)
    if objective is None:
        return None
    n = data.groups.ids.size
    if n > _MOST_QUERIES:
        chosen = np.zeros(n, bool)
        chosen[np.linspace(0, n - 1, _MOST_QUERIES).astype(np.int64)] = True
        scores, data = np.asarray(scores)[data.groups.per_row(chosen)], data.select(chosen)
    made = ObjectiveUse(name, repr(objective), where, data.groups.ids.size)
    if unit_of(objective) == "pairs":
        return made._replace(note=_OF_PAIRS)
    try:
        found = diagnose(objective, data, scores, n_jobs=getattr(ranker, "n_jobs", None))
    except InputError as error:
        return made._replace(note=str(error))
    return made._replace(
        effective_pairs=found.effective_pairs,
        incoherent=found.incoherent,
        false_over_missed=None if found.k is None else found.false_over_missed,
    )
