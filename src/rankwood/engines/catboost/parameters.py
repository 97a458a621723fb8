"""Parameters of CatBoost: the names that it has for Ranker's, and which of its own can be used."""

import inspect
from math import ceil, log2
from typing import Any

import catboost as cb

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.engines import _parameters

#: Parameters that engines share, and their names in CatBoost.
_SHARED = {
    "learning_rate": "learning_rate",
    "num_leaves": "max_leaves",
    "max_depth": "depth",
    "min_child_samples": "min_data_in_leaf",
    "reg_lambda": "l2_leaf_reg",
    "subsample": "subsample",
    "colsample_bytree": "rsm",
    "random_state": "random_seed",
    "n_jobs": "thread_count",
}
#: CatBoost's aliases.
_ALIASES = {
    "eta": "learning_rate",
    "colsample_bylevel": "rsm",
    "max_bin": "border_count",
    **dict.fromkeys(("num_boost_round", "num_trees"), "iterations"),
    "custom_loss": "custom_metric",
}
# Ranker sets these: the objective, the number of rounds, and what is printed and measured.
_OURS = {
    "loss_function": "objective",
    "iterations": "n_estimators",
    "custom_metric": "eval_metric",
    **dict.fromkeys(
        (
            "od_type",
            "od_wait",
            "od_pval",
            "use_best_model",
            "best_model_min_trees",
            "eval_fraction",
        ),
        "early_stopping_rounds",
    ),
    **dict.fromkeys(("silent", "logging_level", "metric_period"), "verbose"),
    "random_seed": "random_state",
    "thread_count": "n_jobs",
    "cat_features": "categorical_feature",
}
# CatBoost accepts these, and would write files or read other data than features.
_FOREIGN = (
    *("allow_writing_files", "train_dir", "save_snapshot", "snapshot_file", "snapshot_interval"),
    *("input_borders", "output_borders", "name", "text_features", "embedding_features"),
    *("tokenizers", "dictionaries", "feature_calcers", "text_processing"),
)
_DEEPEST = 16  # the largest depth of CatBoost's trees


def real_name(name: str) -> str:
    """Return CatBoost's own name of a parameter, by any of its names or by ours."""
    return _ALIASES.get(name) or _SHARED.get(name, name)


def translate(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under CatBoost's names, with Ranker's meaning; raise if CatBoost lacks one."""
    known = {*inspect.signature(cb.CatBoostRanker.__init__).parameters} - {"self"}
    out: dict[str, Any] = {}
    for name, value in params.items():
        real = _ALIASES.get(name, name)
        if name in _SHARED:
            out[_SHARED[name]] = value
        elif name in ("min_child_weight", "reg_alpha"):
            default = {"min_child_weight": 1e-3, "reg_alpha": 0.0}[name]
            _parameters.lacks("CatBoost", name, value, default, "omit it, or use reg_lambda")
        elif name not in known and name != "categorical_feature":
            names = {*_SHARED, *known, "categorical_feature"} - {*_OURS, *_FOREIGN}
            raise _parameters.unknown("CatBoost", name, names)
        else:
            _parameters.refuse(name, real, _OURS, _FOREIGN)
            out[real] = value
    _translate_trees(out)
    if out.get("subsample", 1.0) < 1.0:
        out.setdefault("bootstrap_type", "Bernoulli")
    else:  # every document counts once, as in other engines; CatBoost would draw random weights
        out.pop("subsample", None)
        out.setdefault("bootstrap_type", "No")
    out["thread_count"] = threads.threads(out.get("thread_count"))
    fixed = {"logging_level": "Silent", "allow_writing_files": False, "use_best_model": False}
    return {**out, **fixed, "allow_const_label": True}


def _translate_trees(out: dict[str, Any]) -> None:
    """Limit trees in CatBoost's terms: symmetric ones have a largest depth, and no smallest leaf."""
    policy = out.get("grow_policy", "SymmetricTree")
    leaves, smallest = out.pop("max_leaves", 31), out.pop("min_data_in_leaf", 20)
    if out.get("depth", -1) <= 0:  # no limit is set
        by_leaves = _DEEPEST if policy == "Lossguide" else ceil(log2(leaves))
        out["depth"] = min(by_leaves, _DEEPEST)
    if policy == "Lossguide":
        out["max_leaves"] = leaves
    if policy in ("Lossguide", "Depthwise"):
        out["min_data_in_leaf"] = smallest
    else:
        instead = "its symmetric trees grow by depth; omit it or set grow_policy='Lossguide'"
        _parameters.lacks("CatBoost", "min_child_samples", smallest, 20, instead)


def by_new_number(directions: dict[int, int], columns: list[int]) -> dict[int, int]:
    """Return the directions of features by their numbers in CatBoost's order, where categorical ones come last."""
    wrong = [column for column in columns if directions[column]]
    if wrong:
        raise checks.InputError(
            f"monotone: feature {wrong[0]} is categorical, and categories have no order."
        )
    order = [i for i in directions if i not in columns]
    return {at: directions[i] for at, i in enumerate(order) if directions[i]}
