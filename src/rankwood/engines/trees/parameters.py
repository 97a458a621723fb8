"""Parameters of trees: Ranker's names, and LightGBM's for what Ranker has no name for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.engines import _parameters
from rankwood.engines.trees.binning.bins import BinRules
from rankwood.engines.trees.binning.bounds import MOST_BINS

#: Parameters of Ranker and of LightGBM, with LightGBM's other names for them, and the fields that they set.
_TREES = {
    "num_leaves": "num_leaves",
    "max_depth": "max_depth",
    "min_child_samples": "min_data",
    "min_child_weight": "min_hessian",
    "reg_alpha": "l1",
    "reg_lambda": "l2",
    "subsample": "query_fraction",
    "colsample_bytree": "feature_fraction",
    "min_split_gain": "min_gain",
    "max_delta_step": "max_step",
    "colsample_bynode": "node_feature_fraction",
    "extra_trees": "extra",
    **{
        name: name
        for name in (
            *("cat_l2", "cat_smooth", "max_cat_threshold", "min_data_per_group"),
            "max_cat_to_onehot",
        )
    },
}
_BINS = {"max_bin": "max_bin", "min_data_in_bin": "min_data_in_bin"}
_DART = {
    name: name
    for name in ("drop_rate", "max_drop", "skip_drop", "uniform_drop", "xgboost_dart_mode")
}
_ALIASES = {
    **dict.fromkeys(("min_gain_to_split",), "min_split_gain"),
    **dict.fromkeys(("max_tree_output", "max_leaf_output"), "max_delta_step"),
    **dict.fromkeys(("feature_fraction_bynode", "sub_feature_bynode"), "colsample_bynode"),
    **dict.fromkeys(("extra_tree",), "extra_trees"),
    **dict.fromkeys(("max_bins",), "max_bin"),
    **dict.fromkeys(("boosting_type", "boost"), "boosting"),
    **dict.fromkeys(("rate_drop",), "drop_rate"),
}
_OTHERS = ("learning_rate", "random_state", "n_jobs", "boosting", "categorical_feature")
#: Constraints come under these names, by the numbers of features (`engines/constraints.py`).
_CONSTRAINTS = ("monotone_constraints", "interaction_constraints")
#: What LightGBM has and these trees have not.
_LACKS = (
    *(
        "linear_tree",
        "forcedsplits_filename",
        "forcedbins_filename",
        "max_bin_by_feature",
        "path_smooth",
    ),
    *(
        "zero_as_missing",
        "use_missing",
        "data_sample_strategy",
        "top_rate",
        "other_rate",
        "bagging_freq",
    ),
    *("cegb_tradeoff", "cegb_penalty_split", "use_quantized_grad", "monotone_constraints_method"),
    *(
        "monotone_penalty",
        "feature_contri",
        "bin_construct_sample_cnt",
        "refit_decay_rate",
        "linear_lambda",
    ),
    *("force_col_wise", "force_row_wise", "device_type", "tree_learner", "bagging_by_query"),
)


@dataclass(frozen=True)
class TreeParams:
    """Limits and penalties of a tree, in the units of gradients and Hessians; fractions are of features or queries."""

    num_leaves: int = 31
    max_depth: int = -1
    min_data: int = 20
    min_hessian: float = 1e-3
    l1: float = 0.0
    l2: float = 0.0
    min_gain: float = 0.0
    max_step: float = 0.0
    query_fraction: float = 1.0
    feature_fraction: float = 1.0
    node_feature_fraction: float = 1.0
    extra: bool = False
    cat_l2: float = 10.0
    cat_smooth: float = 10.0
    max_cat_threshold: int = 32
    min_data_per_group: int = 100
    max_cat_to_onehot: int = 4

    def __post_init__(self) -> None:
        checks.at_least(self.num_leaves, 2, "num_leaves")
        checks.at_least(self.max_depth, -(2**31), "max_depth")
        for name in ("min_data", "max_cat_threshold", "min_data_per_group", "max_cat_to_onehot"):
            checks.at_least(getattr(self, name), 0, name)
        for name in ("min_hessian", "l1", "l2", "min_gain", "max_step", "cat_l2", "cat_smooth"):
            if checks.finite(getattr(self, name), name) < 0:
                raise checks.InputError(f"{name} must be at least 0, got {getattr(self, name)}.")
        for name in ("query_fraction", "feature_fraction", "node_feature_fraction"):
            if not 0 < checks.finite(getattr(self, name), name) <= 1:
                raise checks.InputError(
                    f"{name} must be above 0 and at most 1, got {getattr(self, name)}."
                )
        checks.one_of(self.extra, (True, False), "extra")


@dataclass(frozen=True)
class DartParams:
    """Parameters of DART, with LightGBM's names and meaning [rashmi2015]."""

    drop_rate: float = 0.1
    max_drop: int = 50
    skip_drop: float = 0.5
    uniform_drop: bool = False
    xgboost_dart_mode: bool = False

    def __post_init__(self) -> None:
        for name in ("drop_rate", "skip_drop"):
            if not 0 <= checks.finite(getattr(self, name), name) <= 1:
                raise checks.InputError(f"{name} must be from 0 to 1, got {getattr(self, name)}.")
        checks.at_least(self.max_drop, -1, "max_drop")
        for name in ("uniform_drop", "xgboost_dart_mode"):
            checks.one_of(getattr(self, name), (True, False), name)


class Parsed(NamedTuple):
    """Parameters of a ranker, by what reads them."""

    trees: TreeParams
    bins: BinRules
    dart: DartParams | None
    learning_rate: float
    seed: int
    n_jobs: int | None
    directions: list[int] | None
    interactions: list[list[int]] | None


def parse(params: Mapping[str, Any]) -> Parsed:
    """Return parameters by what reads them, or raise if one is unknown or wrong."""
    given = {_ALIASES.get(name, name): value for name, value in params.items()}
    known = {*_TREES, *_BINS, *_DART, *_OTHERS, *_CONSTRAINTS}
    for name in given:
        if name in _LACKS:
            raise checks.InputError(f"engine='rankwood' has no {name}: use engine='lightgbm'.")
        if name not in known:
            raise _parameters.unknown("the engine 'rankwood'", name, known)
    boosting = checks.one_of(given.get("boosting", "gbdt"), ("gbdt", "dart"), "boosting")
    dart = _record(DartParams, _DART, given)
    return Parsed(
        trees=_record(TreeParams, _TREES, given),
        bins=_bin_rules(given),
        dart=dart if boosting == "dart" else None,
        learning_rate=given.get("learning_rate", 0.1),
        seed=given.get("random_state") or 0,
        n_jobs=given.get("n_jobs"),
        directions=given.get("monotone_constraints"),
        interactions=given.get("interaction_constraints"),
    )


def _bin_rules(given: Mapping[str, Any]) -> BinRules:
    rules = BinRules(**{field: given[name] for name, field in _BINS.items() if name in given})
    if checks.at_least(rules.max_bin, 2, "max_bin") > MOST_BINS:
        raise checks.InputError(
            f"max_bin must be at most {MOST_BINS}, got {rules.max_bin}: use engine='lightgbm' for more."
        )
    checks.at_least(rules.min_data_in_bin, 1, "min_data_in_bin")
    return rules


def _record(kind: type[Any], names: Mapping[str, str], given: Mapping[str, Any]) -> Any:
    """Return a record of parameters; error messages have the names that users write."""
    try:
        return kind(**{field: given[name] for name, field in names.items() if name in given})
    except checks.InputError as error:
        field, *rest = str(error).partition(" ")
        by_field = {field: name for name, field in names.items()}
        raise checks.InputError(by_field.get(field, field) + "".join(rest)) from None
