"""Parameters of a ranker: values of those that are left open, checks, and those that are passed to the engine."""

import inspect
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.engines import base
from rankwood.estimators import foreign_arguments as spellings
from rankwood.fit.observers.recording import named_records
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of

#: Learning rates. Bivariate models get 0.01: a document's score averages the scores of 2(n - 1) pairs, each of which
#: takes a full Newton step.
_LEARNING_RATE = {"documents": 0.05, "pairs": 0.01}
#: Learning rates before the study.
_FORMER_RATE = {"documents": 0.1, "pairs": 0.01}
#: Further parameters of an engine, for objectives of documents: random thresholds of splits keep trees on few queries
#: from fitting noise.
_OF_ENGINE: dict[str, dict[str, Any]] = {"lightgbm": {"extra_trees": True}}
#: The same before the study: what the engine itself does.
_FORMER_OF_ENGINE: dict[str, dict[str, Any]] = {"lightgbm": {"extra_trees": False}}
#: Names that engines have for these parameters.
OTHER_NAMES = {"learning_rate": ("eta", "shrinkage_rate"), "extra_trees": ("extra_tree",)}
#: Largest number of trees, by whether validation data can stop training.
_TREES = {True: 500, False: 100}


def trees(stopped: bool) -> int:
    """Return the largest number of trees, by whether validation data can stop training."""
    return _TREES[stopped]


def default_values(engine: str, objective: Any) -> dict[str, Any]:
    """Return the values of the parameters that are None or omitted, by name."""
    unit = unit_of(objective)
    extra = _OF_ENGINE.get(engine, {}) if unit == "documents" else {}
    return {"learning_rate": _LEARNING_RATE[unit], **extra}


def values_before_study(engine: str, objective: Any) -> dict[str, Any]:
    """Return the values that rankers had before the study, and that reproductions of papers start from."""
    return {"learning_rate": _FORMER_RATE[unit_of(objective)], **_FORMER_OF_ENGINE.get(engine, {})}


_LOWEST = {
    "num_leaves": 2,
    "max_depth": -1,
    "min_child_samples": 0,
    "random_state": 0,
}

#: Parameters that are not passed to the engine.
_OURS = {
    *("objective", "engine", "n_estimators", "eval_metric", "early_stopping_rounds"),
    *("shuffle", "verbose", "record", "warm_start"),
}


def engine_params(ranker: Any) -> dict[str, Any]:
    """Return the parameters that are passed to the engine; raise if two are one, or if one belongs to `fit`."""
    spellings.check_constructor(ranker.engine_params)
    base.check_synonyms(ranker.engine_, _given(ranker))
    named = {name: getattr(ranker, name) for name in ranker._get_param_names() if name not in _OURS}
    defaults = chosen(ranker)
    extra = {name: value for name, value in ranker.engine_params.items() if name not in defaults}
    params = {**named, **defaults, **extra}
    # Not every engine accepts numbers of NumPy.
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in params.items()}


def _given(ranker: Any) -> list[str]:
    """Return the names of the parameters that were given: those of the engine, and others that aren't the default."""
    signature = inspect.signature(type(ranker).__init__).parameters
    named = [
        name
        for name in ranker._get_param_names()
        if name not in _OURS and name in signature and _differs(ranker, name, signature[name])
    ]
    return [*named, *(name for name, value in ranker.engine_params.items() if value is not None)]


def _differs(ranker: Any, name: str, parameter: inspect.Parameter) -> bool:
    value = getattr(ranker, name)
    return value is not parameter.default and not bool(value == parameter.default)


def chosen(ranker: Any) -> dict[str, Any]:
    """Return the values of the parameters that a ranker leaves open: they are None, or not there under any name."""
    params = ranker.get_params(deep=False)
    defaults = default_values(ranker.engine_, to_objective(ranker.objective))
    return {
        name: value
        for name, value in defaults.items()
        if all(params.get(key) is None for key in (name, *OTHER_NAMES.get(name, ())))
    }


def rounds_of(ranker: Any, validated: bool) -> int:
    """Return the largest number of rounds; `validated` tells whether there is validation data."""
    if ranker.n_estimators is not None:
        return int(ranker.n_estimators)
    return trees(validated and ranker.early_stopping_rounds is not None)


def check_shared(ranker: Any) -> None:
    """Raise unless a ranker's parameters make sense."""
    if ranker.n_estimators is not None:
        checks.at_least(ranker.n_estimators, 1, "n_estimators")
    for name, low in _LOWEST.items():
        checks.at_least(getattr(ranker, name), low, name)
    if ranker.early_stopping_rounds is not None:
        checks.at_least(ranker.early_stopping_rounds, 1, "early_stopping_rounds")
    checks.one_of(ranker.shuffle, (True, False), "shuffle")
    checks.one_of(ranker.warm_start, (True, False), "warm_start")
    named_records(ranker.record)
    if ranker.learning_rate is not None:
        checks.positive(ranker.learning_rate, "learning_rate")
    for name in ("min_child_weight", "reg_alpha", "reg_lambda"):
        if checks.finite(getattr(ranker, name), name) < 0:
            raise checks.InputError(f"{name} must not be negative, got {getattr(ranker, name)}.")
    for name in ("subsample", "colsample_bytree"):
        if checks.positive(getattr(ranker, name), name) > 1:
            raise checks.InputError(f"{name} must be at most 1, got {getattr(ranker, name)}.")
