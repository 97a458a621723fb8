"""Checks of the fields of a model file beside the text of its engine: a checksum says nothing about who wrote it."""

import math
import os
import stat
from pathlib import Path
from typing import Any

from rankwood._core import checks, threads
from rankwood._core.text import plural
from rankwood.engines._parameters import MOST_FEATURES

_LARGEST = 1 << 32  # bytes of a file
_DEEPEST = 64  # objects and lists inside each other
_MOST_ROUNDS = 10**9


def damaged(path: str | Path, why: str) -> checks.InputError:
    """Return the error for a file whose content can't be right."""
    return checks.InputError(f"{path} is damaged: {why}.")


def read_text(path: str | Path) -> str:
    """Return the text of a file; raise if it is a device, too large, or not text."""
    try:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                raise checks.InputError(f"{path} is a device, expected a model file.")
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise checks.InputError(f"{path} is larger than any model: above {_LARGEST >> 30} GiB.")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise checks.InputError(f"{path} is not a Rankwood model: it is a binary file.") from None
    except OSError as error:
        raise checks.InputError(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        if isinstance(error, checks.InputError):
            raise
        raise checks.InputError(f"{str(path)!r} can't be the name of a file.") from None


def check_depth(content: Any, path: str | Path) -> None:
    """Raise if objects and lists are nested too deep."""
    level = [content] if isinstance(content, (dict, list)) else []
    for _ in range(_DEEPEST):
        inside = [list(item.values()) if isinstance(item, dict) else item for item in level]
        level = [item for items in inside for item in items if isinstance(item, (dict, list))]
        if not level:
            return
    raise damaged(path, f"values are nested more than {_DEEPEST} deep")


def check_features(content: dict[str, Any], path: str | Path) -> None:
    """Raise unless there is a possible number of features, and a name for each if there are names."""
    count, names = content["n_features"], content["feature_names"]
    _check_number(count, MOST_FEATURES, "n_features", path)
    if names is None:
        return
    if len(names) != count or not all(isinstance(name, str) for name in names):
        raise damaged(path, f"'feature_names' must be {count} names")


def check_model_features(of_model: int, of_file: int, path: str | Path) -> None:
    """Raise unless a file and the text of its model have the same number of features."""
    if of_model != of_file:
        raise damaged(
            path,
            f"'n_features' is {of_file}, and its model was trained on {plural(of_model, 'feature')}",
        )


def check_fitted(content: dict[str, Any], path: str | Path) -> None:
    """Raise unless the fields that every ranker has can be used."""
    check_features(content, path)
    _check_number(content["best_iteration"], _MOST_ROUNDS, "best_iteration", path)
    for name in ("history", "seconds", "record"):
        if not _is_curves(content.get(name, {})):
            raise damaged(path, f"{name!r} must be lists of numbers by name")
    sets = content.get("validation_sets") or []
    if not isinstance(sets, list) or not all(isinstance(name, str) for name in sets):
        raise damaged(path, "'validation_sets' must be a list of names")
    check_params(content["params"], path)
    check_letor(content["letor"], path)


def check_params(params: dict[str, Any], path: str | Path) -> None:
    """Raise unless parameters have possible names, and a possible number of threads."""
    for name in params:
        if not name.isidentifier() or "__" in name:
            raise damaged(path, f"{name[:40]!r} can't be the name of a parameter")
    try:
        threads.threads(params.get("n_jobs"))
    except checks.InputError as error:
        raise damaged(path, str(error).rstrip(".")) from None


def _check_number(value: Any, most: int, name: str, path: str | Path) -> None:
    """Raise unless a value is a whole number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise damaged(path, f"{name!r} must be a whole number from 0 to {most}")


def _is_curves(value: Any) -> bool:
    """Return whether a value is a number or None, or has nothing but those, in lists and by name."""
    if isinstance(value, dict):
        return all(map(_is_curves, value.values()))
    if isinstance(value, list):
        return all(map(_is_curves, value))
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def check_letor(letor: dict[str, Any] | None, path: str | Path) -> None:
    """Raise unless the options by which LETOR files are read can be used."""
    for name, value in (letor or {}).items():
        words = value if isinstance(value, list) else [value]
        good = all(word is None or isinstance(word, (str, bool, int, float)) for word in words)
        if name == "absent":
            good = good and _is_real(value)
        if name == "marker":
            good = isinstance(value, bool)
        if not good:
            raise damaged(path, f"'letor' has a value that can't be, at {name[:40]!r}")


def _is_real(value: Any) -> bool:
    """Return whether `float` takes a value, and it isn't infinite."""
    try:
        return not math.isinf(float(value))
    except (TypeError, ValueError, OverflowError):
        return False
