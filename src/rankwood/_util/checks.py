"""Checks of arguments, with error messages of one form: what is wrong, where, and what was expected."""

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._util.text import printable


class InputError(ValueError):
    """An argument or a file can't be used; the message says what is wrong, where, and what would work.

    It is a `ValueError`.

    Examples
    --------
    >>> import rankwood as rw
    >>> try:
    ...     rw.metric("ndcgg@10")
    ... except rw.InputError as error:
    ...     print(error)
    unknown metric 'ndcgg'; did you mean 'ndcg' or 'bndcg' or 'dcg'?
    """

    def __str__(self) -> str:
        # Messages quote names and files as they were given; a line break must not split a message.
        return printable(super().__str__())


def nearest(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?", or the names there are, as the end of an error message."""
    names = list(names)
    name = name.lower()  # names are; a part's is found by its letters all the same
    close = [k for k in names if name and k.lower().startswith(name)][:4]
    names = sorted(names)
    lower = {k.lower(): k for k in names}
    close = close or [lower[k] for k in difflib.get_close_matches(name, lower, n=3, cutoff=0.6)]
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return "; known are " + ", ".join(names[:20]) + more + "."


def vector(x: Any, name: str, size: int | None = None) -> np.ndarray:
    """Return `x` as a one-dimensional array of finite float64, of length `size` if given."""
    a = numbers(x, name)
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {a.shape}.")
    if size is not None and a.size != size:
        raise InputError(f"{name} has {a.size} values, but there are {size} rows.")
    if not np.isfinite(a).all():
        row = int(np.flatnonzero(~np.isfinite(a))[0])
        raise InputError(f"{name} must be finite numbers, got {a[row]} at row {row}.")
    # Kernels are compiled for arrays of one kind: in one piece, and writable.
    return np.require(a, requirements=["C", "W"])


def numbers(x: Any, name: str, keep: tuple[Any, ...] = (np.float64,)) -> np.ndarray:
    """Return `x` as an array of float64, or unchanged if its type is in `keep`; masked values are NaN."""
    kind = type(x).__name__
    if x is None or isinstance(x, (str, bytes)):
        raise InputError(f"{name} must hold numbers, got {x!r}.")
    try:
        a = x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
        if a.dtype.kind == "c":
            raise InputError(
                f"{name} must hold numbers, got {kind} of {a.dtype} (Complex data not supported): give real and "
                "imaginary parts as two columns."
            )
        if a.dtype.kind not in "fiubO":
            raise InputError(
                f"{name} must hold numbers, got {kind} of {a.dtype}; convert it first."
            )
        if isinstance(x, np.ma.MaskedArray):
            a = x.astype(np.float64).filled(np.nan)  # type: ignore[attr-defined]
        if a.dtype == object and any(isinstance(v, (str, bytes)) for v in a.flat):
            raise InputError(f"{name} must hold numbers, got text among them; convert it first.")
        return a if a.dtype in keep else a.astype(np.float64)
    except OverflowError:
        raise InputError(f"{name} must hold numbers below 1.8e308, got a larger one.") from None
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} must hold numbers, got {kind} with other values in it.") from None


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
        raise InputError(f"{name} must be at least {low}, got {_short(value)}.")
    if value >= 2**62:
        raise InputError(f"{name} must be below 2^62, got {_short(value)}.")
    return int(value)


def _short(value: Any) -> str:
    """Return an integer as text; Python refuses to print integers of thousands of digits."""
    return str(value) if abs(value) < 10**40 else f"a number of about {value.bit_length()} bits"


def finite(value: Any, name: str) -> float:
    """Return `value` as a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{name} must be a number below 2^1024, got a larger one.") from None
    if not np.isfinite(number):
        raise InputError(f"{name} must be finite, got {value}.")
    return number


def positive(value: Any, name: str) -> float:
    """Return `value` as a finite number above 0."""
    if finite(value, name) <= 0:
        raise InputError(f"{name} must be positive, got {value}.")
    return float(value)


def non_negative(value: Any, name: str) -> float:
    """Return `value` as a finite number of at least 0."""
    if finite(value, name) < 0:
        raise InputError(f"{name} must not be negative, got {value}.")
    return float(value)


def fraction(value: Any, name: str) -> float:
    """Return `value` as a number between 0 and 1, both excluded."""
    if not 0 < finite(value, name) < 1:
        raise InputError(f"{name} must be between 0 and 1, got {value:g}.")
    return float(value)


def one_of(value: Any, choices: Iterable[Any], name: str) -> Any:
    """Return `value` if it is one of `choices`."""
    choices = list(choices)
    if not any(value is k or (type(value) in (type(k), str) and value == k) for k in choices):
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value
