"""The best split of a feature from its histogram, in float64 on sums that are exact integers [ke2017].

A node's sums are integers below 2^51 (`fixed_point`), so they are exact in float64 as well, and gains depend neither
on the order of summation nor on which sibling's histogram was built and which one was subtracted. Among equal gains
the largest threshold wins, and missing values go left.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood.engines.pairtree.fixed_point import Scale, Sums
from rankwood.engines.pairtree.tree import Params

MAX_BINS = 256
_BIN = np.uint64(2)  # numbers of a histogram that belong to a bin: its `Sums`


class Limits(NamedTuple):
    """What both sides of a split must respect, in the units of `Scale`."""

    min_packed: int  # the smallest count of pairs, where packed sums have it
    min_hessian: float
    l1: float
    l2: float


class FeatureHistogram(NamedTuple):
    """The histogram of one split feature, from `offset` on; codes of differences are `signed`."""

    split_id: int
    offset: np.uint64
    signed: bool
    n_bins: int


class LeftSums(NamedTuple):
    """Sums of the pairs left of each threshold, one array each; packed ones have `Scale.half` added."""

    g: np.ndarray
    packed: np.ndarray


class NodeSplit(NamedTuple):
    """A split of a node: bins up to `bin_` of a feature go left, and maybe missing values; the left side's sums."""

    split_id: int
    bin_: int
    missing_left: bool
    left: Sums


class Total(NamedTuple):
    """A node's sums in units of `Scale` as float64, and its packed sum plus twice `half`.

    That sum minus a biased left side's (`LeftSums`) is the biased right side's.
    """

    g: float
    h: float
    packed: int


def limits_of(params: Params, scale: Scale) -> Limits:
    """Return a tree's limits in the units of its fixed point."""
    # Without l2, a side without curvature has no leaf value.
    least = 0.0 if params.lambda_l2 else 1.0
    return Limits(
        min_packed=params.min_data_in_leaf << scale.count_shift,
        min_hessian=max(params.min_sum_hessian / scale.h_unit, least),
        l1=params.lambda_l1 / scale.g_unit,
        l2=params.lambda_l2 / scale.h_unit,
    )


@inner
def leaf_gain(g, h, l1, l2):
    """Return max(|G| - l1, 0)^2 / (H + l2), twice the loss that a leaf removes; 0 for an empty leaf."""
    divisor = h + l2
    return _thresholded_square(g, l1) / divisor if divisor > 0.0 else 0.0


@inner
def _thresholded_square(g, l1):
    """Return max(|G| - l1, 0)^2."""
    if l1 == 0.0:  # the same in fewer steps; LLVM compiles a loop of its own for it
        return g * g
    size = abs(g) - l1
    size = size if size > 0.0 else 0.0
    return size * size


@inner
def cumulate(hist, feature, scale, left):
    """Fill `left` with the sums of bins 0 to b for each bin b of a feature, without missing values."""
    start = Sums(np.int64(0), np.int64(scale.half))
    if feature.signed:
        cumulate_signed(hist, feature.offset, feature.n_bins // 2, start, left)
    else:
        _cumulate_run(
            hist, feature.offset, _BIN, start, left, np.uint64(0), np.uint64(feature.n_bins)
        )


@inner
def cumulate_signed(hist, offset, largest, start, left):
    """Do the same for a difference, from its largest negative bin to its largest positive one.

    Code 2 r + sign stands for bin r of the absolute value, r from 0 to `largest`:

        code    0    1    2    3    4    5   ...
        value  +0   -0   +1   -1   +2   -2   ...     the order of values is  ... 5  3  (0, 1)  2  4 ...
    """
    zero = np.uint64(largest)
    at = offset + _BIN * np.uint64(2 * largest + 1)
    g, packed = start.g, start.packed
    for b in range(zero):
        g += hist[at]
        packed += hist[at + np.uint64(1)]
        left.g[b] = g
        left.packed[b] = packed
        at -= _BIN + _BIN
    at = offset + _BIN  # zero has no sign, but two codes
    start = Sums(g + hist[at], packed + hist[at + np.uint64(1)])
    _cumulate_run(hist, offset, _BIN + _BIN, start, left, zero, np.uint64(2 * largest + 1))


@inner
def _cumulate_run(hist, at, step, start, left, first, last):
    """Write running sums to `left` from bin `first` to `last`; the bins lie `step` numbers apart in the histogram."""
    g, packed = start.g, start.packed
    for b in range(first, last):
        g += hist[at]
        packed += hist[at + np.uint64(1)]
        left.g[b] = g
        left.packed[b] = packed
        at += step


@inner
def _as_float(x, zero):
    """Return an integer below 2^51 as float64, by its bits: LLVM doesn't vectorise the conversion itself."""
    return np.int64(x + np.int64(0x4338000000000000)).view(np.float64) - zero


_ZERO = 6755399441055744.0  # the float64 with the bits that `_as_float` adds


@inner
def _cross_sum(a, d, b, e):
    """Return (a / d + b / e) d e; (b, e, a, d) gives the same bits, so splits that mirror each other tie."""
    return a * e + b * d


@inner
def split_gain(left_g, left_packed, total, scale, limits):
    """Return the gain of both sides in units of g^2 / h, as the bits of a float64; -1 if a side is too small.

    Bits of floats that aren't negative are ordered as the floats are. `left_packed` has `scale.half` added.
    """
    g = _as_float(left_g, _ZERO)
    h = _as_float(left_packed & scale.mask, _ZERO + scale.half)
    right_g, right_h = total.g - g, total.h - h
    enough = left_packed >= limits.min_packed
    enough &= total.packed - left_packed >= limits.min_packed
    enough &= (h >= limits.min_hessian) & (right_h >= limits.min_hessian)
    d, e = h + limits.l2, right_h + limits.l2
    squares = _thresholded_square(g, limits.l1), _thresholded_square(right_g, limits.l1)
    # One division for both sides.
    gain = _cross_sum(squares[0], d, squares[1], e) / (d * e if enough else 1.0)
    return np.float64(gain).view(np.int64) if enough else np.int64(-1)


@inner
def total_of(sums, scale):
    """Return a node's sums as `split_gain` reads them."""
    h = _as_float((sums.packed + scale.half) & scale.mask, _ZERO + scale.half)
    return Total(_as_float(sums.g, _ZERO), h, sums.packed + 2 * scale.half)


@inner
def missing_of(left, n, sums, scale):
    """Return the sums of the pairs with a missing value: those of the node that no bin has."""
    return Sums(sums.g - left.g[n - 1], sums.packed + scale.half - left.packed[n - 1])


@inner
def largest_gain(left, n, sums, scale, limits):
    """Return the gain of the best split of a node on a feature with n bins, -1 if there is none."""
    left_g, left_packed = left.g, left.packed
    total, missing = total_of(sums, scale), missing_of(left, n, sums, scale)
    top = np.int64(-1)
    for b in range(n):  # branch-free, so that it vectorises
        top = max(top, split_gain(left_g[b], left_packed[b], total, scale, limits))
    if missing.packed:  # it has their count
        for b in range(n):
            g, packed = left_g[b] + missing.g, left_packed[b] + missing.packed
            top = max(top, split_gain(g, packed, total, scale, limits))
    # Units are powers of two: these products are exact.
    unit = scale.g_unit / scale.h_unit * scale.g_unit
    return np.int64(top).view(np.float64) * unit if top >= 0 else -1.0


@jit
def best_threshold(hist, feature, sums, scale, limits):
    """Return the split of a node on a feature with the largest gain."""
    left = LeftSums(np.empty(MAX_BINS, np.int64), np.empty(MAX_BINS, np.int64))
    cumulate(hist, feature, scale, left)
    n = feature.n_bins
    total, missing = total_of(sums, scale), missing_of(left, n, sums, scale)
    top, best, missing_left = np.int64(-1), -1, False
    for with_missing in range(1, -1, -1):
        if with_missing and not missing.packed:
            continue
        for b in range(n - 1, -1, -1):
            g = left.g[b] + with_missing * missing.g
            packed = left.packed[b] + with_missing * missing.packed
            gain = split_gain(g, packed, total, scale, limits)
            if gain > top:
                top, best, missing_left = gain, b, with_missing == 1
    if not missing.packed:  # nothing to learn from: missing values will go where most pairs go
        n_left = left.packed[best] >> scale.count_shift
        missing_left = 2 * n_left >= (sums.packed + scale.half) >> scale.count_shift
    share = np.int64(missing_left)  # of the missing values
    g = left.g[best] + share * missing.g
    packed = left.packed[best] - scale.half + share * missing.packed
    return NodeSplit(feature.split_id, best, missing_left, Sums(g, packed))
