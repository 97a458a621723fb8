"""Parameters of XGBoost: our names of them, and checks, since XGBoost itself only warns."""

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.engines import _errors, _parameters, forks
from rankwood.engines.lightgbm import langevin

with _parameters.passive_threads():
    import xgboost as xgb

#: Parameters that engines share, and their names in XGBoost.
_SAME = "learning_rate max_depth min_child_weight reg_alpha reg_lambda subsample colsample_bytree"
_SHARED = {
    **{name: name for name in _SAME.split()},
    "num_leaves": "max_leaves",
    "random_state": "seed",
    "n_jobs": "nthread",
}
#: XGBoost's aliases.
_ALIASES = {
    "eta": "learning_rate",
    "alpha": "reg_alpha",
    "lambda": "reg_lambda",
    "min_split_loss": "gamma",
    "silent": "verbosity",
}
# Ranker sets these: the objective, the number of rounds, and what is printed and measured.
_OURS = {
    "objective": "objective",
    "num_boost_round": "n_estimators",
    "num_round": "n_estimators",
    "num_trees": "n_estimators",
    "eval_metric": "eval_metric",
    "disable_default_eval_metric": "eval_metric",
    "verbosity": "verbose",
    "validate_parameters": "verbose",
    "seed": "random_state",
    "nthread": "n_jobs",
    "enable_categorical": "categorical_feature",
    "feature_types": "categorical_feature",
}
# XGBoost accepts these, and would do something else than rank.
_FOREIGN = (
    *("num_class", "num_target", "multi_strategy", "base_score", "boost_from_average"),
    *("scale_pos_weight", "process_type", "updater", "refresh_leaf", "num_feature"),
)
_DART = ("rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type")
#: Keys of a configuration that aren't parameters.
_NOT_NAMES = {"name", "specified_updater", "updater_seq"}


def _reason(message: str) -> str:
    """Return what is of use in a message of XGBoost, without the place in its sources."""
    message = re.split(r"\nStack trace|\n\n", message)[0]
    message = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", message)
    message = _errors.one_line(re.sub(r"^Check failed: .*?: ", "", message))
    if re.search("categor|cateogry", message, re.IGNORECASE):
        return "it takes categories as whole numbers from 0, not too large; number them first"
    if "`inf`" in message:
        return "a feature is infinite or beyond float32; make it NaN or a smaller number"
    return message


plain_errors = _errors.plain_errors(
    "XGBoost", (xgb.core.XGBoostError, TypeError, ValueError), _reason
)


def real_name(name: str) -> str:
    """Return XGBoost's own name of a parameter, by any of its names or by ours."""
    return _ALIASES.get(name) or _SHARED.get(name, name)


def translate(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under XGBoost's names, with Ranker's meaning; raise if XGBoost lacks one."""
    out: dict[str, Any] = {}
    for name, value in params.items():
        real = _ALIASES.get(name, name)
        if name in _SHARED:
            out[_SHARED[name]] = value
        elif name == "min_child_samples":
            instead = "its leaves are limited by the sum of Hessians only, min_child_weight"
            _parameters.lacks("XGBoost", name, value, 20, instead)
        elif name in langevin.NAMES:
            raise checks.InputError(
                f"{name} is Langevin boosting, which XGBoost doesn't have; use engine='lightgbm' or 'catboost'."
            )
        else:
            _parameters.refuse_objective(name, real, "XGBoost's own objective, which isn't used")
            _parameters.refuse(name, real, _OURS, _FOREIGN)
            out[real] = value
    out["nthread"] = forks.engine_threads(out.get("nthread"))
    out["max_depth"] = max(out.get("max_depth", 0), 0)  # -1 means no limit, which is 0 in XGBoost
    # The leaf of the largest gain is split first, so that max_leaves is the limit.
    out.setdefault("grow_policy", "lossguide")
    out.setdefault("tree_method", "hist")
    if out.get("booster", "gbtree") not in ("gbtree", "dart"):
        raise checks.InputError(f"booster must be 'gbtree' or 'dart', got {out['booster']!r}.")
    out |= {"base_score": 0.0, "disable_default_eval_metric": True, "verbosity": 1}
    # Constraints fit the data, not the single column that names are tried with.
    ours = ("categorical_feature", "monotone_constraints", "interaction_constraints")
    _check_names({k: v for k, v in out.items() if k not in ours})
    return out


def _check_names(params: dict[str, Any]) -> None:
    """Raise if XGBoost lacks a parameter or can't read its value; XGBoost itself would only warn."""
    wrong = [name for name in _DART if name in params]
    if wrong and params.get("booster") != "dart":  # not every version of XGBoost warns
        raise checks.InputError(f"{wrong[0]} needs booster='dart'.")
    smallest = xgb.DMatrix(np.zeros((1, 1)), nthread=1)
    with plain_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        booster = xgb.Booster({**params, "validate_parameters": True}, [smallest])
        booster.num_features()  # parameters are read only now
        config = json.loads(booster.save_config())
    text = " ".join(str(w.message) for w in caught)
    unused = re.search(r'Parameters: \{ "(\w+)"', text)
    if unused:
        known = {*_SHARED, *_keys(config)} - {*_OURS, *_FOREIGN, *_NOT_NAMES}
        raise _parameters.unknown("XGBoost", unused.group(1), known)


def _keys(config: Any) -> Iterator[str]:
    """Yield the names of all parameters in a configuration, which is nested."""
    if isinstance(config, list):
        for item in config:
            yield from _keys(item)
    elif isinstance(config, dict):
        for name, value in config.items():
            yield from _keys(value) if isinstance(value, (dict, list)) else [name]
