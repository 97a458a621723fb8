"""What ends training: early stopping by the validation data, nothing left to learn, and the number of rounds."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankwood.fit.result import FitResult, History
from rankwood.fit.run import Observer, TrainingRun
from rankwood.metrics.verbs import higher_is_better


class EarlyStopping(Observer):
    """Stops training when the first metric of the first validation set has not improved for some rounds.

    Parameters
    ----------
    metrics : dict
        The metrics of the first set; the first one decides when training stops and which round is kept.
    patience : int or None
        Rounds without an improvement after which training stops; None keeps all rounds.
    """

    def __init__(self, metrics: Mapping[str, Any], patience: int | None) -> None:
        self._metric = next(iter(metrics))
        self._sign = 1 if higher_is_better(metrics[self._metric]) else -1
        self.patience = patience

    def after_round(self, run: TrainingRun) -> str:
        """Compare the round with the best one."""
        if not run.history:
            return ""
        curve = self._curve(run.history)
        run.best, stops = self._compare(curve, run.best, run.number)
        run.note = self._note(curve, run.best)
        if run.best == run.number:
            run.learner.remember(run.number)
        return "early stopping" if stops else ""

    def would_have_stopped(self, history: History) -> bool:
        """Return whether training should have stopped during the rounds of a history."""
        return any(stops for _, stops in self._replay(self._curve(history)))

    def restore(self, run: TrainingRun) -> None:
        """Find the best of the rounds of an earlier run."""
        curve = self._curve(run.history)
        for best, _ in self._replay(curve):
            run.best = best
        if run.best is not None:
            run.learner.remember(run.best)
        if curve:
            run.note = self._note(curve, run.best)

    def _replay(self, curve: Sequence[float]) -> Iterator[tuple[int | None, bool]]:
        """Yield what `_compare` returns after each round of a curve."""
        best = None
        for number in range(1, len(curve) + 1):
            best, stops = self._compare(curve, best, number)
            yield best, stops

    def _curve(self, history: History) -> Sequence[float]:
        """Return the values of the metric that decides; none without validation data."""
        return next((metrics[self._metric] for metrics in history.values()), ())

    def _compare(
        self, curve: Sequence[float], best: int | None, number: int
    ) -> tuple[int | None, bool]:
        """Return the best round up to this one, and whether training should stop after it."""
        if self.patience is None:
            return None, False
        if best is None or self._is_better(curve[number - 1], curve[best - 1]):
            best = number
        return best, number - best >= self.patience

    def _is_better(self, value: float, best: float) -> bool:
        """Return whether a value is an improvement: a NaN never is, and any number improves on it."""
        return self._sign * (value - best) > 0 or (math.isnan(best) and not math.isnan(value))

    def keeps(self, result: FitResult) -> bool:
        """Return whether a finished run would keep the rounds that a result has: all of them without patience."""
        return self.patience is not None or result.rounds == result.trained

    def _note(self, curve: Sequence[float], best: int | None) -> str:
        note = f"{self._metric} {curve[-1]:.4f}"
        return note if best is None else f"{note} (best {curve[best - 1]:.4f} at {best})"


class RoundLimit(Observer):
    """Ends training after the last round, or when there is nothing left to learn."""

    def after_round(self, run: TrainingRun) -> str:
        """Return why this was the last round."""
        if not run.has_more:
            return "no splits"
        return "rounds" if run.number == run.spec.rounds else ""
