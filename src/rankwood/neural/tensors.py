"""Arrays as text: the safetensors format in base64, which JSON can hold."""

import base64
import binascii
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.neural.library import need_torch


def to_text(arrays: dict[str, np.ndarray]) -> str:
    """Return arrays by name as text."""
    need_torch()
    from safetensors.numpy import save

    whole = {name: np.ascontiguousarray(a).reshape(np.shape(a)) for name, a in arrays.items()}
    return base64.b64encode(save(whole)).decode("ascii")


def from_text(text: str, path: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a text that `to_text` made."""
    need_torch()
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(base64.b64decode(text, validate=True)))
    except (SafetensorError, binascii.Error, ValueError):
        raise checks.InputError(
            f"{path} is damaged: its weights are not in the safetensors format."
        ) from None


def nested(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, without it."""
    size = len(prefix)
    return {name[size:]: a for name, a in arrays.items() if name.startswith(prefix)}


def prefixed(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return arrays with a prefix before their names."""
    return {prefix + name: a for name, a in arrays.items()}
