"""Parameters of LightGBM: the names that it has for Ranker's, and what can be combined with what."""

from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.engines import _parameters, forks
from rankwood.engines.lightgbm import langevin
from rankwood.engines.lightgbm.langevin import Langevin

with _parameters.passive_threads():
    import lightgbm as lgb

#: Parameters that engines share, and their names in LightGBM.
_SHARED = {
    "learning_rate": "learning_rate",
    "num_leaves": "num_leaves",
    "max_depth": "max_depth",
    "min_child_samples": "min_data_in_leaf",
    "min_child_weight": "min_sum_hessian_in_leaf",
    "reg_alpha": "lambda_l1",
    "reg_lambda": "lambda_l2",
    "subsample": "bagging_fraction",
    "colsample_bytree": "feature_fraction",
    "random_state": "seed",
    "n_jobs": "num_threads",
}
# Ranker sets these: the objective, the number of rounds, and what is printed and measured.
_OURS = {
    "objective": "objective",
    "num_iterations": "n_estimators",
    "metric": "eval_metric",
    "eval_at": "eval_metric",
    "early_stopping_round": "early_stopping_rounds",
    "verbosity": "verbose",
    "seed": "random_state",
    "num_threads": "n_jobs",
}
#: Parameters that binned data depends on, or that LightGBM needs while it bins.
_BINNING = frozenset(
    (
        *("bin_construct_sample_cnt", "data_random_seed", "device_type", "enable_bundle"),
        *("feature_pre_filter", "forcedbins_filename", "is_enable_sparse", "linear_tree"),
        *("max_bin", "max_bin_by_feature", "min_data_in_bin", "num_threads", "pre_partition"),
        *("seed", "use_missing", "verbosity", "zero_as_missing"),
    )
)
# LightGBM accepts these, and would do something else than rank.
_FOREIGN = (
    *("num_class", "task", "data", "valid", "input_model", "output_model", "machines"),
    # Parameters of its other objectives, and of the columns of its files.
    *("alpha", "fair_c", "poisson_max_delta_step", "tweedie_variance_power", "reg_sqrt"),
    *("is_unbalance", "scale_pos_weight", "boost_from_average", "auc_mu_weights"),
    *("label_column", "weight_column", "group_column", "ignore_column", "header"),
)


class Parsed(NamedTuple):
    """Parameters of a ranker, by the class that reads them."""

    #: LightGBM's, under its own names.
    booster: dict[str, Any]
    langevin: Langevin | None


def parse(params: dict[str, Any]) -> Parsed:
    """Return parameters by the class that reads them, or raise if one is wrong."""
    ours, params = langevin.separate_params(params)
    if "differences" in params:
        raise checks.InputError(
            "differences are features of pairs: they go with an objective bi-..."
        )
    booster = translate(params)
    sglb = langevin.parse(ours, booster.get("learning_rate", 0.1), booster.get("seed"))
    if sglb is not None:
        _check_langevin(sglb, booster)
    return Parsed(booster, sglb)


def real_name(name: str) -> str:
    """Return LightGBM's own name of a parameter, by any of its names or by ours."""
    if name in _SHARED:
        return _SHARED[name]
    return next((key for key, others in _aliases().items() if name in (key, *others)), name)


def translate(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under LightGBM's names, and those that make results depend on the seed alone."""
    aliases = _aliases()
    out: dict[str, Any] = {}
    for name, value in params.items():
        if name in _SHARED:
            out[_SHARED[name]] = value
            continue
        real = next((key for key, others in aliases.items() if name == key or name in others), None)
        if aliases and real is None:
            known = {*_SHARED, *langevin.NAMES, *aliases}.union(*aliases.values())
            raise _parameters.unknown("LightGBM", name, known)
        _parameters.refuse(name, real, _OURS, _FOREIGN)
        if real == "bagging_by_query" and value:
            raise checks.InputError(
                f"{name} learns nothing in LightGBM when gradients come from outside; omit it."
            )
        _parameters.refuse_objective(name, real, "LightGBM's own objective, which isn't used")
        out[real or name] = value
    out["num_threads"] = forks.engine_threads(out.get("num_threads"))
    if out.get("seed") is None:
        out.pop("seed", None)
    if checks.finite(out.get("bagging_fraction", 1.0), "subsample") < 1.0:
        out.setdefault("bagging_freq", 1)  # else LightGBM ignores the fraction
    if out.get("linear_tree") or out.get("use_quantized_grad"):
        # Sums of gradients are exact in any order (see `exact_sums`), but these have sums of their own.
        out.setdefault("deterministic", True)
        if not out.get("force_row_wise"):
            out.setdefault("force_col_wise", True)
    return {**out, "objective": "none", "metric": "None", "verbosity": -1}


def binning_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that binned data depends on: runs that differ in others can share the data."""
    binning = {name: value for name, value in params.items() if name in _BINNING}
    if params.get("feature_pre_filter", True) and "min_data_in_leaf" in params:
        binning["min_data_in_leaf"] = params["min_data_in_leaf"]  # no smaller leaf is possible then
    return binning


def _check_langevin(sglb: Langevin, params: dict[str, Any]) -> None:
    """Raise if the trees can't be shrunk, or if a leaf would divide noise by 0."""
    boosting = str(params.get("boosting", "gbdt"))
    if boosting in ("dart", "rf", "random_forest"):
        raise checks.InputError(
            f"boosting={boosting!r} weighs its trees itself, so that Langevin boosting and shrinkage of the "
            "model can't be combined with it; use boosting='gbdt'."
        )
    if (
        sglb.noise_sd
        and not params.get("min_sum_hessian_in_leaf", 1e-3)
        and not params.get("lambda_l2")
    ):
        raise checks.InputError(
            "Langevin noise would be divided by 0 in leaves without a Hessian; give min_child_weight or "
            "reg_lambda above 0."
        )


def _aliases() -> dict[str, list[str]]:
    """Return LightGBM's parameters and their aliases; nothing if this version keeps them elsewhere."""
    try:
        return dict(lgb.basic._ConfigAliases._get_all_param_aliases())
    except AttributeError:
        return {}
