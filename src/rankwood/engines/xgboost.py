"""Stock XGBoost, with our gradients."""

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood.engines import _parameters
from rankwood.engines.base import Gradients, Task
from rankwood.engines.lightgbm import langevin

with _parameters.passive_threads():
    import xgboost as xgb

#: Names that engines share, and what XGBoost calls them.
_SHARED = {
    "learning_rate": "learning_rate",
    "num_leaves": "max_leaves",
    "max_depth": "max_depth",
    "min_child_weight": "min_child_weight",
    "reg_alpha": "reg_alpha",
    "reg_lambda": "reg_lambda",
    "subsample": "subsample",
    "colsample_bytree": "colsample_bytree",
    "random_state": "seed",
    "n_jobs": "nthread",
}
#: XGBoost's second names.
_ALIASES = {
    "eta": "learning_rate",
    "alpha": "reg_alpha",
    "lambda": "reg_lambda",
    "min_split_loss": "gamma",
    "silent": "verbosity",
}
# Ours to decide: the objective, how long to train, and what is printed and measured.
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
# XGBoost would take them, and do something else than rank; or they are of its own ranking objectives.
_FOREIGN = (
    *("num_class", "num_target", "multi_strategy", "base_score", "boost_from_average"),
    *("scale_pos_weight", "process_type", "updater", "refresh_leaf", "num_feature"),
)
_OBJECTIVE = {
    "lambdarank_pair_method": "truncation",
    "lambdarank_num_pair_per_sample": "truncation",
    "lambdarank_normalization": "norm",
    "lambdarank_score_normalization": "norm",
    "ndcg_exp_gain": "gain",
}
_DART = ("rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type")
_NOT_NAMES = {"name", "specified_updater", "updater_seq"}  # what else a configuration holds


class XGBoostEngine:
    """One training run of XGBoost."""

    takes_gradients = True

    def __init__(self, params: dict[str, Any], task: Task) -> None:
        params = dict(params)
        self.keeps_rounds = params.get("booster", "gbtree") == "gbtree"
        columns = _parameters.whole(params.pop("categorical_feature", None), task.train)
        kinds = ["c" if i in columns else "q" for i in range(task.train.n_features)]
        with _plain_errors():
            make = _maker(params, kinds if columns else None)
            self._train = make(task.train.X)
            self._valid = None if task.valid is None else make(task.valid.X, self._train)
            known = [m for m in (self._train, self._valid) if m is not None]
            self._booster = xgb.Booster(params, known)
        self._rounds = 0

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""
        before = []

        def look(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            before.append(scores)
            return gradients(scores.astype(np.float64))  # as in other engines: kernels compile once

        with _plain_errors():
            self._booster.update(self._train, self._rounds, fobj=look)
            self._rounds += 1
            moved = self._booster.predict(self._train, output_margin=True) - before[0]
            # Only if all scores moved by about the same is it worth a look whether the tree has splits.
            return bool(np.ptp(moved) > 1e-5 * np.abs(moved).max()) or self._has_splits()

    def _has_splits(self) -> bool:
        last = self._booster[self._rounds - 1 : self._rounds]
        return any("yes=" in tree for tree in last.get_dump())

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""
        return self._booster.predict(self._valid, output_margin=True).astype(np.float64)

    def model(self, rounds: int) -> "XGBoostModel":
        """Return the ensemble of the first `rounds` trees."""
        first = self._booster if rounds == self._rounds else self._booster[:rounds]
        return XGBoostModel(first.save_raw("json").decode())


class XGBoostModel:
    """A trained XGBoost ensemble; its text, JSON, is its whole state."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._booster: xgb.Booster | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_booster": None}

    def predict(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per row."""
        booster = self._loaded()
        booster.set_param({"nthread": threads.threads(n_jobs)})
        with _plain_errors("predict"):
            scores = booster.inplace_predict(_parameters.dense(X), predict_type="margin")
        return scores.astype(np.float64)

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all."""
        booster = self._loaded()
        gained = booster.get_score(importance_type="total_gain")
        return np.array([gained.get(f"f{i}", 0.0) for i in range(booster.num_features())])

    def _loaded(self) -> Any:
        if self._booster is None:
            self._booster = xgb.Booster(model_file=bytearray(self.text.encode()))
        return self._booster


def start(params: dict[str, Any], task: Task) -> XGBoostEngine:
    """Begin a training run with parameters by the shared names or XGBoost's own."""
    return XGBoostEngine(translate(params), task)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless XGBoost knows these parameters."""
    translate(params)


def load(text: str) -> XGBoostModel:
    """Return the model that `text` holds, or raise if XGBoost can't read it."""
    model = XGBoostModel(text)
    with _plain_errors("read the model"):
        model._loaded()
    return model


def translate(params: dict[str, Any]) -> dict[str, Any]:
    """Give parameters the names XGBoost takes, with what Ranker's mean there; refuse what it hasn't."""
    out: dict[str, Any] = {}
    for name, value in params.items():
        real = _ALIASES.get(name, name)
        if name in _SHARED:
            out[_SHARED[name]] = value
        elif name == "min_child_samples":
            instead = "it knows no documents in a leaf, only the sum of hessians, min_child_weight"
            _parameters.lacks("XGBoost", name, value, 20, instead)
        elif name in langevin.NAMES:
            raise checks.InputError(
                f"{name} is Langevin boosting, which XGBoost doesn't have; take engine='lightgbm' or 'catboost'."
            )
        elif real in _OBJECTIVE:
            raise checks.InputError(
                f"{name} belongs to XGBoost's own objective, which isn't used; write it into ours, as in "
                f"objective='lambdarank-ndcg@10({_OBJECTIVE[real]}=...)'."
            )
        else:
            _parameters.refuse(name, real, _OURS, _FOREIGN)
            out[real] = value
    out["nthread"] = threads.threads(out.get("nthread"))
    out["max_depth"] = max(out.get("max_depth", 0), 0)  # -1: as deep as there are leaves
    out.setdefault("grow_policy", "lossguide")  # leaf by leaf, so that max_leaves decides
    out.setdefault("tree_method", "hist")
    if out.get("booster", "gbtree") not in ("gbtree", "dart"):
        raise checks.InputError(f"booster must be 'gbtree' or 'dart', got {out['booster']!r}.")
    out |= {"base_score": 0.0, "disable_default_eval_metric": True, "verbosity": 1}
    _check_names({k: v for k, v in out.items() if k != "categorical_feature"})
    return out


def _check_names(params: dict[str, Any]) -> None:
    """Raise if XGBoost has no parameter of some name, or can't read a value; it would only warn itself."""
    wrong = [name for name in _DART if name in params]
    if wrong and params.get("booster") != "dart":  # not every version says so
        raise checks.InputError(f"{wrong[0]} needs booster='dart'.")
    smallest = xgb.DMatrix(np.zeros((1, 1)), nthread=1)
    with _plain_errors(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        booster = xgb.Booster({**params, "validate_parameters": True}, [smallest])
        booster.num_features()  # parameters are read only now
        config = json.loads(booster.save_config())
    text = " ".join(str(w.message) for w in said)
    unused = re.search(r'Parameters: \{ "(\w+)"', text)
    if unused:
        known = {*_SHARED, *_keys(config)} - {*_OURS, *_FOREIGN, *_NOT_NAMES}
        raise _parameters.unknown("XGBoost", unused.group(1), known)


def _keys(config: Any) -> Iterator[str]:
    """Yield the names of all parameters in a configuration."""
    if isinstance(config, list):
        for item in config:
            yield from _keys(item)
    elif isinstance(config, dict):
        for name, value in config.items():
            yield from _keys(value) if isinstance(value, (dict, list)) else [name]


def _maker(params: dict[str, Any], kinds: list[str] | None) -> Any:
    """Return what makes XGBoost's matrices: bins at once, without a second copy of the values, if it can."""
    options: dict[str, Any] = {"nthread": params["nthread"]}
    if kinds is not None:
        options |= {"feature_types": kinds, "enable_categorical": True}
    if params["tree_method"] == "hist":
        options["max_bin"] = params.get("max_bin", 256)
        return lambda X, ref=None: xgb.QuantileDMatrix(_parameters.dense(X), ref=ref, **options)
    return lambda X, ref=None: xgb.DMatrix(_parameters.dense(X), **options)


@contextmanager
def _plain_errors(action: str = "train") -> Iterator[None]:
    """Turn an error of XGBoost into one of ours, without the place in its sources."""
    try:
        yield
    except checks.InputError:
        raise
    except (xgb.core.XGBoostError, TypeError, ValueError) as error:
        reason = re.split(r"\nStack trace|\n\n", str(error).strip())[0]
        reason = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", reason)
        reason = re.sub(r"^Check failed: .*?: ", "", reason)
        reason = "; ".join(line.strip() for line in reason.splitlines() if line.strip())
        if re.search("categor|cateogry", reason, re.IGNORECASE):
            reason = "it takes categories as whole numbers from 0, not too large; number them first"
        elif "`inf`" in reason:
            reason = "a feature is infinite or beyond float32; make it NaN or a smaller number"
        raise checks.InputError(f"XGBoost can't {action}: {reason.rstrip('.')}.") from None
