"""Models on disk: one JSON object, a header and the engine's own text. No pickle anywhere.

What `content_of` makes of a ranker has no header, so that it can be a part of a larger file.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood._core.jit import is_part
from rankwood._version import __version__
from rankwood.engines import base
from rankwood.objectives.families.registry import objective

_FORMAT = "rankwood-model"
_VERSION = 1


def write(ranker: Any, path: str | Path) -> None:
    """Write a fitted ranker; an existing file stays whole until the new one is."""
    write_content(content_of(ranker), path)


def read(ranker: Any, path: str | Path) -> None:
    """Fill a new ranker from a file."""
    fill(ranker, read_content(path, "Ranker"), path)


def content_of(ranker: Any) -> dict[str, Any]:
    """Return a fitted ranker as an object for JSON."""
    return {
        "engine": ranker.engine,
        "objective": repr(ranker.objective_),
        "n_features": ranker.n_features_in_,
        "feature_names": list(getattr(ranker, "feature_names_in_", [])) or None,
        "best_iteration": ranker.best_iteration_,
        "history": ranker.history_,
        "seconds": ranker.seconds_,
        "record": getattr(ranker, "record_", {}),
        "letor": getattr(ranker, "letor_", None),
        "params": params_of(ranker),
        "model": ranker.model_.text,
    }


def params_of(estimator: Any) -> dict[str, Any]:
    """Return parameters as an object for JSON."""
    return {k: _plain(v) for k, v in estimator.get_params(deep=False).items()}


def fill(ranker: Any, content: dict[str, Any], path: str | Path) -> None:
    """Fill a new ranker from the object that `content_of` made."""
    with sound(path):
        engine, text = content["engine"], content["model"]
        model = base.find(engine).load(text)
        ranker.set_params(**content["params"])
        ranker.objective_ = _objective(content["objective"], path)
        ranker.n_features_in_ = int(content["n_features"])
        if content["feature_names"]:
            ranker.feature_names_in_ = np.array(content["feature_names"], dtype=object)
        ranker.best_iteration_ = int(content["best_iteration"])
        if content["letor"]:
            ranker.letor_ = content["letor"]
        ranker.history_, ranker.seconds_ = content["history"], content["seconds"]
        ranker.record_ = content.get("record", {})  # older files have none
        ranker.model_ = model


@contextmanager
def sound(path: str | Path) -> Iterator[None]:
    """Say that a file is damaged if what is in it can't be used."""
    try:
        yield
    except KeyError as error:
        raise checks.InputError(f"{path} is damaged: {error} is missing.") from None
    except checks.InputError:
        raise
    except (TypeError, ValueError, AttributeError):
        raise checks.InputError(f"{path} is damaged: a value in it is of the wrong kind.") from None


def write_content(content: dict[str, Any], path: str | Path, kind: str = "Ranker") -> None:
    """Write an object with a header and a checksum; `kind` is the class that reads it."""
    head: dict[str, Any] = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "rankwood": __version__,
        "kind": kind,
    }
    whole = {**head, **content}
    whole["sha256"] = _checksum(whole)
    try:
        with replacing(path) as file:
            file.write(json.dumps(whole, indent=1).encode())
    except OSError as error:
        raise checks.InputError(f"{path} can't be written: {error.strerror}.") from None


def read_content(path: str | Path, kind: str) -> dict[str, Any]:
    """Return the object of a file that `write_content` wrote for this class."""
    content = _parse(path)
    if content.get("sha256") != _checksum(content):
        raise checks.InputError(f"{path} is damaged: its content doesn't match its checksum.")
    got = content.get("kind", "Ranker")  # older files are all of rankers
    if got != kind:
        raise checks.InputError(f"{path} holds a {got}, not a {kind}: read it with {got}.load.")
    return content


def _objective(text: str, path: str | Path) -> Any:
    """Return the objective of a model, which may be made of parts that nobody has imported yet."""
    try:
        return objective(text)
    except checks.InputError as error:
        raise checks.InputError(
            f"{path} was trained with {text}: {str(error).rstrip('.')}; import the module that defines "
            "its parts first."
        ) from None


def _checksum(content: dict[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _parse(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a model file, or say what the file is instead."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise checks.InputError(f"{path} is no Rankwood model: it is a binary file.") from None
    except OSError as error:
        raise checks.InputError(f"{path} can't be read: {error.strerror}.") from None
    if text.startswith("tree\n"):
        raise checks.InputError(
            f"{path} is a model of LightGBM itself, not one that Ranker.save wrote; "
            "read it with lightgbm.Booster(model_file=...)."
        )
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise checks.InputError(
            f"{path} is no Rankwood model, or a damaged one: not JSON at line {error.lineno}."
        ) from None
    except RecursionError:
        raise checks.InputError(f"{path} is no Rankwood model: JSON too deep.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise checks.InputError(f"{path} is JSON, but no model that Ranker.save wrote.")
    if content.get("format_version") != _VERSION:
        raise checks.InputError(
            f"{path} has format version {content.get('format_version')}, this Rankwood reads "
            f"{_VERSION}; it was written by Rankwood {content.get('rankwood')}."
        )
    return content


def _plain(value: Any) -> Any:
    """Return a parameter in a form that JSON has: parts go by their printed form."""
    if is_part(value):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value if isinstance(value, (str, int, float, bool, dict, type(None))) else repr(value)
