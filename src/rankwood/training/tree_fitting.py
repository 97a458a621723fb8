"""One fit of a ranker of trees: a run from its first round, or from a checkpoint."""

from typing import Any, NamedTuple

from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.shared import Shared
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData
from rankwood.engines import base
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer
from rankwood.training import model_file, run_file
from rankwood.training.checkpoint import Keeper, locked
from rankwood.training.context import FitContext, watching_compilation
from rankwood.training.fingerprints import full_digest
from rankwood.training.inputs import ValidationSets, validation_sets
from rankwood.training.keeping import TreeFit
from rankwood.training.monitoring import EarlyStopping, Recorder
from rankwood.training.parameters import check_shared, engine_params, rounds_of
from rankwood.training.run import TrainingRun
from rankwood.training.run_file import RunFile
from rankwood.training.streaming import parameters_on, scratch_of
from rankwood.training.warm_start import earlier_rounds, restore_history


def fit_trees(ranker: Any, train: RankingData, valid: Any, context: FitContext) -> None:
    """Train a model, and set the fitted attributes of a ranker; nothing is set before a round is done."""
    sets = validation_sets(valid, train)
    check_shared(ranker)
    given = context.checkpoint
    with scratch_of(train) as folder:
        context = context._replace(scratch=folder)
        if given is None:
            _fit(ranker, train, sets, context)
            return
        check_can_go_on(ranker)
        if ranker.warm_start and hasattr(ranker, "model_"):
            raise checks.InputError(
                "checkpoint can't be combined with warm_start on a fitted ranker, whose trees the file doesn't know: a "
                "checkpoint goes on with more rounds by itself, so leave out one of the two."
            )
        with locked(given.path):
            data = [train, *(sets.by_name.values() if sets else ())]
            file = RunFile(given, ranker, list(map(full_digest, data)))
            _fit(ranker, train, sets, context._replace(keeper=file))


def check_can_go_on(ranker: Any) -> None:
    """Raise if the engine can't go on with a run."""
    if not base.abilities_of(ranker.engine).takes_gradients:
        raise checks.InputError(
            f"engine={ranker.engine!r} keeps no checkpoint: its training can't go on with the same bits. Leave out "
            "checkpoint, or take engine='lightgbm' or 'xgboost'."
        )


class _Start(NamedTuple):
    """Where a run begins: the content of a checkpoint, if there is one, and the state of the engine."""

    content: dict[str, Any] | None
    state: base.RunState | None


def _fit(ranker: Any, train: RankingData, sets: ValidationSets | None, context: FitContext) -> None:
    """Train from the first round, or from that of a checkpoint."""
    rounds = rounds_of(ranker, sets is not None)
    objective = to_objective(ranker.objective)
    base.check(ranker.engine, objective, train.unlisted is not None)
    keeper = context.keeper
    content = None if keeper is None else keeper.read()
    stopping = EarlyStopping(
        ranker.eval_metric, ranker.early_stopping_rounds, sets, ranker.n_jobs, context.evaluators
    )
    if content is not None:
        _check_rounds(content["run"]["rounds"], rounds, keeper)
        _check_sets(content["history"], stopping, keeper)
    if content is not None and _is_finished(content, rounds, stopping):
        take(ranker, content, keeper.path)  # type: ignore[union-attr]
        ranker.resumed_after_ = content["run"]["rounds"]
        return
    start = _start(ranker, train, rounds, content, keeper)
    if content is None and start.state is not None:
        restore_history(ranker, stopping, start.state.rounds)
    parts = _parts(ranker, train, objective, context)
    valid = None if sets is None else sets.joined
    task = base.TrainingTask(
        *(train, parts.groups, valid, objective, rounds, bool(parts.recorder.curves)),
        *(parts.shared, start.state),
        scratch=context.scratch,
        share=context.share,
    )
    engine = _started(ranker, task, keeper is not None, stopping)
    if start.state is not None and start.state.rounds >= rounds:
        return
    takes_gradients = base.abilities_of(ranker.engine).takes_gradients
    with watching_compilation(context, ranker.verbose) as timer:
        run = TrainingRun(engine, parts.computer, stopping, parts.recorder, takes_gradients, timer)
        if content is not None:
            _go_on(run, content)
        elif start.state is not None:
            _go_on_from_model(run, ranker)
        _train(run, TreeFit(run, objective, rounds, train), ranker, context)
    if context.share is None:
        ranker._validated_on = stopping.fingerprints()


def _start(
    ranker: Any,
    train: RankingData,
    rounds: int,
    content: dict[str, Any] | None,
    keeper: Keeper | None,
) -> _Start:
    """Return where a run begins: at a checkpoint, at the trees of a fitted ranker, or at nothing."""
    if content is None or keeper is None:
        return _Start(None, earlier_rounds(ranker, train, rounds))
    return _Start(content, run_file.state_of(content["run"], keeper.path))


class _Parts(NamedTuple):
    """What a run is made of besides its engine."""

    shared: Shared
    groups: Groups
    computer: GradientComputer
    recorder: Recorder


def _parts(ranker: Any, train: RankingData, objective: Any, context: FitContext) -> _Parts:
    """Return the queries in the order of ties, what computes gradients, and what records."""
    shared = context.shared or Shared()
    shared.begin((ranker.shuffle, ranker.random_state, ranker.n_jobs))
    groups = shared.once("groups", None, lambda: ranker._groups(train, context.share))
    computer = shared.once(
        "computer", objective, lambda: ranker._computer(objective, train, groups, context.share)
    )
    computer.restart()
    return _Parts(shared, groups, computer, Recorder(ranker.record, computer, train.y, groups))


def _started(ranker: Any, task: base.TrainingTask, kept: bool, stopping: EarlyStopping) -> Any:
    """Return the engine of a run; raise if it can't do what is wanted."""
    params = engine_params(ranker)
    params |= parameters_on(params, ranker.engine, task.train)
    engine = base.start(ranker.engine, params, task)
    if task.before is not None and task.before.rounds >= task.rounds:
        return engine
    if kept and task.before is None:
        engine.state(
            0
        )  # it raises if this kind of run can't go on: better now than at the first write
    if task.valid is not None and stopping.patience is not None and not engine.keeps_rounds:
        raise checks.InputError(
            "later rounds of this kind of boosting change earlier trees, so the best round can't be "
            "kept; set early_stopping_rounds=None."
        )
    return engine


def _train(run: TrainingRun, fitting: TreeFit, ranker: Any, context: FitContext) -> None:
    """Train, and keep the rounds that are done, even if something ends the run before."""
    fitting.report_to(ranker, context)
    keeper = context.keeper
    writer = _Writer(keeper, fitting, ranker) if keeper is not None and keeper.writes else None
    run.after_round = writer
    try:
        run.train(fitting.rounds, ranker.verbose)
    finally:
        if run.rounds_done > run.resumed_after:
            fitting.keep(ranker, run.rounds_kept)
            if writer is not None:
                writer.write()


def _check_rounds(done: int, rounds: int, file: Any) -> None:
    """Raise if a run has done more rounds than are wanted now."""
    if done > rounds:
        raise checks.InputError(
            f"{file.path} has done {done} rounds, more than n_estimators={rounds}: give another file, or a larger "
            "n_estimators."
        )


def _check_sets(history: dict[str, Any], stopping: EarlyStopping, file: Any) -> None:
    """Raise if a run has other metrics, or other names of validation sets."""
    if set(history) != set(stopping.history):
        known = ", ".join(history) or "no validation data"
        raise checks.InputError(
            f"{file.path} belongs to a run with {known}: give validation sets of the same names, or another file."
        )


def _is_finished(content: dict[str, Any], rounds: int, stopping: EarlyStopping) -> bool:
    """Return whether a run has nothing more to do; `stopping` gets its history."""
    stops = stopping.restore(content["history"])
    run = content["run"]
    # A run that a callback ended goes on: the callback may have been a limit on time.
    return stops or run["ends"] == "no splits" or run["rounds"] >= rounds


def take(ranker: Any, content: dict[str, Any], path: Any) -> None:
    """Set the fitted attributes of a ranker to those of a run that has ended."""
    other = clone(ranker)
    model_file.fill(other, content, path)
    for name, value in vars(other).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(ranker, name, value)


def _go_on(run: TrainingRun, content: dict[str, Any]) -> None:
    """Set what a run knows of its earlier rounds."""
    own = content["run"]
    run.rounds_done = run.resumed_after = own["rounds"]
    run.recorder.curves.update({name: list(curve) for name, curve in own["curves"].items()})
    run.seconds.update(content["seconds"])
    run.compiled_before = run.seconds["compiling"]


def _go_on_from_model(run: TrainingRun, ranker: Any) -> None:
    """Set what a run knows of the rounds of a fitted ranker."""
    run.rounds_done = run.resumed_after = ranker.best_iteration_
    for name, curve in run.recorder.curves.items():
        curve.extend(ranker.record_.get(name, [])[: run.rounds_done])
    run.seconds |= {name: ranker.seconds_.get(name, 0.0) for name in run.seconds}
    run.compiled_before = run.seconds["compiling"]


class _Writer:
    """Writes the file of a run: after some rounds, and at the end."""

    def __init__(self, file: Keeper, fitting: TreeFit, ranker: Any) -> None:
        self._file, self._fitting, self._ranker = file, fitting, ranker
        self._written = fitting.run.rounds_done

    def __call__(self, ends: str) -> None:
        """Write the file if it is due or training ends."""
        if ends or self._file.due(self._fitting.run.rounds_done):
            self.write(ends)

    def write(self, ends: str = "") -> None:
        """Write the file, unless it has all rounds already, or the last round was interrupted in its evaluation."""
        run = self._fitting.run
        evaluated = min([run.rounds_done, *map(len, run.stopping.history.values())])
        if run.rounds_done == self._written or evaluated < run.rounds_done:
            return
        state = run.engine.state(run.rounds_done)
        if state is None:
            return
        other = clone(self._ranker)
        self._fitting.keep(other, run.rounds_kept)
        own = {
            **run_file.content_of_state(state),
            "ends": ends,
            "curves": run.recorder.first_rounds(run.rounds_done),
        }
        self._file.write(model_file.content_of(other), own)
        self._written = run.rounds_done
