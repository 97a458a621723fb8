"""The rules that keep every document in its leaf although a target compares in other widths, or by ``<``.

A forest sends a document to the left if ``x <= t``. Each function here returns, for all thresholds at once, the numbers
that a target must compare with. Where no finite number will do, the two children are exchanged: a `Cuts` says where.
"""

from typing import NamedTuple

import numpy as np

LARGEST32 = float(np.finfo(np.float32).max)
LARGEST64 = float(np.finfo(np.float64).max)
#: What Solr adds to every threshold, in float32.
SLACK = np.float32(1e-6)
#: Thresholds at the ends of the range overflow on purpose.
_quiet = np.errstate(over="ignore", under="ignore", invalid="ignore")


class Cuts(NamedTuple):
    """Thresholds as a target compares them."""

    #: float32 or float64 [nodes], finite, never -0.0.
    threshold: np.ndarray
    #: bool [nodes]: what the forest sends to the left goes to the right, and the other way round.
    swapped: np.ndarray
    #: bool [nodes]: whether every finite value takes the side that the forest gives it.
    exact: np.ndarray


@_quiet
def floor32(t: np.ndarray) -> np.ndarray:
    """Return the largest float32 that isn't above `t`, which may be an infinity.

    Parameters
    ----------
    t : array of float64
        Numbers.

    Returns
    -------
    array of float32
        The numbers rounded down.

    Examples
    --------
    >>> from rankwood.forest.export.cuts import floor32
    >>> import numpy as np
    >>> float(floor32(np.array([0.1]))[0]) < 0.1 < float(np.float32(0.1))
    True
    """
    t = np.asarray(t, np.float64)
    near = t.astype(np.float32)
    return np.where(near.astype(np.float64) > t, np.nextafter(near, np.float32(-np.inf)), near)


@_quiet
def above32(t: np.ndarray) -> np.ndarray:
    """Return the smallest float32 above `t`, which may be an infinity.

    Parameters
    ----------
    t : array of float64
        Numbers.

    Returns
    -------
    array of float32
        The next larger float32 numbers.

    Examples
    --------
    >>> from rankwood.forest.export.cuts import above32
    >>> import numpy as np
    >>> float(above32(np.array([1.0]))[0]) == 1 + 2**-23
    True
    """
    return np.nextafter(floor32(t), np.float32(np.inf))


def at_most_float32(t: np.ndarray) -> Cuts:
    """Return thresholds for targets that test ``x <= threshold`` in float32."""
    return _finite(floor32(t), LARGEST32, none_left=t < -LARGEST32)


def below_float32(t: np.ndarray) -> Cuts:
    """Return thresholds for targets that test ``x < threshold`` in float32."""
    # Nothing finite lies above FLT_MAX. So all go left there, as ``not x < -FLT_MAX`` does with exchanged children.
    all_left = t >= LARGEST32
    cuts = np.where(all_left, np.float32(-LARGEST32), above32(np.where(all_left, 0.0, t)))
    cuts = np.where(np.isneginf(cuts), np.float32(-LARGEST32), cuts)
    return Cuts(_no_negative_zero(cuts), all_left, np.ones(cuts.size, bool))


def at_most_float64(t: np.ndarray, float32_input: bool) -> Cuts:
    """Return thresholds for targets that test ``x <= threshold`` in float64.

    Parameters
    ----------
    t : array of float64
        Thresholds of the forest.
    float32_input : bool
        Whether the forest rounds values to float32 before it compares them.

    Returns
    -------
    Cuts
        Finite thresholds.
    """
    wide = before_rounding(t) if float32_input else np.asarray(t, np.float64)
    return _finite(wide, LARGEST64, none_left=np.isneginf(wide))


@_quiet
def before_rounding(t: np.ndarray) -> np.ndarray:
    """Return the largest float64 whose float32 is at most `t`, for thresholds that are float32 numbers.

    It is the midpoint of `t` and the next float32, or the double below the midpoint if a tie is rounded up: ties go
    to the number whose last bit is 0.

    Parameters
    ----------
    t : array of float64
        Thresholds; each is a float32 number or an infinity.

    Returns
    -------
    array of float64
        The last doubles that are rounded to `t` or less.

    Examples
    --------
    >>> from rankwood.forest.export.cuts import before_rounding
    >>> import numpy as np
    >>> m = before_rounding(np.array([1.0]))[0]
    >>> bool(np.float32(m) == 1), bool(np.float32(np.nextafter(m, 2.0)) > 1)
    (True, True)
    """
    low = np.asarray(t, np.float64).astype(np.float32)
    high = np.nextafter(low, np.float32(np.inf)).astype(np.float64)
    # Values from FLT_MAX plus half a step on are rounded to infinity, as if the next float32 were 2^128.
    high = np.where(np.isposinf(high), 2.0**128, high)
    bottom = np.where(np.isneginf(low), -(2.0**128), low.astype(np.float64))
    middle = bottom + (high - bottom) / 2
    odd = np.where(np.isneginf(low), False, (low.view(np.uint32) & 1).astype(bool))
    last = np.where(odd, np.nextafter(middle, -np.inf), middle)
    return np.where(np.isposinf(low), np.inf, last)


@_quiet
def at_most_solr(t: np.ndarray) -> Cuts:
    """Return thresholds s for Solr, which tests ``x <= s + 1e-6`` with the sum rounded to float32.

    Not every float32 is such a sum: closer to 0 than 1e-6 sums are 1.2e-13 apart, and up to 1e-5, and within 1e-6 above
    a negative power of two, they omit some float32. Then the sum is the largest one below the float32 that is
    meant, and the cut isn't exact.
    """
    want, swapped, _ = at_most_float32(t)
    infinity = np.float32(np.inf)
    s = (want - SLACK).astype(np.float32)
    for _ in range(64):
        s = np.where(s + SLACK > want, np.nextafter(s, -infinity), s)
    for _ in range(64):
        higher = np.nextafter(s, infinity)
        s = np.where((higher + SLACK <= want) & (higher <= LARGEST32), higher, s)
    exact = s + SLACK == want
    return Cuts(_no_negative_zero(s), swapped, exact)


def missing_as_zero(threshold: np.ndarray) -> np.ndarray:
    """Return whether a missing value that counts as 0 goes to the left, for numerical splits."""
    return np.asarray(threshold >= 0.0)


def as_written(values: np.ndarray) -> list[float]:
    """Return float32 numbers as doubles, whose shortest decimals no reader can round twice."""
    return np.asarray(values, np.float32).astype(np.float64).tolist()


def _finite(cuts: np.ndarray, largest: float, none_left: np.ndarray) -> Cuts:
    """Return cuts for ``<=`` without infinities: all values are below the largest, and none is with exchanged sides."""
    cuts = np.where(np.isposinf(cuts) | none_left, cuts.dtype.type(largest), cuts)
    return Cuts(_no_negative_zero(cuts), np.asarray(none_left), np.ones(cuts.size, bool))


def _no_negative_zero(cuts: np.ndarray) -> np.ndarray:
    """Return cuts with 0.0 for -0.0, which Java's Double.compare would take for a smaller number."""
    return np.where(cuts == 0, cuts.dtype.type(0), cuts)
