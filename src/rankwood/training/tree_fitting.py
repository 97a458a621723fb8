"""One fit of a ranker of trees: a run from its first round, or from a checkpoint."""

from typing import Any

from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.shared import Shared
from rankwood.data.ranking_data import RankingData
from rankwood.engines import base
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.training import model_file, run_file
from rankwood.training.checkpoint import locked
from rankwood.training.context import FitContext, watching_compilation
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
            _fit(ranker, train, sets, context, None)
            return
        _check_can_go_on(ranker)
        with locked(given.path):
            data = [train, *(sets.by_name.values() if sets else ())]
            _fit(ranker, train, sets, context, RunFile(given, ranker, data))


def _check_can_go_on(ranker: Any) -> None:
    """Raise if the engine can't go on with a run."""
    if not base.abilities_of(ranker.engine).takes_gradients:
        raise checks.InputError(
            f"engine={ranker.engine!r} keeps no checkpoint: its training can't go on with the same bits. Leave out "
            "checkpoint, or take engine='lightgbm' or 'xgboost'."
        )


def _fit(
    ranker: Any,
    train: RankingData,
    sets: ValidationSets | None,
    context: FitContext,
    file: RunFile | None,
) -> None:
    """Train from the first round, or from that of a file."""
    valid = None if sets is None else sets.joined
    rounds = rounds_of(ranker, valid is not None)
    objective = to_objective(ranker.objective)
    base.check(ranker.engine, objective, train.unlisted is not None)
    earlier = None if file is None else file.read()
    stopping = EarlyStopping(
        ranker.eval_metric, ranker.early_stopping_rounds, sets, ranker.n_jobs, context.evaluators
    )
    if earlier is not None and _is_finished(earlier, rounds, stopping):
        take(ranker, earlier, file.path)  # type: ignore[union-attr]
        return
    shared = context.shared or Shared()
    shared.begin((ranker.shuffle, ranker.random_state, ranker.n_jobs))
    groups = shared.once("groups", None, lambda: ranker._groups(train, context.share))
    computer = shared.once(
        "computer", objective, lambda: ranker._computer(objective, train, groups, context.share)
    )
    computer.restart()
    recorder = Recorder(ranker.record, computer, train.y, groups)
    if earlier is None:
        before = earlier_rounds(ranker, train, rounds)
        if before is not None:
            restore_history(ranker, stopping, before.rounds)
    else:
        before = run_file.state_of(earlier["run"], file.path)  # type: ignore[union-attr]
    task = base.TrainingTask(
        *(train, groups, valid, objective, rounds, bool(recorder.curves), shared, before),
        scratch=context.scratch,
        share=context.share,
    )
    params = engine_params(ranker)
    params |= parameters_on(params, ranker.engine, train)
    engine = base.start(ranker.engine, params, task)
    if before is not None and before.rounds >= rounds:
        return
    if file is not None and before is None:
        engine.state()  # it raises if this kind of run can't go on: better now than at the first write
    if valid is not None and stopping.patience is not None and not engine.keeps_rounds:
        raise checks.InputError(
            "later rounds of this kind of boosting change earlier trees, so the best round can't be "
            "kept; set early_stopping_rounds=None."
        )
    takes_gradients = base.abilities_of(ranker.engine).takes_gradients
    with watching_compilation(context, ranker.verbose) as timer:
        run = TrainingRun(engine, computer, stopping, recorder, takes_gradients, timer)
        if earlier is not None:
            _go_on(run, earlier)
        elif before is not None:
            _go_on_from_model(run, ranker)
        fitting = TreeFit(run, objective, rounds, train)
        fitting.report_to(ranker, context)
        run.after_round = None if file is None else _Writer(file, fitting, ranker)
        try:
            run.train(rounds, ranker.verbose)
        finally:
            if run.rounds_done:
                fitting.keep(ranker, run.rounds_kept)
                if run.after_round is not None:
                    run.after_round.write()


def _is_finished(content: dict[str, Any], rounds: int, stopping: EarlyStopping) -> bool:
    """Return whether a run has nothing more to do; `stopping` gets its history."""
    stops = stopping.restore(content["history"])
    run = content["run"]
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
    run.rounds_done = own["rounds"]
    run.recorder.curves.update({name: list(curve) for name, curve in own["curves"].items()})
    run.seconds.update(content["seconds"])
    run.compiled_before = run.seconds["compiling"]


def _go_on_from_model(run: TrainingRun, ranker: Any) -> None:
    """Set what a run knows of the rounds of a fitted ranker."""
    run.rounds_done = ranker.best_iteration_
    for name, curve in run.recorder.curves.items():
        curve.extend(ranker.record_.get(name, [])[: run.rounds_done])
    run.seconds |= {name: ranker.seconds_.get(name, 0.0) for name in run.seconds}
    run.compiled_before = run.seconds["compiling"]


class _Writer:
    """Writes the file of a run: after some rounds, and at the end."""

    def __init__(self, file: RunFile, fitting: TreeFit, ranker: Any) -> None:
        self._file, self._fitting, self._ranker = file, fitting, ranker
        self._written = fitting.run.rounds_done

    def __call__(self, ends: str) -> None:
        """Write the file if it is due or training ends."""
        if ends or self._file.due(self._fitting.run.rounds_done):
            self.write(ends)

    def write(self, ends: str = "") -> None:
        """Write the file, unless it has all rounds already."""
        run = self._fitting.run
        if run.rounds_done == self._written:
            return
        other = clone(self._ranker)
        self._fitting.keep(other, run.rounds_kept)
        own = {
            **run_file.content_of_state(run.engine.state()),
            "ends": ends,
            "curves": run.recorder.first_rounds(run.rounds_done),
        }
        self._file.write(model_file.content_of(other), own)
        self._written = run.rounds_done
