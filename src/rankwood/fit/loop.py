"""The only loop over rounds: trees of any engine, epochs of a network, and rounds on a worker of a cluster."""

import math
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.timer import CompileTimer
from rankwood._util import checks, interrupts
from rankwood._util.run_cache import RunCache, temp_folder
from rankwood.data.groups import Groups
from rankwood.data.source import Source
from rankwood.engines.base import Diverged, Gradients, Learner, TrainingTask
from rankwood.engines.sharing import noise_of
from rankwood.fit.context import Callbacks, FitContext, watching_compilation
from rankwood.fit.files.checkpoint import CheckpointStore, EarlierRounds
from rankwood.fit.files.model_file import LoadModel
from rankwood.fit.files.run_file import CheckpointWriter, earlier_rounds, opened_store
from rankwood.fit.observers.evaluation import Evaluations
from rankwood.fit.observers.progress import progress_bar
from rankwood.fit.observers.recording import Recorder
from rankwood.fit.observers.stopping import EarlyStopping, RoundLimit
from rankwood.fit.run import Keep, Observer, Stopwatch, TrainingRun
from rankwood.fit.spec import FitSpec
from rankwood.fit.validation import ValidationSets
from rankwood.objectives.gradients import GradientComputer


class FitData(NamedTuple):
    """The training data, and the validation data if there is any."""

    train: Source
    valid: ValidationSets | None = None

    @property
    def sources(self) -> list[Source]:
        """The training data and all validation sets."""
        return [self.train, *(self.valid.by_name.values() if self.valid else ())]


@interrupts.held()
def fit(
    spec: FitSpec, data: FitData, context: FitContext, load_model: LoadModel, keep: Keep
) -> None:
    """Train a model. Signals such as Ctrl-C are handled between two rounds.

    Parameters
    ----------
    spec : FitSpec
        What to train.
    data : FitData
        The training data and the validation data.
    context : FitContext
        What is around the run: callbacks, a checkpoint, what it shares with other runs.
    load_model : callable
        Reads the model of a checkpoint.
    keep : callable
        Gets the result, also that of a run which an error or an interrupt ended after a complete round.
    """
    with ExitStack() as stack:
        timer = stack.enter_context(watching_compilation(spec.verbose))
        file = stack.enter_context(opened_store(context.checkpoint, spec, lambda: data.sources))
        store = context.store or file
        earlier = context.earlier
        if store is not None:
            earlier = earlier_rounds(store, load_model, spec)
        evaluations = Evaluations(spec.metrics, data.valid, spec.n_jobs, context.evaluators)
        stopping = EarlyStopping(evaluations.metrics, spec.patience)
        if earlier is not None:
            earlier.check_history(evaluations.history())
        finished = store is not None and _is_finished(earlier, spec, stopping)
        if earlier is not None and finished and stopping.keeps(earlier.result):
            done = earlier.state.rounds
            keep(replace(earlier.result, settings=spec.settings, resumed_after=done))
            return
        task = _task(spec, data, context, earlier, stack)
        computer = _computer(spec, task) if spec.computes_gradients else None
        recorder = Recorder(spec.record, computer, data.train.y, task.groups)
        learner = spec.start(spec.params, task._replace(recorded=recorder.needs_gradients))
        _check_learner(learner, spec, data, store, earlier)
        run = _run(spec, data, learner, timer, evaluations, recorder)
        if earlier is not None:
            _resume(run, earlier, stopping)
            run.ends = (earlier.ends or "rounds") if finished else ""
        observers: list[Observer] = [evaluations, stopping, RoundLimit(), recorder, Stopwatch()]
        observers.append(stack.enter_context(progress_bar(run)))
        if context.callbacks:
            run.seconds.setdefault("callbacks", 0.0)
            observers.append(Callbacks(context))
        if store is not None and store.writes:
            observers.append(CheckpointWriter(store, run.number))
        _train(run, observers, _gradients(run, computer, recorder), keep)


def _train(
    run: TrainingRun, observers: Sequence[Observer], gradients: Gradients, keep: Keep
) -> None:
    """Train the rounds until an observer ends the run; keep the complete rounds whatever ends it."""
    try:
        while not run.ends and run.number < run.spec.rounds:
            interrupts.deliver()
            run.step(gradients)
            for observer in observers:  # all see every round; the first reason to end counts
                reason = observer.after_round(run)
                run.ends = run.ends or reason
    except Diverged as error:
        _end_diverged(run, error)
    finally:
        # A run that diverges right after it is resumed ends with the model that it was resumed from.
        if run.rounds_complete > run.resumed_after or run.ends:
            keep(run.result())
            for observer in observers:
                observer.close(run)


def _end_diverged(run: TrainingRun, error: Diverged) -> None:
    """End a run with the rounds before the one that diverged; raise if there are none."""
    if run.number == 0:
        raise checks.InputError(f"{error}; {error.advice}") from None
    run.ends = "diverged"
    unit = "epoch" if run.spec.rounds_name == "epochs" else "round"
    warnings.warn(
        f"{error}. Training has stopped, and {unit} {run.kept} is kept; {error.advice}",
        RuntimeWarning,
        stacklevel=2,
    )


def _is_finished(earlier: EarlierRounds | None, spec: FitSpec, stopping: EarlyStopping) -> bool:
    """Return whether a checkpoint has nothing more to train."""
    if earlier is None:
        return False
    # A run that a callback ended is resumed: the callback may have been a limit on time. Early stopping is judged anew,
    # as its patience may be larger now.
    ended = earlier.ends in ("no splits", "diverged") or earlier.state.rounds >= spec.rounds
    return ended or stopping.would_have_stopped(earlier.result.history)


def _task(
    spec: FitSpec,
    data: FitData,
    context: FitContext,
    earlier: EarlierRounds | None,
    stack: ExitStack,
) -> TrainingTask:
    """Return what the learner is to learn."""
    shared = context.shared or RunCache()
    shared.begin((spec.shuffle, spec.seed, spec.n_jobs))
    return TrainingTask(
        train=data.train,
        groups=shared.once("groups", None, lambda: _groups(spec, data.train)),
        valid=None if data.valid is None else data.valid.joined,
        objective=spec.objective,
        rounds=spec.rounds,
        shared=shared,
        before=None if earlier is None else earlier.state,
        folder=stack.enter_context(temp_folder()),
        member=data.train.place,
    )


def _groups(spec: FitSpec, train: Source) -> Groups:
    """Return the queries, with documents in the order in which ties are ranked."""
    if not spec.shuffle:
        return train.groups
    return train.groups.shuffled(spec.seed, noise_of(train.place, spec.seed))


def _computer(spec: FitSpec, task: TrainingTask) -> GradientComputer:
    """Return what computes the gradients of a round."""
    train = task.train

    def make() -> GradientComputer:
        return GradientComputer(
            spec.objective,
            train.y,
            task.groups,
            train.weight,
            dtype=np.float32,
            n_jobs=spec.n_jobs,
            seed=spec.seed,
            unlisted=train.unlisted,
            sample_weight=train.sample_weight,
            pairs=train.pairs,
            query_numbers=None if train.place is None else train.place.queries,
        )

    computer = task.once("computer", spec.objective, make)
    computer.restart()
    return computer


def _check_learner(
    learner: Learner,
    spec: FitSpec,
    data: FitData,
    store: CheckpointStore | None,
    earlier: EarlierRounds | None,
) -> None:
    """Raise if the learner can't do what the run needs: better now than after its first round."""
    if store is not None and earlier is None:
        learner.state(0)
    if data.valid is not None and spec.patience is not None and not learner.keeps_rounds:
        raise checks.InputError(
            "later rounds of this kind of boosting change earlier trees, so the best round can't be "
            "kept; set early_stopping_rounds=None."
        )


def _run(
    spec: FitSpec,
    data: FitData,
    learner: Learner,
    timer: CompileTimer,
    evaluations: Evaluations,
    recorder: Recorder,
) -> TrainingRun:
    """Return a run before its first round."""
    seconds = {"compiling": 0.0, **learner.setup_seconds, "evaluation": 0.0}
    if recorder.curves:
        seconds["diagnostics"] = 0.0
    # On a cluster each worker has a part of the sets only.
    whole = data.valid is not None and data.train.place is None
    digests = data.valid.fingerprints() if whole and data.valid else None
    run = TrainingRun(
        spec, data.train, learner, timer, evaluations.history(), seconds, recorder.curves
    )
    run.validated_on = digests if digests is not None else ([] if data.valid is None else None)
    return run


def _resume(run: TrainingRun, earlier: EarlierRounds, stopping: EarlyStopping) -> None:
    """Set what a run knows of the rounds that are done."""
    result = earlier.result
    run.number = run.resumed_after = earlier.state.rounds
    for name, metrics in run.history.items():
        for metric, curve in metrics.items():
            curve.extend(result.history[name][metric][: run.number])
    for name, curve in run.curves.items():
        before = result.curves.get(name, ())[: run.number]
        curve.extend([*before, *[math.nan] * (run.number - len(before))])
    for step, spent in result.seconds.items():
        run.seconds[step] = run.seconds.get(step, 0.0) + spent
    run.compiled_before = run.seconds["compiling"]
    stopping.restore(run)


def _gradients(
    run: TrainingRun, computer: GradientComputer | None, recorder: Recorder
) -> Gradients:
    """Return what computes the gradients of a round for the learner, and records what they are made of."""

    def gradients(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert computer is not None  # a learner that computes its own doesn't call this
        with run.timed("gradients" if run.learner.uses_gradients else "diagnostics"):
            grad, hess = computer(scores, run.number)
        with run.timed("diagnostics"):
            recorder.gradients(scores, grad, run.number)
        return grad, hess

    return gradients
