"""Following validation metrics, and when to stop."""

from typing import Any

from rankwood import _check
from rankwood.data.lists import RankingData
from rankwood.engines import base
from rankwood.metrics.evaluate import Evaluator, named_metrics


class Watch:
    """Follow the validation metrics, round by round."""

    def __init__(
        self, eval_metric: Any, patience: int | None, valid: RankingData | None, n_jobs: int | None
    ) -> None:
        metrics = named_metrics(eval_metric)
        self.history: dict[str, list[float]] = {name: [] for name in metrics} if valid else {}
        self.first = next(iter(metrics))
        self._sign = 1 if getattr(metrics[self.first], "higher_is_better", True) else -1
        self.patience = patience
        self.best = 0  # 0: keep every round
        self.note = ""
        self._evaluator: Evaluator | None = None
        if valid is not None:
            try:
                self._evaluator = Evaluator(metrics, valid.y, valid.groups, n_jobs=n_jobs)
            except _check.InputError as error:
                raise _check.InputError(f"eval_metric on the validation data: {error}") from None

    def look(self, engine: base.Engine, done: int) -> bool:
        """Evaluate a round; True if it is time to stop."""
        if self._evaluator is None:
            return False
        means = self._evaluator(engine.valid_scores()).mean()
        for name, mean in means.items():
            self.history[name].append(mean)
        curve = self.history[self.first]
        self.note = f"{self.first} {curve[-1]:.4f}"
        if self.patience is None:
            return False
        if self.best == 0 or self._sign * (curve[-1] - curve[self.best - 1]) > 0:
            self.best = done
        self.note += f" (best {curve[self.best - 1]:.4f} at {self.best})"
        return done - self.best >= self.patience
