"""The best split of a feature from its histogram, in float64 on sums that are exact integers [ke2017].

A node's sums are integers below 2^51 (`Scale`), so they are exact in float64 as well, and gains depend neither on
the order of summation nor on which sibling was built and which one subtracted. Of equal gains the largest
threshold wins, and missing values go left.
"""

from typing import NamedTuple

import numpy as np

from rankwood._jit import inner, jit


class Limits(NamedTuple):
    """What a split must respect, as kernels read it."""

    min_data: int
    min_hessian: float
    l1: float
    l2: float


class Scale(NamedTuple):
    """Fixed point: one word is g, in units of `g`; another is h, in units of `h`, above `bits` bits of count."""

    g: float
    h: float
    bits: int
    mask: int


@inner
def leaf_gain(g, h, l1, l2):
    """Return max(|G| - l1, 0)^2 / (H + l2), twice the loss that a leaf takes away; 0 for an empty one."""
    m = abs(g) - l1
    m = m if m > 0.0 else 0.0
    d = h + l2
    return m * m / d if d > 0.0 else 0.0


@inner
def spread(hist, base, step, n, left_g, left_h):
    """Fill sums of bins 0 to b for each b below n; bins lie `step` apart."""
    g, h = np.int64(0), np.int64(0)
    at = base
    for b in range(np.uint64(n)):
        g += hist[at]
        h += hist[at + np.uint64(1)]
        left_g[b] = g
        left_h[b] = h
        at += step


@inner
def spread_signed(hist, base, largest, left_g, left_h):
    """Do the same for codes 2 r + sign of differences: from the largest negative one to the largest positive one."""
    zero = np.uint64(largest)
    g, h = np.int64(0), np.int64(0)
    at = base + np.uint64(4 * largest + 2)
    for t in range(zero):
        g += hist[at]
        h += hist[at + np.uint64(1)]
        left_g[t] = g
        left_h[t] = h
        at -= np.uint64(4)
    g += hist[base + np.uint64(2)]  # zero has no sign, but two codes
    h += hist[base + np.uint64(3)]
    spread(hist, base, np.uint64(4), largest + 1, left_g[zero:], left_h[zero:])
    for t in range(zero, zero + zero + np.uint64(1)):
        left_g[t] += g
        left_h[t] += h


@inner
def _real(x):
    """Return an integer below 2^51 as float64, by its bits: other ways don't run in vectors."""
    return np.int64(x + np.int64(0x4338000000000000)).view(np.float64) - 6755399441055744.0


@inner
def split_gain(left, total, scale, limits):
    """Return the gain of both sides as the bits of a float64, which are ordered as it is; -1 if one is too small."""
    g = _real(left[0]) * scale.g
    h = _real(left[1] >> scale.bits) * scale.h
    c = left[1] & scale.mask
    r = _real(total[0]) * scale.g - g
    s = _real(total[1] >> scale.bits) * scale.h - h
    gain = leaf_gain(g, h, limits.l1, limits.l2) + leaf_gain(r, s, limits.l1, limits.l2)
    enough = (c >= limits.min_data) & ((total[1] & scale.mask) - c >= limits.min_data)
    enough &= (h >= limits.min_hessian) & (s >= limits.min_hessian)
    return np.float64(gain).view(np.int64) if enough else np.int64(-1)


@inner
def largest_gain(left_g, left_h, n, total, scale, limits):
    """Return the gain of the best split, -1 if there is none.

    Sums left of thresholds 0 to n - 1 are given, without missing values, which are the rest of the total.
    """
    missing = total[0] - left_g[n - 1], total[1] - left_h[n - 1]
    top = np.int64(-1)
    for b in range(n):  # no branch in it: it runs in vectors
        top = max(top, split_gain((left_g[b], left_h[b]), total, scale, limits))
    if missing[1] & scale.mask:
        for b in range(n):
            left = left_g[b] + missing[0], left_h[b] + missing[1]
            top = max(top, split_gain(left, total, scale, limits))
    return np.int64(top).view(np.float64) if top >= 0 else -1.0


@jit
def locate(hist, base, step, n, total_g, total_h, scale, limits):
    """Return the threshold with the largest gain, whether missing values go left, and the sums of the left side.

    Bins lie `step` apart; step 0 is for differences.
    """
    left_g, left_h = np.empty(256, np.int64), np.empty(256, np.int64)
    if step:
        spread(hist, base, step, n, left_g, left_h)
    else:
        spread_signed(hist, base, n // 2, left_g, left_h)
    total = total_g, total_h
    missing = total_g - left_g[n - 1], total_h - left_h[n - 1]
    top, at, side = np.int64(-1), -1, False
    for missing_left in range(1, -1, -1):
        if missing_left and not missing[1] & scale.mask:
            continue
        for b in range(n - 1, -1, -1):
            left = left_g[b] + missing_left * missing[0], left_h[b] + missing_left * missing[1]
            gain = split_gain(left, total, scale, limits)
            if gain > top:
                top, at, side = gain, b, missing_left == 1
    if not missing[1] & scale.mask:  # nothing to learn from: they go where most pairs go
        side = 2 * (left_h[at] & scale.mask) >= (total_h & scale.mask)
    more = np.int64(side)
    return at, side, left_g[at] + more * missing[0], left_h[at] + more * missing[1]
