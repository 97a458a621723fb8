"""What a training run knows besides parameters and data: what it shares with others, and who watches it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.compiling import COMPILING, CompileTimer, compile_note, timing_compilation
from rankwood._core.progress import Advance
from rankwood._core.scratch import Scratch
from rankwood._core.shared import Shared
from rankwood.engines.sharing import Share
from rankwood.training.checkpoint import Checkpoint, Keeper
from rankwood.training.monitoring import Evaluates


@dataclass(frozen=True)
class Round:
    """A round of training (an epoch, for a network) that is complete, as callbacks see it.

    Attributes
    ----------
    number : int
        Number of the round, from 1.
    rounds : int
        The largest number of rounds.
    metrics : dict
        Values of this round by validation set and metric: ``{"valid": {"ndcg@10": 0.7}}``; empty without validation
        data.
    history : dict
        Values of all rounds so far, as in ``history_``.
    best : int or None
        The round with the best first metric so far; None if no metric decides which rounds are kept.
    seconds : float
        Time since the first round began.
    params : dict
        Parameters of the ranker, with the values of those that it left open.
    ends : str
        Why training ends after this round: ``"early stopping"``, ``"rounds"``, ``"no splits"``; ``""`` if it goes on.
    stage : str
        ``"first"`` or ``"second"`` in `TwoStage`, else ``""``.
    fold : int or None
        The fold, from 1, in the first stage of `TwoStage`.

    Examples
    --------
    >>> import rankwood as rw
    >>> seen = []
    >>> data = rw.make_ranking(20)
    >>> ranker = rw.Ranker("softmax", n_estimators=2, n_jobs=1).fit(data, valid=data, callbacks=[seen.append])
    >>> [(done.number, done.rounds, done.ends) for done in seen]
    [(1, 2, ''), (2, 2, 'rounds')]
    """

    number: int
    rounds: int
    metrics: dict[str, dict[str, float]]
    history: dict[str, list[float]]
    best: int | None
    seconds: float
    params: dict[str, Any]
    ends: str = ""
    stage: str = ""
    fold: int | None = None
    _make: Callable[[int], Any] = field(default=lambda number: None, repr=False, compare=False)

    @property
    def value(self) -> float | None:
        """The metric that decides: the first one, on the first validation set; None without validation data."""
        return next((v for values in self.metrics.values() for v in values.values()), None)

    def model(self) -> Any:
        """Return the model of the rounds so far: a fitted ranker that predicts and can be saved.

        Returns
        -------
        Ranker or NeuralRanker
            A copy; training goes on without it.

        Raises
        ------
        InputError
            If the engine has no model before training ends (CatBoost), or if training has gone on: a callback calls
            this before it returns.
        """
        return self._make(self.number)


#: Called after each round; training ends if it returns True.
Callback = Callable[[Round], Any]


class FitContext(NamedTuple):
    """What runs on the same data share, and what is called after each round.

    Attributes
    ----------
    shared : Shared or None
        Binned features, orders of documents and values of labels from earlier runs.
    evaluators : dict
        Evaluate the validation sets of these names; others have the metrics of the ranker by the default rules.
    callbacks : sequence of callables
        Called after each round with a `Round`; any of them may end training.
    stage : str
        The stage of a `TwoStage` that is trained.
    fold : int or None
        The fold of its first stage, from 1.
    timer : CompileTimer or None
        Knows how long compilation has taken.
    checkpoint : Checkpoint or None
        The file from which a killed run goes on.
    scratch : Scratch or None
        A folder for files of the engine, if the training data is a stream.
    share : Share or None
        What other processes of a cluster have, if this is one of several.
    keeper : Keeper or None
        Reads and writes the run of such a process, in place of `checkpoint`.
    """

    shared: Shared | None = None
    evaluators: Mapping[str, Evaluates] = MappingProxyType({})
    callbacks: Sequence[Callback] = ()
    stage: str = ""
    fold: int | None = None
    timer: CompileTimer | None = None
    checkpoint: Checkpoint | None = None
    scratch: Scratch | None = None
    share: Share | None = None
    keeper: Keeper | None = None

    def stage_of(self, stage: str, fold: int | None = None, run: str = "") -> "FitContext":
        """Return the context of a run inside this one; its checkpoint has the run's name behind the file's."""
        own = self.checkpoint
        if own is not None:
            own = replace(own, path=f"{os.fspath(own.path)}.{run or stage}")
        return FitContext(callbacks=self.callbacks, stage=stage, fold=fold, checkpoint=own)


class Reporter(NamedTuple):
    """Calls the callbacks of a run after each round."""

    context: FitContext
    params: dict[str, Any]
    rounds: int
    #: Returns the model of the rounds so far, given their number.
    make: Callable[[int], Any]

    def __call__(self, stopping: Any, number: int, seconds: float, ends: str) -> bool:
        """Call every callback; return whether training ends, because of `ends` or because one returned True."""
        done = Round(
            number=number,
            rounds=self.rounds,
            metrics=stopping.latest_by_set(),
            history={name: list(curve) for name, curve in stopping.history.items()},
            best=stopping.best_round,
            seconds=seconds,
            params=self.params,
            ends=ends,
            stage=self.context.stage,
            fold=self.context.fold,
            _make=self.make,
        )
        return call_all(self.context.callbacks, done)


def call_all(callbacks: Sequence[Callback], done: Round) -> bool:
    """Call every callback with a round; return whether training ends, by itself or because one returned True."""
    # Every callback sees every round, whatever the others return.
    stop = [_is_true(callback(done), callback) for callback in callbacks]
    return bool(done.ends) or any(stop)


def _is_true(answer: Any, callback: Any) -> bool:
    """Return whether a callback ends training; numbers and arrays are more likely a mistake than a decision."""
    if answer is None or isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    raise checks.InputError(
        f"a callback returns True to end training, or nothing; {_name(callback)} returned {answer!r}."
    )


def check_round_is_last(number: int, done: int) -> None:
    """Raise if a model is wanted of a round that isn't the last any more."""
    if number != done:
        raise checks.InputError(
            f"training is at round {done}, and this is round {number}: call model() before the callback returns."
        )


def _name(callback: Any) -> str:
    return getattr(callback, "__name__", type(callback).__name__)


@contextmanager
def watching_compilation(context: FitContext, verbose: bool | None) -> Iterator[CompileTimer]:
    """Return the timer of a context; without one, listen to Numba, and say on a terminal that it compiles."""
    if context.timer is not None:
        yield context.timer
        return
    with timing_compilation(compile_note(verbose)) as timer:
        yield timer


@contextmanager
def noting_compilation(timer: CompileTimer, advance: Advance) -> Iterator[None]:
    """Let a progress bar say when Numba compiles."""
    before, timer.on_compile = timer.on_compile, lambda: advance(COMPILING, 0)
    try:
        yield
    finally:
        timer.on_compile = before


def close_callbacks(callbacks: Sequence[Callback]) -> None:
    """Call `close()` of the callbacks that have it: training is over."""
    for callback in callbacks:
        close = getattr(callback, "close", None)
        if callable(close):
            close()
