"""One trial: train a ranker with some parameters, on fixed validation data or on folds, and return its value."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from rankwood._util import checks
from rankwood._util.run_cache import RunCache
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.estimators.two_stage.estimator import TwoStage
from rankwood.fit.context import FitContext, Round
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import Evaluator
from rankwood.tuning.measure import Measure
from rankwood.tuning.parameters import Tunable, configured
from rankwood.tuning.stages import fit_stages

#: Takes a step and the best value so far; returns True if the trial is to be pruned.
Report = Callable[[int, float], bool]


class TrialResult(NamedTuple):
    """What a trial has found."""

    value: float
    rounds: int
    #: The fitted ranker; None if there are folds, as no model has seen all queries.
    ranker: Tunable | None


class Pruned(Exception):
    """A trial was stopped because others were better at the same step."""


class TrialData(NamedTuple):
    """Training data, validation sets, what evaluates them, and what all trials on them share."""

    train: Source
    valid: ValidationSets
    evaluators: dict[str, Evaluator]
    shared: RunCache


@dataclass(frozen=True)
class Task:
    """What all trials of a study have in common.

    Attributes
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        Has the parameters that are not tuned.
    train : Source
        The whole training data.
    data : list of TrialData
        What trials train and validate on: one pair of data sets, or one for each fold.
    measure : Measure
        The metric.
    folds : int or None
        The number of folds; None means fixed validation data.
    """

    ranker: Tunable
    train: Source
    data: list[TrialData]
    measure: Measure
    folds: int | None

    def run(self, params: dict[str, Any], report: Report) -> TrialResult:
        """Train with some parameters; raise Pruned if `report` returns True, and anything that training raises."""
        if self.folds is None:
            return self._fit_one(params, self.data[0], report)
        found: list[TrialResult] = []
        for step, data in enumerate(self.data, 1):
            found.append(self._fit_one(params, data, _never_prune))
            mean = float(np.mean([one.value for one in found]))
            if report(step, mean) and step < self.folds:
                raise Pruned
        rounds = round(float(np.mean([one.rounds for one in found])))
        return TrialResult(mean, max(rounds, 1), None)

    def _fit_one(self, params: dict[str, Any], data: TrialData, report: Report) -> TrialResult:
        """Train on one pair of data sets; the value is that of the best round, of whole lists if there are stages."""
        ranker = configured(self.ranker, params)
        if isinstance(ranker, TwoStage):
            ranker = fit_stages(ranker, cast("RankingData", data.train), data.valid, data.shared)
            name, part = next(iter(data.valid.by_name.items()))
            data_of = ranker._data(part, None, None)
            scores = ranker._ranked_again(data_of, ranker.cross_scores_[1])
            value = data.evaluators[name](scores).mean()[self.measure.name]
            return self._found(value, getattr(ranker.second_, "best_iteration_", 0), ranker)
        ranker.set_params(verbose=False)
        sign, best, pruned = self.measure.sign, -math.inf, False

        def watch(done: Round) -> bool:
            nonlocal best, pruned
            if done.value is not None and done.ends != "early stopping":
                best = max(best, sign * done.value)
                pruned = report(done.number, sign * best)
            return pruned

        ranker._fit(data.train, data.valid, FitContext(data.shared, data.evaluators, [watch]))
        if pruned:
            raise Pruned
        result = ranker.result_
        value = result.history[result.sets[0]][self.measure.name][result.rounds - 1]
        return self._found(value, result.rounds, ranker.set_params(verbose=self.ranker.verbose))

    def _found(self, value: float, rounds: int, ranker: Tunable) -> TrialResult:
        """Return the result of a trial; raise if it has no value."""
        if math.isnan(value):
            raise checks.InputError(
                f"{self.measure.name} is not a number: no query of the validation data counts."
            )
        return TrialResult(value, rounds, ranker)

    def refit(self, params: dict[str, Any], rounds: int) -> Any:
        """Return a fitted ranker with these parameters: the trial's own; with folds, one trained on all queries."""
        if self.folds is None:
            return self._fit_one(params, self.data[0], _never_prune).ranker
        ranker = configured(self.ranker, params)
        name = "epochs" if isinstance(ranker, NeuralRanker) else "n_estimators"
        return ranker.set_params(**{name: rounds}, early_stopping_rounds=None).fit(self.train)


def _never_prune(step: int, value: float) -> bool:
    return False


def make_task(
    ranker: Tunable,
    train: Source,
    valid: ValidationSets | None,
    measure: Measure,
    folds: int | None,
    seed: int,
) -> Task:
    """Return what the trials of a study have in common; `seed` is that of the folds, `valid` is used without any."""
    pairs = (
        [(train, valid)]
        if folds is None
        else [
            (rest, ValidationSets.single(own))
            for rest, own in cast("RankingData", train).folds(folds, seed)
        ]
    )
    n_jobs = getattr(ranker, "n_jobs", None)
    data = [
        TrialData(one, sets, measure.evaluators(sets, n_jobs), RunCache())
        for one, sets in pairs
        if sets is not None
    ]
    return Task(ranker, train, data, measure, folds)
