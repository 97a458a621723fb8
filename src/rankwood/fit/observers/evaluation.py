"""The evaluation of the validation data after each round."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from rankwood._util import checks
from rankwood.data.source import Source
from rankwood.fit.result import VALID
from rankwood.fit.run import Observer, TrainingRun
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import Evaluator
from rankwood.metrics.evaluation import Evaluation


class Evaluates(Protocol):
    """What evaluates a validation set: an `Evaluator`, or the workers of a cluster together."""

    #: Parts by name.
    metrics: dict[str, Any]

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the values of each query."""


class Evaluations(Observer):
    """Evaluates the validation sets after each round, and adds the means to the history of the run.

    Parameters
    ----------
    metrics : dict
        Parts by name, used by the default rules.
    sets : ValidationSets or None
        The validation data.
    n_jobs : int or None
        Number of threads.
    evaluators : dict
        Evaluators of the sets by name, in place of `metrics`; other sets have `metrics`.
    """

    def __init__(
        self,
        metrics: Mapping[str, Any],
        sets: ValidationSets | None,
        n_jobs: int | None,
        evaluators: Mapping[str, Evaluates],
    ) -> None:
        self._sets = sets
        self._evaluators: dict[str, Evaluates] = {
            name: evaluators.get(name) or _evaluator(metrics, data, n_jobs, name)
            for name, data in (sets.by_name if sets else {}).items()
        }
        deciding = next(iter(self._evaluators.values()), None)
        #: Metrics of the set that decides, by name.
        self.metrics = dict(metrics) if deciding is None else deciding.metrics

    def history(self) -> dict[str, dict[str, list[float]]]:
        """Return the history of a run before its first round: an empty curve per set and metric."""
        return {
            name: {metric: [] for metric in evaluator.metrics}
            for name, evaluator in self._evaluators.items()
        }

    def after_round(self, run: TrainingRun) -> str:
        """Evaluate the round."""
        if self._sets is None:
            return ""
        with run.timed("evaluation"):
            scores = self._sets.scores_by_name(run.learner.valid_scores())
            means = {
                name: evaluate(scores[name]).mean() for name, evaluate in self._evaluators.items()
            }
        for name, values in means.items():
            for metric, mean in values.items():
                run.history[name][metric].append(mean)
        return ""


def _evaluator(
    metrics: Mapping[str, Any], valid: Source, n_jobs: int | None, name: str
) -> Evaluator:
    """Return what evaluates a set of validation data."""
    try:
        return Evaluator(
            dict(metrics), valid.y, valid.groups, n_jobs=n_jobs, unlisted=valid.unlisted
        )
    except checks.InputError as error:
        where = "" if name == VALID else f" {name!r}"
        raise checks.InputError(f"eval_metric on the validation data{where}: {error}") from None
