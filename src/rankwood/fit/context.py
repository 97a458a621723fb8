"""What is around a training run: what it shares with others, and the callbacks that follow it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankwood._kernels.compile.timer import (
    CompileTimer,
    compile_note,
    timing_compilation,
)
from rankwood._util import checks, interrupts
from rankwood._util.run_cache import RunCache
from rankwood.fit.files.checkpoint import Checkpoint, CheckpointStore, EarlierRounds
from rankwood.fit.observers.evaluation import Evaluates
from rankwood.fit.result import FitResult, flat_history
from rankwood.fit.run import Observer, TrainingRun


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
        Why training ends after this round: ``"early stopping"``, ``"rounds"``, ``"no splits"``; ``""`` if it continues.
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
            A copy; training continues without it.

        Raises
        ------
        InputError
            If the engine has no model before training ends (CatBoost), or if training has continued: a callback
            calls this before it returns.
        """
        return self._make(self.number)


#: Called after each round; training ends if it returns True.
Callback = Callable[[Round], Any]


@dataclass(frozen=True)
class FitContext:
    """What is around a run: what it shares with others, and who follows it.

    Attributes
    ----------
    shared : RunCache or None
        Binned features, orders of documents and values of labels from earlier runs.
    evaluators : dict
        Evaluators of the validation sets by name, in place of the metrics of the specification.
    callbacks : sequence of callables
        Called after each round with a `Round`; any of them may end training.
    stage : str
        The stage of a `TwoStage` that is trained.
    fold : int or None
        The fold of its first stage, from 1.
    checkpoint : Checkpoint or None
        The file from which a killed run is resumed.
    store : CheckpointStore or None
        Reads and writes the run in place of `checkpoint`, on a worker of a cluster.
    earlier : EarlierRounds or None
        Rounds that are done: those of a model that is trained further.
    fitted : callable or None
        Makes a fitted estimator of a result, for callbacks.
    """

    shared: RunCache | None = None
    evaluators: Mapping[str, Evaluates] = field(default_factory=dict)
    callbacks: Sequence[Callback] = ()
    stage: str = ""
    fold: int | None = None
    checkpoint: Checkpoint | None = None
    store: CheckpointStore | None = None
    earlier: EarlierRounds | None = None
    fitted: Callable[[FitResult], Any] | None = None

    def stage_of(self, stage: str, fold: int | None = None, run: str = "") -> "FitContext":
        """Return the context of a run inside this one; its checkpoint has the run's name behind the file's."""
        file = self.checkpoint
        if file is not None:
            # Whether there must be something to resume is a question about the whole.
            resume = "auto" if file.resume == "must" else file.resume
            file = replace(file, path=f"{os.fspath(file.path)}.{run or stage}", resume=resume)
        return FitContext(callbacks=self.callbacks, stage=stage, fold=fold, checkpoint=file)


class Callbacks(Observer):
    """Calls the callbacks of the user after each round."""

    def __init__(self, context: FitContext) -> None:
        self._context = context

    def after_round(self, run: TrainingRun) -> str:
        """Call every callback; training ends if one returns True."""
        spec, context = run.spec, self._context
        params = {**spec.settings.params, **spec.settings.chosen, spec.rounds_name: spec.rounds}
        done = Round(
            number=run.number,
            rounds=spec.rounds,
            metrics={
                name: {metric: curve[-1] for metric, curve in curves.items()}
                for name, curves in run.history.items()
            },
            history=flat_history(run.history),
            best=run.best,
            seconds=run.elapsed,
            params=params,
            ends=run.ends,
            stage=context.stage,
            fold=context.fold,
            _make=lambda number: self._fitted(run, number),
        )
        start = run.timer.clock()
        try:
            with interrupts.released():
                return "callback" if call_all(context.callbacks, done) else ""
        finally:
            run.seconds["callbacks"] += run.timer.clock() - start

    def _fitted(self, run: TrainingRun, number: int) -> Any:
        """Return an estimator that is fitted with the rounds that are done."""
        if number != run.number:
            raise checks.InputError(
                f"training is at round {run.number}, and this is round {number}: call model() before the callback "
                "returns."
            )
        if not run.learner.has_models_midway:
            raise checks.InputError(
                f"engine={run.spec.settings.learner!r} has no model before training ends: call model() of the other "
                "engines only, or read the model after fit."
            )
        result = run.result(number)
        return result if self._context.fitted is None else self._context.fitted(result)


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


def _name(callback: Any) -> str:
    return getattr(callback, "__name__", type(callback).__name__)


@contextmanager
def watching_compilation(verbose: bool | None) -> Iterator[CompileTimer]:
    """Return a timer that listens to Numba, and say on a terminal that it compiles."""
    with timing_compilation(compile_note(verbose)) as started:
        yield started


def close_callbacks(callbacks: Sequence[Callback]) -> None:
    """Call `close()` of the callbacks that have it: training is over."""
    with ExitStack() as stack:  # each is closed, whatever the others raise
        for callback in reversed(callbacks):
            close = getattr(callback, "close", None)
            if callable(close):
                stack.callback(close)
