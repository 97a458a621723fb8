"""The few argument checks, and the one form of their messages: what, where, what was expected."""

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np


class InputError(ValueError):
    """Something the caller gave can't be used; the message says what, where and what would work."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" or a list of what exists, to end a sentence with."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "; known are " + ", ".join(sorted(known)) + "."


def vector(x: Any, name: str, size: int | None = None, dtype: Any = np.float64) -> np.ndarray:
    """Return `x` as a one-dimensional array of finite numbers, of length `size` if given."""
    try:
        a = np.asarray(x, dtype=dtype)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, got {type(x).__name__}.") from None
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {a.shape}.")
    if size is not None and a.size != size:
        raise InputError(f"{name} has {a.size} values, but there are {size} rows.")
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        row = int(np.flatnonzero(~np.isfinite(a))[0])
        raise InputError(f"{name} must be finite numbers, got {a[row]} at row {row}.")
    return a


def labels(y: Any, size: int | None = None) -> np.ndarray:
    """Return relevance labels: finite and not negative."""
    a = vector(y, "y", size)
    if a.size and a.min() < 0:
        row = int(np.argmin(a))
        raise InputError(f"y must not be negative, got {a[row]:g} at row {row}.")
    return a


def at_least(value: Any, low: int, name: str) -> int:
    """Return `value` as an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} must be an integer, got {value!r}.")
    if value < low:
        raise InputError(f"{name} must be at least {low}, got {value}.")
    return int(value)


def finite(value: Any, name: str) -> float:
    """Return `value` as a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, got {value!r}.")
    if not np.isfinite(value):
        raise InputError(f"{name} must be finite, got {value}.")
    return float(value)


def positive(value: Any, name: str) -> float:
    """Return `value` as a finite number above 0."""
    if finite(value, name) <= 0:
        raise InputError(f"{name} must be positive, got {value}.")
    return float(value)


def one_of(value: Any, known: Iterable[Any], name: str) -> Any:
    """Return `value` if it is one of `known`."""
    known = list(known)
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}.")
    return value
