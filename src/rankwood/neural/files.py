"""A NeuralRanker on disk: one JSON object, with the weights in the safetensors format as text."""

from pathlib import Path
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.neural.architectures.table import build
from rankwood.neural.parameters import check_params
from rankwood.neural.scoring import FittedNetwork, check_shapes
from rankwood.neural.tensors import from_text, nested, prefixed, to_text
from rankwood.neural.transforms import InputTransform, check_steps
from rankwood.training import content_checks, model_file

#: Fields of a neural ranker and their types.
_FIELDS = {**model_file.FITTED, "stopped": str, "fitted": dict, "model": str}


def content_of(ranker: Any) -> dict[str, Any]:
    """Return a fitted ranker as an object for JSON."""
    model: FittedNetwork = ranker.model_
    arrays = {
        **prefixed(model.transform.arrays, "transform."),
        **prefixed(model.weights, "network."),
    }
    return {
        **model_file.fitted_content(ranker),
        "stopped": ranker.stopped_,
        "fitted": {name: model_file.to_json(value) for name, value in model.params.items()},
        "model": to_text(arrays),
    }


def fill(ranker: Any, content: Any, path: str | Path) -> None:
    """Fill a new ranker from the object that `content_of` returned."""
    model_file.require(content, _FIELDS, path)
    content_checks.check_fitted(content, path)
    for params in (content["params"], content["fitted"]):
        unknown = sorted(set(params) - set(ranker.get_params(deep=False)))
        if unknown:
            raise checks.InputError(
                f"{path} is damaged: NeuralRanker has no parameter {unknown[0]!r}."
            )
    ranker.model_ = _model(ranker, content, path)
    model_file.fill_fitted(ranker, content, path)
    ranker.stopped_ = content["stopped"]
    ranker.record_ = {}


def _model(ranker: Any, content: dict[str, Any], path: str | Path) -> FittedNetwork:
    """Return the network of a file; raise unless its weights have the shapes that its parameters give."""
    params = ranker.set_params(**content["fitted"]).get_params(deep=False)
    try:
        check_params(ranker)
    except checks.InputError as error:
        raise checks.InputError(f"{path} is damaged: {error}") from None
    arrays = from_text(content["model"], path)
    transform = _transform(params, nested(arrays, "transform."), content["n_features"], path)
    weights = nested(arrays, "network.")
    if max(len(params["hidden"]), params["layers"]) > max(len(weights), 8):
        raise content_checks.damaged(path, "its parameters have more layers than there are weights")
    expected = build(params["architecture"], transform.inputs, params, "meta").state_dict()
    check_shapes(weights, {name: tuple(a.shape) for name, a in expected.items()}, path)
    kinds = {name: str(a.dtype).removeprefix("torch.") for name, a in expected.items()}
    _check_kinds(weights, kinds, path)
    return FittedNetwork(params, transform, weights)


def _transform(
    params: dict[str, Any], arrays: dict[str, np.ndarray], features: int, path: str | Path
) -> InputTransform:
    """Return the input transform of a file."""
    steps = check_steps(params["transform"])
    if arrays.get("missing", np.zeros(0)).shape != (features,):
        raise content_checks.damaged(path, f"its input transform isn't one of {features} features")
    model = InputTransform.fit(np.zeros((1, features)), steps)
    check_shapes(arrays, {name: np.shape(a) for name, a in model.arrays.items()}, path)
    _check_kinds(arrays, {name: str(a.dtype) for name, a in model.arrays.items()}, path)
    return InputTransform(steps, arrays)


def _check_kinds(arrays: dict[str, np.ndarray], expected: dict[str, str], path: str | Path) -> None:
    """Raise unless arrays hold numbers of the expected types."""
    for name, kind in expected.items():
        if str(arrays[name].dtype) != kind:
            raise content_checks.damaged(
                path, f"the weights {name!r} are {arrays[name].dtype}, expected {kind}"
            )
