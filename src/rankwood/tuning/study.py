"""The function `tune`."""

import math
import os
from typing import Any

from sklearn.base import clone

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.engines import base
from rankwood.estimators.parameters import check_shared, chosen, engine_params, rounds_of
from rankwood.estimators.ranker import Ranker
from rankwood.fit.data_warnings import warn_about_data
from rankwood.fit.validation import validation_sets
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.tuning import pruners, store, tuners
from rankwood.tuning.loop import Loop, StudyLimits
from rankwood.tuning.measure import make_measure
from rankwood.tuning.parameters import check_names, configured, own_values
from rankwood.tuning.result import Tuning
from rankwood.tuning.spaces.named_spaces import resolve
from rankwood.tuning.spaces.space import Space
from rankwood.tuning.trials import Task, make_task


def tune(
    ranker: Ranker,
    train: RankingData,
    valid: Any = None,
    *,
    space: Space | dict[str, Any] | str | None = None,
    tuner: str = "tpe",
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

    Trial 0 has the ranker's own parameters, moved into the space; the optimiser proposes those of the other trials. All
    trials share the binned data. The same arguments give the same trials, even if a study is killed and resumed from
    its `storage`.

    Parameters
    ----------
    ranker : Ranker
        Has the objective, the engine and all parameters that are not tuned; it isn't changed.
    train : RankingData
        The training data.
    valid : RankingData, (X, y, qid), or dict of them, optional
        The validation data: it decides how many trees a model has, and which trial is the best. Several sets have
        names, as in `Ranker.fit`: all are evaluated, and the first one decides.
    space : Space, dict, str or None
        What to tune. A string is the name of a space (`rankwood.spaces.names()`); None means
        `rankwood.spaces.default(ranker.engine_, ranker.objective)`.
    tuner : {"tpe", "random", "random+gp", "cfo"}
        The optimiser: Optuna's tree-structured Parzen estimator; random search; random search in the first 20% of
        trials and a Gaussian process afterwards; or FLAML's cost-frugal local search, which starts from the ranker's
        own parameters.
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
        ranker's `eval_metric`.
    convention, ties, empty : str, optional
        Rules of the metric, as in `rankwood.evaluate`.
    folds : int or None
        Cross-validate by query with this many folds, in place of `valid`. The value of a trial is the mean over folds;
        the best ranker is then trained on all queries, with as many trees as the folds have on average.
    pruner : {"median", "hyperband", None} or Optuna pruner
        Stops poor trials early: by default those that are worse than the median of earlier trials at the same round.
        None lets all trials finish.
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
    _check_data(ranker, train, valid, folds)
    wanted = ranker.eval_metric if metric is None else metric
    measure = make_measure(wanted, convention, ties, empty)
    space = resolve(space, ranker)
    start = own_values(ranker, space)
    ranker = _prepared(ranker, metric)
    _check_start(ranker, train, space, start)
    sets = validation_sets(valid, train)
    task = make_task(ranker, train, sets, measure, folds, seed)
    # Data are looked at once, here: trials train by `_fit`, which doesn't warn.
    warn_about_data(train, sets, ranker.shuffle, ranker.n_jobs)
    about = _about(task, space, {"tuner": tuner, "seed": seed, "pruner": pruner, "folds": folds})
    steps = pruners.steps(rounds_of(configured(ranker, start), True), folds)
    with store.quiet():
        kept = store.StudyStore(storage, about, measure.direction, tuners.settings(limits.trials))
        kept.study.pruner = pruners.make(pruner, steps)
        free = {name: start[name] for name in space.free}
        search = tuners.SearchSettings(space.free, free, seed, kept.settings["random_trials"])
        optimiser = tuners.make_tuner(tuner, search)
    return Loop(task, space, kept, optimiser, steps.every).run(limits, verbose)


def _seconds(seconds: Any) -> float:
    """Return the time limit, infinity if there is none."""
    return math.inf if seconds is None else checks.positive(seconds, "seconds")


def _check_data(ranker: object, train: object, valid: Any, folds: int | None) -> None:
    """Raise unless there is a ranker, training data, and either validation data or folds."""
    if not isinstance(ranker, Ranker):
        raise checks.InputError(f"tune takes a Ranker, got {type(ranker).__name__}.")
    if not isinstance(train, RankingData):
        raise checks.InputError(f"train must be a RankingData, got {type(train).__name__}.")
    if (valid is None) == (folds is None):
        raise checks.InputError(
            "tune needs either validation data, valid=, or a number of folds, folds=, to compare trials by."
        )
    if folds is not None:
        checks.at_least(folds, 2, "folds")


def _prepared(ranker: Ranker, metric: Any) -> Ranker:
    """Return a copy of a ranker with the metric of the study, and with parameters that let trials share data."""
    copy: Ranker = clone(ranker)
    sharing = base.abilities_of(copy.engine_).sharing
    copy.set_params(**{**sharing, **copy.engine_params})
    return copy if metric is None else copy.set_params(eval_metric=metric)


def _check_start(ranker: Ranker, train: RankingData, space: Space, start: dict[str, Any]) -> None:
    """Raise if the first trial would fail because a parameter doesn't exist or has a wrong value."""
    check_names(ranker, space)
    first = configured(ranker, start)
    check_shared(first)
    objective = to_objective(first.objective)
    base.check(first.engine_, objective, train.unlisted is not None)
    base.check_params(first.engine_, engine_params(first), objective)


def _about(task: Task, space: Space, rules: dict[str, Any]) -> dict[str, str]:
    """Return what identifies a study, as texts: a file with another study is refused."""
    ignored = {*space, "n_jobs", "verbose", "record", "eval_metric"}
    whole = {**task.ranker.get_params(deep=False), **chosen(task.ranker)}
    params = {k: v for k, v in whole.items() if k not in ignored}
    data = [
        one.fingerprint()
        for pair in task.data
        for one in (pair.train, *pair.valid.by_name.values())
    ]
    metric = task.measure
    return {
        "space": repr(space),
        "data": store.as_text(data),
        "metric": store.as_text(
            [list(metric.parts.values()), metric.ties, metric.empty, metric.single]
        ),
        "ranker": store.as_text(params),
        **{name: store.as_text(value) for name, value in rules.items()},
    }
