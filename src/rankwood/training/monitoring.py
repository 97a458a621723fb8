"""Following a training run: validation metrics and when to stop, and what is recorded on request."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.diagnostics import cutoff
from rankwood.engines import base
from rankwood.metrics.evaluate import Evaluator, named_metrics
from rankwood.objectives.bivariate import PairGradientComputer
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.inspection import Coherency, Used
from rankwood.objectives.lifted import Bivariate
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.units import read_labels as read

#: What `Ranker(record=...)` takes, and the curves it makes of it.
RECORDS = {
    "effective_pairs": ("effective_pairs",),
    "coherency": ("incoherent", "false_over_missed"),
    "seconds": ("seconds_gradients", "seconds_trees", "seconds_evaluation"),
}
_ROUNDING = 1e-5  # of float32 sums, relative to the largest push of a query


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
                self._evaluator = Evaluator(
                    metrics, valid.y, valid.groups, n_jobs=n_jobs, beyond=valid.beyond
                )
            except checks.InputError as error:
                raise checks.InputError(f"eval_metric on the validation data: {error}") from None

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


def named_records(record: Any) -> list[str]:
    """Return what to record, each once, in the order of `RECORDS`."""
    given = [] if record is None else [record] if isinstance(record, str) else record
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise checks.InputError(
            f"record must be a list of {', '.join(map(repr, RECORDS))}, got {record!r}."
        )
    for name in given:
        if name not in RECORDS:
            raise checks.InputError(f"unknown record {name!r}{checks.nearest(str(name), RECORDS)}")
    return [name for name in RECORDS if name in given]


def records_of(objective: Any) -> list[str]:
    """Return what can be recorded of an objective: pairs it uses if it has any, coherency if it pushes documents."""
    lifted = isinstance(objective, Bivariate)
    paired = isinstance(objective.base if lifted else objective, Lambda)
    has = {"effective_pairs": paired, "coherency": not lifted}
    return [name for name in RECORDS if has.get(name, True)]


class Recorder:
    """Record what the objective does, round by round, without touching it.

    `curves` has one value per round, by name; see `Ranker`. Everything is exact: no round and no query is left
    out.
    """

    def __init__(self, record: Any, drive: GradientComputer, y: np.ndarray, groups: Groups) -> None:
        names, objective, n_jobs = named_records(record), drive.objective, drive.n_jobs
        self.curves: dict[str, list[float]] = {c: [] for name in names for c in RECORDS[name]}
        self._used: Used | None = None
        self._coherency: Coherency | None = None
        if "effective_pairs" in names:
            options = {"real": drive.real, "n_jobs": n_jobs, "seed": drive.seed}
            self._used = Used(objective, y, groups, beyond=drive.beyond, **options)
            self._used.follow(drive)
        if "coherency" in names and isinstance(drive, PairGradientComputer):
            raise checks.InputError(
                "record: 'coherency' is of documents, and this objective pushes pairs."
            )
        if "coherency" in names:
            k, label = cutoff(objective), read(objective, y)
            self._coherency = Coherency(label, groups, k, tolerance=_ROUNDING, n_jobs=n_jobs)
            self._coherency.follow(drive)
            if k is None:  # nothing is false or missed
                del self.curves["false_over_missed"]

    def look(self, scores: np.ndarray, grad: np.ndarray, round: int) -> None:
        """Record what a round's gradients are made of."""
        if self._used is not None:
            self.curves["effective_pairs"].append(self._used.share(scores, round))
        if self._coherency is not None:
            shares = self._coherency(scores, grad).mean(axis=0).tolist()
            for name, share in zip(RECORDS["coherency"], shares, strict=True):
                if name in self.curves:
                    self.curves[name].append(share)

    def spend(self, seconds: dict[str, float]) -> None:
        """Record how long the parts of a round took."""
        for name in RECORDS["seconds"]:
            if name in self.curves:
                self.curves[name].append(seconds[name.removeprefix("seconds_")])

    def up_to(self, rounds: int) -> dict[str, list[float]]:
        """Return the curves of the first rounds, all of one length: an interrupt may come in the middle of one."""
        length = min([rounds, *map(len, self.curves.values())])
        return {name: curve[:length] for name, curve in self.curves.items()}
