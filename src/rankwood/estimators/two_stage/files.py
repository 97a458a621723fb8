"""A TwoStage on disk: its own fields, and a ranker for each model of its stages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood._util.envelope import damaged, require
from rankwood.data.tables.schema import Schema, renamed_since
from rankwood.estimators.base import RankingEstimator
from rankwood.estimators.fitted import TrainedFacts
from rankwood.estimators.loading import estimator_class
from rankwood.estimators.ranker import Ranker
from rankwood.estimators.two_stage.first_stage import FORMER, check_settings
from rankwood.fit.context import FitContext
from rankwood.fit.files import content_checks, model_file
from rankwood.fit.files.checkpoint import locked
from rankwood.fit.origin import origin_from

_STAGES = ("first", "second")
_KIND = "kind"  # the class of a stage that isn't a Ranker
_NAMING = ("differences", "categorical_feature", "monotone", "interactions")  # name features
#: Fields of a TwoStage and their types.
_TWO_STAGE = {
    "params": dict,
    "n_features": int,
    "feature_names": (list, NoneType),
    "folds": list,
    "seconds": dict,
    "first": list,
    "second": dict,
}


@contextmanager
def opened_checkpoint(model: Any, context: FitContext) -> Iterator[None]:
    """Keep other processes from the checkpoint of a TwoStage, and check before training that it can be written."""
    checkpoint = context.checkpoint
    if checkpoint is None:
        yield
        return
    path = checkpoint.path
    for name in _STAGES:
        stage = getattr(model, name)
        if stage is not None and not isinstance(stage, RankingEstimator):
            raise checks.InputError(
                f"checkpoint needs stages that are Rankers or NeuralRankers, and {name} is a {type(stage).__name__}: "
                "omit checkpoint."
            )
    with locked(path):
        first = context.stage_of("first", 1, "fold-1").checkpoint
        begun = first is not None and os.path.exists(first.path)
        if checkpoint.resume == "must" and not begun:
            raise checks.InputError(f"there is no checkpoint {path} to resume from.")
        if checkpoint.resume != "never" and os.path.exists(path) and not begun:
            raise checks.InputError(
                f"{path} is there, and isn't the checkpoint of a TwoStage: give another file, so that it isn't lost."
            )
        yield


def stages_content(model: Any) -> dict[str, Any]:
    """Return a fitted TwoStage as an object for JSON."""
    params = {name: _params_of(getattr(model, name), name) for name in _STAGES}
    stored = model_file.params_as_json(model.get_params(deep=False))
    return {
        "params": {**stored, **params},
        "n_features": model.n_features_in_,
        "feature_names": model._feature_names(),
        "data_size": getattr(model, "data_size_", None),
        "origin": getattr(model, "origin_", None),
        "folds": model.folds_.tolist(),
        "seconds": model.seconds_,
        "letor": getattr(model, "letor_", None),
        "first": [_ranker_content(ranker, "first") for ranker in model.first_],
        "refit": None if model.refit_ is None else _ranker_content(model.refit_, "first"),
        "second": _ranker_content(model.second_, "second"),
    }


def fill_stages(model: Any, content: Any, path: str | Path) -> None:
    """Fill a new TwoStage from the object that `stages_content` returned."""
    require(content, _TWO_STAGE, path)
    params = {"serve": FORMER, **content["params"]}  # older files name no other way to serve
    require(params, dict.fromkeys(_STAGES, (dict, NoneType)), path)
    second, params["second"] = _second_stage(content)
    unknown = sorted(set(params) - set(model.get_params(deep=False)))
    if unknown:
        raise checks.InputError(
            f"{path} is damaged: 'params' is of the wrong kind, TwoStage has no parameter {unknown[0]!r}."
        )
    for name in _STAGES:
        params[name] = None if params[name] is None else _unfitted(params[name], path)
    content_checks.check_features(content, path)
    letor = content.get("letor")
    require({"letor": letor}, {"letor": (dict, NoneType)}, path)
    content_checks.check_letor(letor, path)
    model.set_params(**params)
    model.folds_ = np.array(content["folds"], np.int64)
    model.seconds_ = content["seconds"]
    if letor:  # how the command line read the files
        model.letor_ = letor
    model.first_ = [_ranker_from(ranker, path) for ranker in content["first"]]
    refit = content.get("refit")
    model.refit_ = None if refit is None else _ranker_from(refit, path)
    model.second_ = _ranker_from(second, path)
    categories = model.first_[0].categories_ if model.first_ else {}  # those of X
    model._trained_on = TrainedFacts(
        Schema(content["n_features"], content["feature_names"], categories),
        model_file.data_size_from(content.get("data_size")),
        origin_from(content.get("origin")),
    )
    _check_stages(model, path)


def _renamed(value: Any) -> Any:
    """Return names of features, or parameters that have some, as they are now; 0.4 and before gave them others."""
    if isinstance(value, str):
        return renamed_since([value])[0]
    if isinstance(value, list):
        return [_renamed(one) for one in value]
    if isinstance(value, dict):
        return {_renamed(name): one for name, one in value.items()}
    return value


def _second_stage(content: dict[str, Any]) -> tuple[Any, Any]:
    """Return the second stage of a file, and its parameters, with the names that features without names have now."""
    stage, params = content["second"], content["params"].get("second")
    if content["feature_names"] is not None:
        return stage, params
    return _with_names(stage, ("feature_names",)), _with_names(params, _NAMING)


def _with_names(content: Any, fields: tuple[str, ...]) -> Any:
    if not isinstance(content, dict):
        return content
    renamed = {name: _renamed(content[name]) for name in fields if name in content}
    if "params" in content:
        renamed["params"] = _with_names(content["params"], _NAMING)
    return {**content, **renamed}


def _check_stages(model: Any, path: str | Path) -> None:
    """Raise unless a TwoStage that was read has stages, and parameters with which it can predict."""
    try:
        check_settings(model)
    except checks.InputError as error:
        raise damaged(path, str(error).rstrip(".")) from None
    if not model.first_ or any(r.n_features_in_ != model.n_features_in_ for r in model.first_):
        raise damaged(path, "'first' must be rankers of as many features as the whole model")
    if any(r.categories_ != model.first_[0].categories_ for r in model.first_):
        raise damaged(path, "'first' must be rankers with the same categories")


def _params_of(ranker: Any, stage: str) -> dict[str, Any] | None:
    """Return the parameters of a stage as an object for JSON, or None for a default stage."""
    if ranker is None:
        return None
    return {**_kind_of(ranker, stage), **model_file.params_as_json(ranker.get_params(deep=False))}


def _ranker_content(ranker: Any, stage: str) -> dict[str, Any]:
    """Return a fitted stage as an object for JSON."""
    return {**_kind_of(ranker, stage), **ranker._content()}


def _kind_of(ranker: Any, stage: str) -> dict[str, str]:
    """Return the class of a stage, or raise if it can't be saved; a stage without one is a Ranker."""
    if not isinstance(ranker, RankingEstimator) or ranker._kind == "TwoStage":
        raise checks.InputError(
            f"a file can hold stages that are Rankers, and {stage} is a {type(ranker).__name__}: save it yourself."
        )
    return {} if isinstance(ranker, Ranker) else {_KIND: ranker._kind}


def _split(content: Any, path: str | Path) -> tuple[Any, dict[str, Any]]:
    """Return the class of a stage, and its object without it."""
    require(content, {}, path)
    kind = str(content.get(_KIND, Ranker._kind))
    rest = {name: value for name, value in content.items() if name != _KIND}
    try:
        return estimator_class(kind), rest
    except checks.InputError as error:
        raise checks.InputError(f"{path} is damaged: {error}") from None


def _unfitted(params: Any, path: str | Path) -> Any:
    """Return the ranker of an object that `_params_of` returned."""
    kind, rest = _split(params, path)
    return kind().set_params(**rest)


def _ranker_from(content: Any, path: str | Path) -> Any:
    """Return the ranker of an object that `_ranker_content` returned."""
    kind, rest = _split(content, path)
    ranker = kind()
    ranker._fill(rest, path)
    return ranker
