"""A forest on disk: one JSON object with a list for each array. Nothing is pickled, and nothing in it is trusted."""

import json
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.atomic import replacing
from rankwood._util.envelope import damaged, read_content, read_text, require
from rankwood._version import __version__
from rankwood.engines.model_trees.arrays import ARRAYS
from rankwood.engines.saved_model import check_features, saved_model

if TYPE_CHECKING:
    from rankwood.forest.record import Forest

_FORMAT, _VERSION = "rankwood-forest", 1
_PLAIN = ("engine", "base", "float32_input", "float32_sum", "n_features", "feature_names")
#: Fields of a ranker's model file that a forest is made from, and their types.
_MODEL = {"engine": str, "model": str, "n_features": int, "feature_names": (list, NoneType)}
_START = 200  # characters that the format is in
_HEADER = {"format", "format_version", "rankwood"}
#: How JSON writes infinite thresholds: it has no numbers for them.
_INFINITE = {"inf": np.inf, "-inf": -np.inf}


def write_forest(forest: "Forest", path: str | Path) -> None:
    """Write a forest to a file."""
    content: dict[str, Any] = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        **{name: getattr(forest, name) for name in _PLAIN},
        **{name: getattr(forest, name).tolist() for name in ARRAYS},
    }
    content["threshold"] = [t if np.isfinite(t) else str(t) for t in content["threshold"]]
    try:
        with replacing(path) as file:
            file.write(json.dumps(content, allow_nan=False).encode())
    except OSError as error:
        raise checks.InputError(f"{path} can't be written: {error.strerror}.") from None


def is_forest_file(path: str | Path) -> bool:
    """Return whether a file begins as those of forests do; False if it can't be read."""
    try:
        with open(path, "rb") as file:
            return f'"{_FORMAT}"'.encode() in file.read(_START)
    except OSError:
        return False


def read_forest(kind: type["Forest"], path: str | Path) -> "Forest":
    """Return the forest of a file: one that `write_forest` wrote, or a model file of a ranker."""
    text = read_text(path)
    if f'"{_FORMAT}"' not in text[:_START]:
        return _of_model_file(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise checks.InputError(f"{path} is not a forest, or a damaged one: not JSON.") from None
    try:
        return kind(**_fields(content))
    except checks.InputError as error:
        raise damaged(path, str(error).rstrip(".")) from None


def _of_model_file(path: str | Path) -> "Forest":
    """Return the forest of a ranker's model file; what it says beside the model is not needed."""
    from rankwood.forest.convert.conversion import forest_of  # it imports `Forest`

    content = read_content(path, "Ranker")
    require(content, _MODEL, path)
    check_features(content, path)
    return forest_of(saved_model(content, path), content["feature_names"] or None)


def _fields(content: Any) -> dict[str, Any]:
    """Return the fields of a forest; raise unless all are there, and no others."""
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise checks.InputError("it is JSON, but not a forest")
    if content.get("format_version") != _VERSION:
        raise checks.InputError(
            f"it has format version {content.get('format_version')!r}, this Rankwood reads {_VERSION}"
        )
    names_of_fields = {*_PLAIN, *ARRAYS}
    for name in sorted(names_of_fields ^ (set(content) - _HEADER)):
        problem = "is missing" if name in names_of_fields else "doesn't belong there"
        raise checks.InputError(f"{name[:40]!r} {problem}")
    for name in ARRAYS:
        if not isinstance(content[name], list):
            raise checks.InputError(f"{name} must be a list")
    if not all(isinstance(content[name], bool) for name in ("float32_input", "float32_sum")):
        raise checks.InputError("float32_input and float32_sum must be true or false")
    names = content["feature_names"]
    if names is not None and not isinstance(names, list):
        raise checks.InputError("feature_names must be a list or null")
    fields = {name: content[name] for name in names_of_fields}
    fields["threshold"] = [
        _INFINITE.get(t, t) if isinstance(t, str) else t for t in content["threshold"]
    ]
    return fields
