"""A training run: what it knows after each round, and what observers see of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from rankwood._kernels.compile.timer import CompileTimer
from rankwood.data.source import Source
from rankwood.engines.base import Gradients, Learner
from rankwood.fit.origin import origin_of
from rankwood.fit.result import DataSize, FitResult, Origin
from rankwood.fit.spec import FitSpec


class Observer(ABC):
    """Sees a run after each round, and may end it: evaluation, early stopping, progress, callbacks, checkpoints."""

    @abstractmethod
    def after_round(self, run: "TrainingRun") -> str:
        """Look at a run after a round; return why training ends, "" if this is no reason to end it."""

    def close(self, run: "TrainingRun") -> None:  # noqa: B027
        """Look at a run that has ended, also by an error or an interrupt; most observers have seen all by then."""


@dataclass
class TrainingRun:
    """A training run.

    Attributes
    ----------
    spec : FitSpec
        What is trained.
    train : Source
        The training data.
    learner : Learner
        Trains the rounds.
    timer : CompileTimer
        A clock that stands still while kernels are compiled.
    history : dict
        Means of the metrics by validation set, metric and round.
    number : int
        The rounds that are done.
    resumed_after : int
        Rounds of an earlier run, which this one resumes; 0 if it starts anew.
    best : int or None
        The round with the best first metric; None if no metric decides which rounds are kept.
    has_more : bool
        False once the learner has nothing left to learn.
    ends : str
        Why training ends: "early stopping", "no splits", "rounds", "callback", "diverged"; "" before that.
    note : str
        The last value of the metric that decides and the best one, as a progress bar shows them.
    seconds, spent : dict
        Time spent by step: on all complete rounds, and on the last one.
    curves : dict
        What is recorded, by name and round.
    validated_on : list of str or None
        Digests of the validation sets.
    """

    spec: FitSpec
    train: Source
    learner: Learner
    timer: CompileTimer
    history: dict[str, dict[str, list[float]]]
    seconds: dict[str, float]
    curves: dict[str, list[float]] = field(default_factory=dict)
    number: int = 0
    resumed_after: int = 0
    best: int | None = None
    has_more: bool = True
    ends: str = ""
    note: str = ""
    spent: dict[str, float] = field(default_factory=dict)
    compiled_before: float = 0.0
    validated_on: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self._begin = self.timer.clock()

    def step(self, gradients: Gradients) -> None:
        """Train a round."""
        self.spent = {}
        start = self.timer.clock()
        self.has_more = self.learner.step(gradients)
        inside = sum(self.spent.values())  # gradients, and what is recorded of them
        self.spent[self.learner.step_name] = self.timer.clock() - start - inside
        self.number += 1

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time of a block to that of a step of this round."""
        start = self.timer.clock()
        try:
            yield
        finally:
            self.spent[step] = self.spent.get(step, 0.0) + self.timer.clock() - start

    @property
    def elapsed(self) -> float:
        """Seconds since the first round began."""
        return self.timer.clock() - self._begin

    @property
    def rounds_complete(self) -> int:
        """The rounds that are trained and evaluated: an interrupt may come between the two."""
        curves = [curve for metrics in self.history.values() for curve in metrics.values()]
        return min([self.number, *map(len, curves)])

    @property
    def kept(self) -> int:
        """The rounds of the model: up to the best one, or all if no metric decides."""
        if not self.learner.keeps_rounds:
            return self.number  # evaluated or not: no earlier round can be restored
        return self.rounds_complete if self.best is None else self.best

    @cached_property
    def _origin(self) -> Origin:
        return origin_of(self.spec.settings.learner, self.train)

    def result(self, rounds: int | None = None) -> FitResult:
        """Return the result of the rounds so far, with the model of the kept ones or of the first `rounds`."""
        kept = self.kept if rounds is None else rounds
        model = self.learner.model(kept)  # it may fail, so it comes first
        complete = self.rounds_complete
        length = min([complete, *map(len, self.curves.values())])
        return FitResult(
            settings=self.spec.settings,
            model=model,
            schema=self.train.schema,
            rounds=kept,
            history={
                name: {metric: curve[:complete] for metric, curve in metrics.items()}
                for name, metrics in self.history.items()
            },
            seconds=dict(self.seconds),
            curves={name: curve[:length] for name, curve in self.curves.items()},
            ends=self.ends,
            data_size=DataSize(int(self.train.groups.ids.size), len(self.train)),
            origin=self._origin,
            resumed_after=self.resumed_after,
            validated_on=self.validated_on,
        )


class Stopwatch(Observer):
    """Adds up the time of complete rounds."""

    def after_round(self, run: TrainingRun) -> str:
        """Add the time of the round."""
        run.seconds["compiling"] = run.compiled_before + run.timer.seconds
        for step in run.seconds:
            run.seconds[step] += run.spent.get(step, 0.0)
        return ""


#: Gets the result of a run, also of one that an error or an interrupt has ended.
Keep = Callable[[FitResult], None]
