"""The function `tune`."""

import math
import os
from typing import Any, cast

from sklearn.base import clone

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.engines import base
from rankwood.estimators.neural_ranker import NeuralRanker
from rankwood.estimators.parameters import rounds_of
from rankwood.estimators.ranker import Ranker
from rankwood.estimators.sources import ReadingOptions, local_data
from rankwood.estimators.two_stage.checks import check_two_stage
from rankwood.estimators.two_stage.estimator import TwoStage
from rankwood.fit.arguments import FitArguments
from rankwood.fit.data_warnings import warn_about_data
from rankwood.fit.validation import ValidationSets, validation_sets
from rankwood.tuning import pruners, store, tuners
from rankwood.tuning.identity import identify
from rankwood.tuning.loop import Loop, StudyLimits
from rankwood.tuning.measure import make_measure
from rankwood.tuning.parameters import (
    Tunable,
    check_names,
    configured,
    own_values,
    stage_of,
)
from rankwood.tuning.result import Tuning
from rankwood.tuning.spaces.dimensions import as_stored, stored
from rankwood.tuning.spaces.named_spaces import resolve
from rankwood.tuning.spaces.space import Space
from rankwood.tuning.trials import make_task


def tune(
    ranker: Tunable,
    train: Any,
    valid: Any = None,
    *,
    y: Any = None,
    qid: Any = None,
    group: Any = None,
    weight: Any = None,
    sample_weight: Any = None,
    space: Space | dict[str, Any] | str | None = None,
    tuner: str = "tpe",
    start: str | None = "own",
    trials: int = 40,
    seconds: float | None = None,
    seed: int = 0,
    storage: str | os.PathLike[str] | None = None,
    metric: Any = None,
    convention: str | None = None,
    ties: str | None = None,
    empty: Any = None,
    folds: int | None = None,
    pruner: Any = "median",
    verbose: bool | None = None,
) -> Tuning:
    """Search for the parameters with which a ranker has the best validation metric.

    Trial 0 has the ranker's own parameters, moved into the space; the optimiser proposes those of the other trials.
    Trials share the binned data, and the first stage of a `TwoStage` if it isn't tuned. The same arguments give the
    same trials, even if a study is killed and resumed from its `storage`.

    Parameters
    ----------
    ranker : Ranker, NeuralRanker or TwoStage
        Has the objective, the engine and all parameters that are not tuned; it isn't changed.
    train : RankingData, StreamedData, matrix or table
        The training data; files suffice for a Ranker without `folds`.
    valid : RankingData, (X, y, qid), table, or dict of them, optional
        The validation data, as in `Ranker.fit`: it decides how many trees a model has, and which trial is the best.
        Several sets have names: all are evaluated, and the first one decides.
    y, qid, group, weight, sample_weight : arrays or str, optional
        Labels, queries and weights of a matrix or a table, as in `Ranker.fit`: arrays, or names of columns.
    space : Space, dict, str or None
        What to tune. A string is the name of a space (`rankwood.spaces.names()`); None means
        `rankwood.spaces.default`, by engine or architecture. Parameters of stages have ``"first__"`` or ``"second__"``
        before their names; a named or default space of a `TwoStage` is that of its second stage.
    tuner : {"tpe", "random", "random+gp", "cfo"}
        The optimiser: Optuna's tree-structured Parzen estimator; random search; random search in the first 20% of
        trials and a Gaussian process afterwards; or FLAML's cost-frugal local search, which starts from the ranker's
        own parameters.
    start : {"own", None}
        Whether trial 0 has the ranker's own parameters; with None the optimiser proposes those of all trials.
    trials : int
        Number of trials, those in `storage` included.
    seconds : float or None
        Time limit: no trial begins after the finished trials have taken this many seconds in total.
    seed : int
        Seed of the optimiser and of the folds. Trees have the seed of the ranker, the same in all trials.
    storage : path or None
        An SQLite file that gets each trial when it is finished. If it exists, the study in it is resumed.
    metric : str, part, or list of them
        The metric to tune, which also decides the number of trees; if there are several, the first. By default the
        ranker's `eval_metric`. That of a `TwoStage` is computed from whole lists, which both stages rank.
    convention, ties, empty : str, optional
        Rules of the metric, as in `rankwood.evaluate`.
    folds : int or None
        Cross-validate by query with this many folds, in place of `valid`. The value of a trial is the mean over folds;
        the best ranker is then trained on all queries, with as many trees as the folds have on average. A `TwoStage`
        needs `valid`.
    pruner : {"median", "hyperband", None} or Optuna pruner
        Stops poor trials early: by default those that are worse than the median of earlier trials at the same round.
        None lets all trials finish. Those of a `TwoStage` always do.
    verbose : bool or None
        Show a progress bar; None means on a terminal.

    Returns
    -------
    Tuning
        The fitted best ranker, the table of trials, and pictures.

    Raises
    ------
    InputError
        If an argument can't be used, if `storage` has a study of something else, or if all trials failed. A single
        trial that fails is recorded with its message, and the study continues.
    TuningInterrupt
        A `KeyboardInterrupt` whose attribute `tuning` has the trials finished so far.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.spaces import Integer, Space
    >>> train, valid = rw.load_demo("train"), rw.load_demo("valid")
    >>> ranker = rw.Ranker(n_estimators=10, n_jobs=1)
    >>> space = Space({"num_leaves": Integer(3, 31, log=True)})
    >>> tuning = rw.tune(ranker, train, valid, space=space, tuner="random", trials=3)
    >>> len(tuning.trials), tuning.best_value >= tuning.records[0].value
    (3, True)
    """
    checks.at_least(seed, 0, "seed")
    limits = StudyLimits(checks.at_least(trials, 1, "trials"), _seconds(seconds))
    tuners.check_installed(tuner)
    checks.one_of(start, ("own", None), "start")
    given = FitArguments(train, y, qid, group, weight, sample_weight, valid)
    train, valid = _data_of(ranker, given, folds, verbose)
    wanted = _metric_of(ranker) if metric is None else metric
    measure = make_measure(wanted, convention, ties, empty)
    space = resolve(space, ranker)
    check_names(ranker, space)
    first = own_values(ranker, space)
    ranker = _prepared(ranker, metric)
    sets = validation_sets(valid, train)
    _check_start(configured(ranker, first), train, sets)
    task = make_task(ranker, train, sets, measure, folds, seed)
    # Data are looked at once, here: trials train by `_fit`, which doesn't warn.
    warn_about_data(train, sets, getattr(ranker, "shuffle", True), getattr(ranker, "n_jobs", None))
    rules = {"tuner": tuner, "seed": seed, "pruner": pruner, "folds": folds, "start": start}
    identity = identify(task, space, rules)
    steps = pruners.steps(_rounds(configured(ranker, first)), folds)
    with store.quiet():
        kept = store.StudyStore(
            storage, identity, measure.direction, tuners.settings(limits.trials)
        )
        kept.study.pruner = pruners.make(pruner, steps)
        optimiser = tuners.make_tuner(tuner, _search(space, first if start else None, seed, kept))
    return Loop(task, space, kept, optimiser, steps.every).run(limits, verbose)


def _search(
    space: Space, start: dict[str, Any] | None, seed: int, kept: store.StudyStore
) -> tuners.SearchSettings:
    """Return what is searched: dimensions with several values, as optimisers and files keep them."""
    free = {name: as_stored(one) for name, one in space.free.items()}
    first = None if start is None else {name: stored(start[name]) for name in free}
    return tuners.SearchSettings(free, first, seed, kept.settings["random_trials"])


def _seconds(seconds: Any) -> float:
    """Return the time limit, infinity if there is none."""
    return math.inf if seconds is None else checks.positive(seconds, "seconds")


def _data_of(
    ranker: object, given: FitArguments, folds: int | None, verbose: bool | None
) -> tuple[Source, Any]:
    """Return training and validation data; raise unless there is a ranker, and either validation data or folds."""
    if not isinstance(ranker, (Ranker, NeuralRanker, TwoStage)):
        raise checks.InputError(
            f"tune takes a Ranker, a NeuralRanker or a TwoStage, got {type(ranker).__name__}."
        )
    reading = ReadingOptions(getattr(ranker, "n_jobs", None), verbose)
    train, valid = local_data(given, False, reading, "tune")
    if folds is not None or not isinstance(ranker, Ranker):
        train.matrix()  # files can't be split into folds, nor train networks and two stages: they say so
    if (valid is None) == (folds is None):
        raise checks.InputError(
            "tune needs either validation data, valid=, or a number of folds, folds=, to compare trials by."
        )
    if folds is not None:
        checks.at_least(folds, 2, "folds")
        if isinstance(ranker, TwoStage):
            raise checks.InputError(
                "tune needs validation data for a TwoStage, which has folds of its own: give valid= in place of folds=."
            )
    return train, valid


def _metric_of(ranker: Tunable) -> Any:
    """Return the metrics of a ranker; those of the second stage, if there are two."""
    return ranker._score_metric() if isinstance(ranker, TwoStage) else ranker.eval_metric


def _rounds(ranker: Tunable) -> int:
    """Return after how many steps a trial ends at the latest; that of a TwoStage is a single one."""
    if isinstance(ranker, Ranker):
        return rounds_of(ranker, True)
    return ranker.epochs if isinstance(ranker, NeuralRanker) else 1


def _prepared(ranker: Tunable, metric: Any) -> Any:
    """Return a copy of a ranker with the metric of the study, and with parameters that let trials share data."""
    copy: Any = clone(ranker)
    if isinstance(copy, TwoStage):
        second = clone(stage_of(copy, "second"))
        if metric is not None and hasattr(second, "eval_metric"):
            second.set_params(eval_metric=metric)
        return copy.set_params(first=clone(stage_of(copy, "first")), second=second)
    if isinstance(copy, Ranker):
        sharing = base.abilities_of(copy.engine_).sharing
        copy.set_params(**{**sharing, **copy.engine_params})
    return copy if metric is None else copy.set_params(eval_metric=metric)


def _check_start(first: Any, train: Source, valid: ValidationSets | None) -> None:
    """Raise if the first trial would fail because a parameter doesn't exist or has a wrong value."""
    if isinstance(first, TwoStage):
        check_two_stage(first, cast("RankingData", train), valid)
    else:
        first._check(train.unlisted is not None)
