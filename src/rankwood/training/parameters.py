"""Parameters of a ranker: checks of those that every engine has, in words of our own, and what goes to the engine."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.lifted import Bivariate
from rankwood.training.monitoring import named_records

_LOWEST = {
    "n_estimators": 1,
    "num_leaves": 2,
    "max_depth": -1,
    "min_child_samples": 0,
    "random_state": 0,
}

#: What a ranker does itself.
_OURS = {
    *("objective", "engine", "n_estimators", "eval_metric", "early_stopping_rounds"),
    *("shuffle", "verbose", "record"),
}


def engine_params(ranker: Any) -> dict[str, Any]:
    """Return the parameters that go to the engine."""
    own = {k: getattr(ranker, k) for k in ranker._get_param_names() if k not in _OURS}
    if own["learning_rate"] is None:
        own["learning_rate"] = usual_rate(ranker.objective)
    given = {**own, **ranker.engine_params}
    # Numbers of NumPy are as good as any, but not to every engine.
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in given.items()}


def usual_rate(objective: Any) -> float:
    """Return the learning rate for an objective.

    A document's score is made of many scores of pairs, each of which takes the whole step: theirs are shorter.
    """
    return 0.01 if isinstance(to_objective(objective), Bivariate) else 0.1


def check_shared(ranker: Any) -> int:
    """Raise unless a ranker's parameters make sense; return the number of rounds."""
    for name, low in _LOWEST.items():
        checks.at_least(getattr(ranker, name), low, name)
    if ranker.early_stopping_rounds is not None:
        checks.at_least(ranker.early_stopping_rounds, 1, "early_stopping_rounds")
    checks.one_of(ranker.shuffle, (True, False), "shuffle")
    named_records(ranker.record)
    if ranker.learning_rate is not None:
        checks.positive(ranker.learning_rate, "learning_rate")
    for name in ("min_child_weight", "reg_alpha", "reg_lambda"):
        if checks.finite(getattr(ranker, name), name) < 0:
            raise checks.InputError(f"{name} must not be negative, got {getattr(ranker, name)}.")
    for name in ("subsample", "colsample_bytree"):
        if checks.positive(getattr(ranker, name), name) > 1:
            raise checks.InputError(f"{name} must be at most 1, got {getattr(ranker, name)}.")
    return int(ranker.n_estimators)
