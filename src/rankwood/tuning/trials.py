"""One trial: train a ranker with some parameters, on fixed validation data or on folds, and return its value."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.shared import Shared
from rankwood.data.ranking_data import RankingData
from rankwood.metrics.evaluate import Evaluator
from rankwood.training.context import FitContext
from rankwood.tuning.measure import Measure
from rankwood.tuning.parameters import configured

#: Takes a step and the best value so far; returns True if the trial is hopeless.
Report = Callable[[int, float], bool]


class Fitted(NamedTuple):
    """What a trial has found."""

    value: float
    rounds: int
    #: The fitted ranker; None if there are folds, as no model has seen all queries.
    ranker: Any


class Hopeless(Exception):
    """A trial has been stopped because others were better at the same step."""


class Part(NamedTuple):
    """Training data, validation data, and what all trials on them share."""

    train: RankingData
    valid: RankingData
    evaluator: Evaluator
    shared: Shared


@dataclass(frozen=True)
class Task:
    """What all trials of a study have in common.

    Attributes
    ----------
    ranker : Ranker
        Has the parameters that are not tuned.
    train : RankingData
        The training data.
    parts : list of Part
        One for fixed validation data; one a fold in cross-validation.
    measure : Measure
        The metric.
    """

    ranker: Any
    train: RankingData
    parts: list[Part]
    measure: Measure
    folds: int | None = field(default=None)

    def run(self, params: dict[str, Any], report: Report) -> Fitted:
        """Train with some parameters; raise Hopeless if `report` says so, and anything that training raises."""
        if self.folds is None:
            return self._fit_one(params, self.parts[0], report)
        found: list[Fitted] = []
        for step, part in enumerate(self.parts, 1):
            found.append(self._fit_one(params, part, lambda round_, value: False))
            mean = float(np.mean([one.value for one in found]))
            if report(step, mean) and step < self.folds:
                raise Hopeless
        rounds = round(float(np.mean([one.rounds for one in found])))
        return Fitted(mean, max(rounds, 1), None)

    def _fit_one(self, params: dict[str, Any], part: Part, report: Report) -> Fitted:
        """Train on one part; its value is that of the best round."""
        ranker = configured(self.ranker, params).set_params(verbose=False)
        sign, best, hopeless = self.measure.sign, -math.inf, False

        def watch(round_: int, value: float) -> bool:
            nonlocal best, hopeless
            best = max(best, sign * value)
            hopeless = report(round_, sign * best)
            return hopeless

        ranker._fit(part.train, part.valid, FitContext(part.shared, part.evaluator, watch))
        if hopeless:
            raise Hopeless
        value = ranker.history_[self.measure.name][ranker.best_iteration_ - 1]
        if math.isnan(value):
            raise checks.InputError(
                f"{self.measure.name} is not a number: no query of the validation data counts."
            )
        return Fitted(value, ranker.best_iteration_, ranker.set_params(verbose=self.ranker.verbose))

    def refit(self, params: dict[str, Any], rounds: int) -> Any:
        """Return a fitted ranker with these parameters: that of the trial, or one of all queries if there are folds."""
        if self.folds is None:
            return self._fit_one(params, self.parts[0], lambda round_, value: False).ranker
        ranker = configured(self.ranker, params)
        return ranker.set_params(n_estimators=rounds, early_stopping_rounds=None).fit(self.train)


def make_task(
    ranker: Any,
    train: RankingData,
    valid: RankingData | None,
    measure: Measure,
    folds: int | None,
    seed: int,
) -> Task:
    """Return what the trials of a study have in common; `seed` is that of the folds."""
    pairs = [(train, valid)] if folds is None else list(train.folds(folds, seed))
    parts = [
        Part(one, other, measure.evaluator(other, ranker.n_jobs), Shared())
        for one, other in pairs
        if other is not None
    ]
    return Task(ranker, train, parts, measure, folds)
