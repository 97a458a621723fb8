"""The best split of a feature from its histogram, in float64 on sums that are exact integers [ke2017].

A node's sums are integers below 2^51 (`Scale`), so they are exact in float64 as well, and gains depend neither on
the order of summation nor on which sibling was built and which one subtracted. Of equal gains the largest
threshold wins, and missing values go left.
"""

from typing import NamedTuple

import numpy as np

from rankwood._core.jit import exactly, inner, jit


class Limits(NamedTuple):
    """What a split must respect, in the units of `Scale`, as kernels read it."""

    least: int  # the smallest count of pairs, where words have it
    hessian: float
    l1: float | None
    l2: float


class Scale(NamedTuple):
    """Fixed point: one word is g, in units of `g`; another is h, in units of `h`, below the count of pairs.

    h has the `low` bits, with its sign. A word plus `half` has the count above them, and h plus `half` in them.
    """

    g: float
    h: float
    low: int
    half: int
    mask: int

    def numbers(self, total: np.ndarray) -> tuple[float, float, int]:
        """Return G, H and the count of pairs of a pair of words."""
        word = int(total[1]) + self.half
        return int(total[0]) * self.g, ((word & self.mask) - self.half) * self.h, word >> self.low


@inner
def leaf_gain(g, h, l1, l2):
    """Return max(|G| - l1, 0)^2 / (H + l2), twice the loss that a leaf takes away; 0 for an empty one."""
    m = abs(g) - l1
    m = m if m > 0.0 else 0.0
    d = h + l2
    return m * m / d if d > 0.0 else 0.0


@inner
def spread(hist, base, step, n, left_g, left_h, g, h):
    """Fill sums of bins 0 to b for each b below n, on top of g and h; bins lie `step` apart."""
    at = base
    for b in range(np.uint64(n)):
        g += hist[at]
        h += hist[at + np.uint64(1)]
        left_g[b] = g
        left_h[b] = h
        at += step


@inner
def spread_signed(hist, base, largest, left_g, left_h, g, h):
    """Do the same for codes 2 r + sign of differences: from the largest negative one to the largest positive one."""
    zero = np.uint64(largest)
    at = base + np.uint64(4 * largest + 2)
    for t in range(zero):
        g += hist[at]
        h += hist[at + np.uint64(1)]
        left_g[t] = g
        left_h[t] = h
        at -= np.uint64(4)
    g += hist[base + np.uint64(2)]  # zero has no sign, but two codes
    h += hist[base + np.uint64(3)]
    spread(hist, base, np.uint64(4), largest + 1, left_g[zero:], left_h[zero:], g, h)


@inner
def _real(x, zero):
    """Return an integer below 2^51 as float64, by its bits: other ways don't run in vectors."""
    return np.int64(x + np.int64(0x4338000000000000)).view(np.float64) - zero


_ZERO = 6755399441055744.0  # the float64 with the bits that _real adds


@inner
def _weight(g, l1):
    """Return max(|G| - l1, 0)^2; without an l1 it is G^2."""
    if l1 is None:
        return g * g
    m = abs(g) - l1
    m = m if m > 0.0 else 0.0
    return m * m


@exactly
def _plus(h, l2):
    """Return h + l2; l2 may be far less than a unit, and must not be added to the number that `_real` subtracts."""
    return h + l2


@exactly
def _crossed(a, d, b, e):
    """Return (a / d + b / e) d e; the same bits for (b, e, a, d), as of splits that mirror each other."""
    return a * e + b * d


@inner
def split_gain(left_g, left_h, total, scale, limits):
    """Return the gain of both sides as the bits of a float64, which are ordered as it is; -1 if one is too small.

    It is in units of g^2 / h; words with h have `scale.half` added to them.
    """
    g, h = _real(left_g, _ZERO), _real(left_h & scale.mask, _ZERO + scale.half)
    r, s = total.g - g, total.h - h
    enough = (left_h >= limits.least) & (total.word - left_h >= limits.least)
    enough &= (h >= limits.hessian) & (s >= limits.hessian)
    d, e = _plus(h, limits.l2), _plus(s, limits.l2)
    # One division for both sides.
    gain = _crossed(_weight(g, limits.l1), d, _weight(r, limits.l1), e) / (d * e if enough else 1.0)
    return np.float64(gain).view(np.int64) if enough else np.int64(-1)


class Total(NamedTuple):
    """A node's sums in units of `Scale`, and its word plus twice `half`: less a left side's, the right side's."""

    g: float
    h: float
    word: int


@inner
def total_of(g, h, scale):
    """Return a node's sums as `split_gain` wants them."""
    units = _real((h + scale.half) & scale.mask, _ZERO + scale.half)
    return Total(_real(g, _ZERO), units, h + 2 * scale.half)


@inner
def largest_gain(left_g, left_h, n, g, h, scale, limits):
    """Return the gain of the best split, -1 if there is none.

    Sums left of thresholds 0 to n - 1 are given, without missing values, which are the rest of the total (g, h).
    """
    total = total_of(g, h, scale)
    missing_g, missing_h = g - left_g[n - 1], h + scale.half - left_h[n - 1]
    top = np.int64(-1)
    for b in range(n):  # no branch in it: it runs in vectors
        top = max(top, split_gain(left_g[b], left_h[b], total, scale, limits))
    if missing_h:  # it has their count
        for b in range(n):
            gain = split_gain(left_g[b] + missing_g, left_h[b] + missing_h, total, scale, limits)
            top = max(top, gain)
    # Units are powers of two: nothing is rounded.
    return np.int64(top).view(np.float64) * scale.g / scale.h * scale.g if top >= 0 else -1.0


@jit
def locate(hist, base, signed, n, g, h, scale, limits):
    """Return the threshold with the largest gain, whether missing values go left, and the sums of the left side.

    Codes of differences are `signed`.
    """
    left_g, left_h = np.empty(256, np.int64), np.empty(256, np.int64)
    if signed:
        spread_signed(hist, base, n // 2, left_g, left_h, np.int64(0), scale.half)
    else:
        spread(hist, base, np.uint64(2), n, left_g, left_h, np.int64(0), scale.half)
    total = total_of(g, h, scale)
    missing_g, missing_h = g - left_g[n - 1], h + scale.half - left_h[n - 1]
    top, at, side = np.int64(-1), -1, False
    for missing_left in range(1, -1, -1):
        if missing_left and not missing_h:
            continue
        for b in range(n - 1, -1, -1):
            words = left_g[b] + missing_left * missing_g, left_h[b] + missing_left * missing_h
            gain = split_gain(words[0], words[1], total, scale, limits)
            if gain > top:
                top, at, side = gain, b, missing_left == 1
    if not missing_h:  # nothing to learn from: they go where most pairs go
        side = 2 * (left_h[at] >> scale.low) >= ((h + scale.half) >> scale.low)
    more = np.int64(side)
    return at, side, left_g[at] + more * missing_g, left_h[at] - scale.half + more * missing_h
