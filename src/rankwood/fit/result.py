"""What a fit leaves: an estimator keeps it, a file holds it, and reports, cards, exports and MLflow read it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankwood.data.tables.schema import Schema
from rankwood.engines.base import ENGINES, Model

#: The name of validation data that was given without one.
VALID = "valid"
#: Values of each metric, a number per round, by validation set; the first set decides when training stops.
History = Mapping[str, Mapping[str, Sequence[float]]]


class Settings(NamedTuple):
    """How a model was trained, as the user wrote it and as a file holds it."""

    #: The class of the estimator.
    kind: str
    #: The engine that grew the trees, or "neural".
    learner: str
    #: The objective as a composition of parts.
    objective: Any
    #: Parameters of the estimator.
    params: Mapping[str, Any]
    #: Values of the parameters that were left open.
    chosen: Mapping[str, Any]


class Origin(NamedTuple):
    """What a model was made from: a digest of its training data, and the versions of the programs."""

    fingerprint: str
    versions: Mapping[str, str]


class DataSize(NamedTuple):
    """The size of the training data."""

    queries: int
    documents: int


@dataclass(frozen=True)
class FitResult:
    """The result of one fit: of trees of any engine, or of a network.

    Attributes
    ----------
    settings : Settings
        How it was trained.
    model : Model
        The model of the rounds that were kept.
    schema : Schema
        The features that it was trained on.
    rounds : int
        The rounds (trees, epochs) of the model.
    history : dict
        Metrics by validation set, metric and round; empty without validation data.
    seconds : dict
        Time spent, by step.
    curves : dict
        What `record` asked for, by name and round.
    ends : str
        Why training ended; "" if it was interrupted, or if an older file doesn't say.
    data_size : DataSize or None
        The size of the training data; older files don't know it.
    origin : Origin or None
        What the model was made from; older files don't know it.
    letor : dict or None
        How the command line read LETOR files.
    resumed_after : int
        Rounds of an earlier run that this one resumed after; 0 if it started anew.
    validated_on : list of str or None
        Digests of the validation sets; files don't hold them.
    """

    settings: Settings
    model: Model
    schema: Schema
    rounds: int
    history: History = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    ends: str = ""
    data_size: DataSize | None = None
    origin: Origin | None = None
    letor: Mapping[str, Any] | None = None
    resumed_after: int = 0
    validated_on: Sequence[str] | None = None

    def models(self) -> Iterator["StageResult"]:
        """Yield the only model; `StagesResult` yields those of all stages."""
        yield StageResult("", None, self)

    @property
    def unit(self) -> str:
        """What a round is called: "tree", "epoch", or "step" of a registered learner."""
        return unit_of_round(self.settings.learner)

    @property
    def sets(self) -> list[str]:
        """Names of the validation sets; the first one decides."""
        return list(self.history)

    @property
    def trained(self) -> int:
        """The rounds that were trained, kept or not."""
        curves = [curve for metrics in self.history.values() for curve in metrics.values()]
        return len(curves[0]) if curves else self.rounds

    def importances(self) -> np.ndarray | None:
        """Return the gain of the splits on each feature, as shares of 1; None if the model has no such thing."""
        gains = self.model.importances()
        return None if gains is None else gains / (gains.sum() or 1.0)

    def ranked_importances(self) -> list[tuple[str, float]] | None:
        """Return all features and their shares of the importance, largest first; None if the model has none."""
        shares = self.importances()
        if shares is None:
            return None
        labels = self.schema.labels()
        order = np.argsort(-shares, kind="stable")
        return [(labels[i], float(shares[i])) for i in order]


@dataclass(frozen=True)
class StagesResult:
    """The result of a `TwoStage`: a tree of results.

    Attributes
    ----------
    params : dict
        Parameters of the TwoStage, without its stages.
    schema : Schema
        The features that it was trained on.
    first : list of FitResult or None
        First-stage models by fold; None for an estimator that isn't ours.
    refit : FitResult or None
        First-stage model of all training queries.
    second : FitResult or None
        The second-stage model.
    seconds, data_size, origin
        As in `FitResult`.
    """

    params: Mapping[str, Any]
    schema: Schema
    first: Sequence[FitResult | None]
    refit: FitResult | None
    second: FitResult | None
    seconds: Mapping[str, float] = field(default_factory=dict)
    data_size: DataSize | None = None
    origin: Origin | None = None

    def models(self) -> Iterator["StageResult"]:
        """Yield the results of all models: those of the folds, that of all queries, that of the second stage."""
        for fold, result in enumerate(self.first, 1):
            if result is not None:
                yield StageResult("first", fold, result)
        if self.refit is not None:
            yield StageResult("first", None, self.refit)
        if self.second is not None:
            yield StageResult("second", None, self.second)

    @property
    def deciding(self) -> FitResult | None:
        """The result of the stage whose metric is that of the whole: the second."""
        return self.second


class StageResult(NamedTuple):
    """One model of a result: its stage ("" if there is only one model), its fold, and its own result."""

    stage: str
    fold: int | None
    result: FitResult


#: What every fitted estimator of ours has as `result_`.
Result = FitResult | StagesResult


def unit_of_round(learner: str) -> str:
    """Return what a round of a learner is called."""
    row = ENGINES.get(learner)
    if row is not None and row.registered is not None:
        return "step"
    return "epoch" if learner == "neural" else "tree"


def nested_history(flat: Mapping[str, Sequence[float]], sets: Sequence[str] | None) -> History:
    """Return the history of a file: its keys are "metric" for the first set, "set metric" for the others.

    Files of version 0.1 don't have the names of the sets: what stands before a known metric is one, and the first set
    has the name "".
    """
    first = sets[0] if sets else ""
    metrics = [key for key in flat if not any(key.endswith(f" {other}") for other in flat)]
    history: dict[str, dict[str, Sequence[float]]] = {}
    for key, curve in flat.items():
        metric = max((m for m in metrics if key.endswith(f" {m}")), key=len, default=key)
        name = key[: -len(metric) - 1] if metric != key else first
        history.setdefault(name, {})[metric] = list(curve)
    return history


def flat_history(history: History) -> dict[str, list[float]]:
    """Return a history as `history_` and files have it: metrics of the first set by their plain names."""
    first = next(iter(history), VALID)
    return {
        metric if name == first else f"{name} {metric}": list(curve)
        for name, metrics in history.items()
        for metric, curve in metrics.items()
    }
