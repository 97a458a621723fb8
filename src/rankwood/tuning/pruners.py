"""Pruning: stopping poor trials early, by Optuna's pruners."""

from typing import Any, NamedTuple

from rankwood._util import checks

PRUNERS = ("median", "hyperband")
_REPORTS = 50  # times that a trial with all of its trees is compared with others
_STARTUP = 5  # trials that are never pruned, so that others can be compared with them


class PruningSteps(NamedTuple):
    """When a trial is compared with others."""

    #: Number of steps between comparisons.
    every: int
    #: Number of first steps without a comparison.
    warmup: int
    #: Largest number of steps.
    last: int


def steps(rounds: int, folds: int | None) -> PruningSteps:
    """Return the steps of a trial: its rounds, or its folds if there are any."""
    if folds is not None:
        return PruningSteps(1, 0, folds)
    every = max(1, rounds // _REPORTS)
    return PruningSteps(every, max(5, rounds // 20), rounds)


def make(pruner: Any, when: PruningSteps) -> Any:
    """Return one of Optuna's pruners by its name, or the given one; raise if the name is unknown."""
    from optuna import pruners

    if pruner is None:
        return pruners.NopPruner()
    if isinstance(pruner, pruners.BasePruner):
        return pruner
    checks.one_of(pruner, PRUNERS, "pruner")
    if pruner == "median":
        return pruners.MedianPruner(_STARTUP, when.warmup)
    return pruners.HyperbandPruner(max(1, when.warmup), when.last, reduction_factor=3)
