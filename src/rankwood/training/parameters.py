"""Parameters of a ranker: checks of those that every engine has, and those that are passed to the engine."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of
from rankwood.training.monitoring import named_records

_LOWEST = {
    "n_estimators": 1,
    "num_leaves": 2,
    "max_depth": -1,
    "min_child_samples": 0,
    "random_state": 0,
}

#: Parameters that are not passed to the engine.
_OURS = {
    *("objective", "engine", "n_estimators", "eval_metric", "early_stopping_rounds"),
    *("shuffle", "verbose", "record"),
}

#: Default learning rates. Bivariate models get 0.01: a document's score averages the scores of 2(n - 1) pairs, each of
#: which takes a full Newton step.
_LEARNING_RATE = {"documents": 0.1, "pairs": 0.01}


def engine_params(ranker: Any) -> dict[str, Any]:
    """Return the parameters that are passed to the engine."""
    own = {name: getattr(ranker, name) for name in ranker._get_param_names() if name not in _OURS}
    if own["learning_rate"] is None:
        own["learning_rate"] = _LEARNING_RATE[unit_of(to_objective(ranker.objective))]
    params = {**own, **ranker.engine_params}
    # Not every engine takes numbers of NumPy.
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in params.items()}


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
