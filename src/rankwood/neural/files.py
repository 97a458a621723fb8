"""The network of a model file: its parameters, and its weights in the safetensors format as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood._util.envelope import damaged, require
from rankwood.neural.architectures.table import REVISION, build
from rankwood.neural.parameters import NetworkParams, checked_objective, fitted_params
from rankwood.neural.scoring import FittedNetwork, check_shapes
from rankwood.neural.tensors import from_text, nested
from rankwood.neural.transforms import InputTransform, check_steps

_FIELDS = {"fitted": dict, "model": str}


def load_network(
    defaults: Mapping[str, Any], content: dict[str, Any], path: str | Path
) -> FittedNetwork:
    """Return the network of a file; raise unless its weights have the shapes that its parameters give."""
    require(content, _FIELDS, path)
    fitted = {"revision": 1, **content["fitted"]}
    revision = fitted.pop("revision")
    if revision not in range(1, REVISION + 1):
        raise checks.InputError(
            f"{path} holds a network of revision {revision!r}, and this version of Rankwood knows 1 to {REVISION}: "
            "update Rankwood if a later version wrote the file; otherwise the file is damaged."
        )
    for values in (content["params"], fitted):
        unknown = sorted(set(values) - set(defaults))
        if unknown:
            raise checks.InputError(
                f"{path} is damaged: NeuralRanker has no parameter {unknown[0]!r}."
            )
    params = NetworkParams(**{**defaults, **fitted}, revision=revision)
    try:
        checked_objective(params, defaults)
    except checks.InputError as error:
        raise checks.InputError(f"{path} is damaged: {error}") from None
    arrays = from_text(content["model"], path)
    values = vars(params)
    transform = _transform(values, nested(arrays, "transform."), content["n_features"], path)
    weights = nested(arrays, "network.")
    if max(len(params.hidden), params.layers) > max(len(weights), 8):
        raise damaged(path, "its parameters have more layers than there are weights")
    expected = build(params.architecture, transform.inputs, values, "meta").state_dict()
    check_shapes(weights, {name: tuple(a.shape) for name, a in expected.items()}, path)
    kinds = {name: str(a.dtype).removeprefix("torch.") for name, a in expected.items()}
    _check_kinds(weights, kinds, path)
    return FittedNetwork(fitted_params(params), transform, weights)


def _transform(
    params: dict[str, Any], arrays: dict[str, np.ndarray], features: int, path: str | Path
) -> InputTransform:
    """Return the input transform of a file."""
    steps = check_steps(params["transform"])
    if arrays.get("missing", np.zeros(0)).shape != (features,):
        raise damaged(path, f"its input transform isn't one of {features} features")
    model = InputTransform.fit(np.zeros((1, features)), steps)
    check_shapes(arrays, {name: np.shape(a) for name, a in model.arrays.items()}, path)
    _check_kinds(arrays, {name: str(a.dtype) for name, a in model.arrays.items()}, path)
    return InputTransform(steps, arrays)


def _check_kinds(arrays: dict[str, np.ndarray], expected: dict[str, str], path: str | Path) -> None:
    """Raise unless arrays hold numbers of the expected types."""
    for name, kind in expected.items():
        if str(arrays[name].dtype) != kind:
            raise damaged(path, f"the weights {name!r} are {arrays[name].dtype}, expected {kind}")
