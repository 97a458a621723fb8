"""Validate the fields of a model file: a checksum detects damage, not tampering."""

import math
from pathlib import Path
from typing import Any

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood._util.envelope import damaged as damaged
from rankwood.engines.saved_model import check_features as check_features
from rankwood.engines.saved_model import check_number

_MOST_ROUNDS = 10**9


def check_fitted(content: dict[str, Any], path: str | Path) -> None:
    """Raise unless the fields that every ranker has can be used."""
    check_features(content, path)
    check_number(content["best_iteration"], _MOST_ROUNDS, "best_iteration", path)
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
    """Return whether `float` accepts a value, and it isn't infinite."""
    try:
        return not math.isinf(float(value))
    except (TypeError, ValueError, OverflowError):
        return False
