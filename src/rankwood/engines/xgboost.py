"""Stock XGBoost, with our gradients."""

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.engines import _errors, _parameters, forks, xgboost_text
from rankwood.engines.base import Gradients, TextModel, TrainingTask
from rankwood.engines.lightgbm import langevin

with _parameters.passive_threads():
    import xgboost as xgb

forks.watch()
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
#: Parameters of XGBoost's own ranking objectives, which aren't used, and their names in ours.
_OBJECTIVE = {
    "lambdarank_pair_method": "truncation",
    "lambdarank_num_pair_per_sample": "truncation",
    "lambdarank_normalization": "norm",
    "lambdarank_score_normalization": "norm",
    "ndcg_exp_gain": "gain",
}
_DART = ("rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type")
_NOT_NAMES = {
    "name",
    "specified_updater",
    "updater_seq",
}  # keys of a configuration that aren't parameters


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


_plain_errors = _errors.plain_errors(
    "XGBoost", (xgb.core.XGBoostError, TypeError, ValueError), _reason
)


class XGBoostEngine:
    """One training run of XGBoost."""

    def __init__(self, params: dict[str, Any], task: TrainingTask) -> None:
        params = {name: _text(name, value) for name, value in params.items()}
        self.keeps_rounds = params.get("booster", "gbtree") == "gbtree"
        columns = _parameters.whole(params.pop("categorical_feature", None), task.train)
        kinds = ["c" if i in columns else "q" for i in range(task.train.n_features)]
        with _plain_errors():
            matrices = _matrices(params, kinds if columns else None, task)
            self._train, self._valid = matrices[0], matrices[1] if len(matrices) > 1 else None
            self._booster = xgb.Booster(params, matrices)
        self._rounds = 0

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; return False if no leaf can be split any more."""
        before = []

        def objective(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            before.append(scores)
            # Other engines have scores in float64 too: kernels are compiled for one type.
            return gradients(scores.astype(np.float64))

        with _plain_errors():
            self._booster.update(self._train, self._rounds, fobj=objective)
            self._rounds += 1
            moved = self._booster.predict(self._train, output_margin=True) - before[0]
            # A tree is written out, to see whether it has splits, only if it moved all scores by about the same.
            return bool(np.ptp(moved) > 1e-5 * np.abs(moved).max()) or self._has_splits()

    def _has_splits(self) -> bool:
        """Return whether the last tree has any split."""
        last = self._booster[self._rounds - 1 : self._rounds]
        return any("yes=" in tree for tree in last.get_dump())

    def valid_scores(self) -> np.ndarray:
        """Return the scores of the validation data after the last round."""
        return self._booster.predict(self._valid, output_margin=True).astype(np.float64)

    def model(self, rounds: int) -> "XGBoostModel":
        """Return the ensemble of the first `rounds` trees."""
        first = self._booster if rounds == self._rounds else self._booster[:rounds]
        return XGBoostModel(first.save_raw("json").decode())


class XGBoostModel(TextModel):
    """A trained XGBoost ensemble; its text is JSON."""

    #: The booster that predicts, and its number of threads. Another number takes another booster: to change it would
    #: take away the configuration that another thread predicts with.
    _predictor: tuple[int, Any] | None = None

    def predict(
        self, X: Any, groups: Groups | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Return one score per row."""
        with _plain_errors("predict"):
            booster = self._with_threads(forks.engine_threads(n_jobs))
            scores = booster.inplace_predict(_parameters.dense(X), predict_type="margin")
        return scores.astype(np.float64)

    def loaded(self) -> Any:
        """Return XGBoost's own object."""
        if self._predictor is None:
            return self._with_threads(forks.engine_threads(None))
        return self._predictor[1]

    def _with_threads(self, count: int) -> Any:
        """Return a booster that predicts with so many threads."""
        if self._predictor is None or self._predictor[0] != count:
            booster = self._read()
            booster.set_param({"nthread": count})
            booster.num_features()  # parameters are read only now
            self._predictor = count, booster
            return booster
        return self._predictor[1]

    def importances(self) -> np.ndarray:
        """Return the total gain of the splits on each feature."""
        with _plain_errors("compute importances"):
            booster = self.loaded()
            gained = booster.get_score(importance_type="total_gain")
        return np.array([gained.get(f"f{i}", 0.0) for i in range(booster.num_features())])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_predictor": None}

    def _read(self) -> Any:
        _limit_forked()
        return xgb.Booster(model_file=bytearray(self.text.encode()))


def start(params: dict[str, Any], task: TrainingTask) -> XGBoostEngine:
    """Begin a training run; parameters have the shared names or XGBoost's own."""
    _limit_forked()
    return XGBoostEngine(translate(params), task)


def _limit_forked() -> None:
    """Let XGBoost use one thread in a forked process, also where it has no parameter; this holds for one thread."""
    if forks.in_child():
        xgb.set_config(nthread=1)


def check_params(params: dict[str, Any], objective: Any) -> None:
    """Raise unless XGBoost has these parameters."""
    translate(params)


def load(text: str) -> XGBoostModel:
    """Return the model that `text` holds, or raise if it is damaged: XGBoost itself may not notice."""
    xgboost_text.check(text)
    model = XGBoostModel(text)
    with _plain_errors("read the model"):
        model.loaded()
    return model


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
    out["nthread"] = forks.engine_threads(out.get("nthread"))
    out["max_depth"] = max(out.get("max_depth", 0), 0)  # -1 means no limit, which is 0 in XGBoost
    out.setdefault(
        "grow_policy", "lossguide"
    )  # the leaf of the largest gain first, so that max_leaves is the limit
    out.setdefault("tree_method", "hist")
    if out.get("booster", "gbtree") not in ("gbtree", "dart"):
        raise checks.InputError(f"booster must be 'gbtree' or 'dart', got {out['booster']!r}.")
    out |= {"base_score": 0.0, "disable_default_eval_metric": True, "verbosity": 1}
    # Constraints fit the data, not the single column that names are tried with.
    ours = ("categorical_feature", "monotone_constraints", "interaction_constraints")
    _check_names({k: v for k, v in out.items() if k not in ours})
    return out


def _text(name: str, value: Any) -> Any:
    """Return constraints as the text that XGBoost reads."""
    if name == "monotone_constraints":
        return "(" + ",".join(map(str, value)) + ")"
    return json.dumps(value) if name == "interaction_constraints" else value


def _check_names(params: dict[str, Any]) -> None:
    """Raise if XGBoost lacks a parameter or can't read its value; XGBoost itself would only warn."""
    wrong = [name for name in _DART if name in params]
    if wrong and params.get("booster") != "dart":  # not every version of XGBoost warns
        raise checks.InputError(f"{wrong[0]} needs booster='dart'.")
    smallest = xgb.DMatrix(np.zeros((1, 1)), nthread=1)
    with _plain_errors(), warnings.catch_warnings(record=True) as caught:
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


def _matrices(params: dict[str, Any], kinds: list[str] | None, task: TrainingTask) -> list[Any]:
    """Return the training data and, if there is any, the validation data as XGBoost's matrices."""

    def both() -> list[Any]:
        make = _maker(params, kinds)
        train = make(task.train.X)
        return [train] if task.valid is None else [train, make(task.valid.X, train)]

    key = (params["tree_method"], params.get("max_bin"), params["nthread"], kinds)
    return task.once("binned", key, both)


def _maker(params: dict[str, Any], kinds: list[str] | None) -> Any:
    """Return a function that makes XGBoost's matrices: binned ones, which need no copy of the values, if possible."""
    options: dict[str, Any] = {"nthread": params["nthread"]}
    if kinds is not None:
        options |= {"feature_types": kinds, "enable_categorical": True}
    if params["tree_method"] == "hist":
        options["max_bin"] = params.get("max_bin", 256)
        return lambda X, ref=None: xgb.QuantileDMatrix(_parameters.dense(X), ref=ref, **options)
    return lambda X, ref=None: xgb.DMatrix(_parameters.dense(X), **options)
