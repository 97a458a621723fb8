"""The best split of a node on each feature of a column.

Among equal gains missing values go left, the largest threshold wins, and then the feature with the smallest number:
LightGBM's order.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import larger, smaller
from rankwood._kernels.numeric.rng import splitmix64
from rankwood.engines.trees.growth.gains import (
    NO_GAIN,
    as_float,
    bounded_gain,
    plain_gain,
)
from rankwood.engines.trees.growth.histograms import gradient_half, hessian_half
from rankwood.engines.trees.growth.records import CODES

_U = np.uint64
_1 = _U(1)
_CODES = _U(CODES)
#: Integers and reals that a thread needs: running sums of gradients and Hessians.
SEARCH_ROOM = 2 * CODES


class Thresholds(NamedTuple):
    """Thresholds from bin `first` to `end`, and the sums of missing values if these go left, 0 otherwise."""

    first: Any
    end: Any
    g: float
    h: float


@uncounted
def fold_aliases(sums, at, column, packed):
    """Add the codes that stand for a frequent one to it, and clear them."""
    for half in range(1 if packed else 2):
        start = at + _CODES * _U(half)
        for code in range(_U(column.codes), _U(column.codes + column.aliases)):
            sums[start + _U(column.alias_of)] += sums[start + code]
            sums[start + code] = 0


@uncounted
def _sums_by_bin(sums, at, codes, divisor, bins, out):
    """Write the sums of one feature of a joint column: its bin is `code // divisor % bins`."""
    for b in range(bins):
        sums[out + b] = 0
    code = at
    while code < at + codes:
        for b in range(bins):
            total = np.int64(0)
            for k in range(divisor):
                total += sums[code + k]
            sums[out + b] += total
            code += divisor


@uncounted
def running_sums(sums, at, packed, column, feature, room, reals):
    """Write the sums of bins 0 to b, for each bin b of a feature, to `reals`: gradients, then Hessians."""
    bins = _U(feature.bins + feature.missing)
    for half in range(1 if packed else 2):
        source, out = at + _CODES * _U(half), room + _CODES * _U(half)
        if column.features > 1:
            _sums_by_bin(sums, source, _U(column.codes), _U(feature.divisor), bins, out)
            source = out
        total = np.int64(0)
        for b in range(bins):
            total += sums[source + b]
            sums[out + b] = total
    if packed:
        for b in range(bins):
            reals[b] = as_float(gradient_half(sums[room + b]))
        for b in range(bins):
            reals[_CODES + b] = as_float(hessian_half(sums[room + b]))
        return
    for b in range(bins):
        reals[b] = as_float(sums[room + b])
    for b in range(bins):
        reals[_CODES + b] = as_float(sums[room + _CODES + b])


@uncounted
def _largest_gain(reals, thresholds, node, direction):
    """Return the largest gain of some thresholds, as bits."""
    top = NO_GAIN
    if node.bounded:
        for b in range(thresholds.first, thresholds.end):
            g, h = reals[b] + thresholds.g, reals[_CODES + b] + thresholds.h
            top = larger(top, bounded_gain(g, h, node, direction))
        return top
    for b in range(thresholds.first, thresholds.end):  # branch-free, so that it vectorises
        g, h = reals[b] + thresholds.g, reals[_CODES + b] + thresholds.h
        top = larger(top, plain_gain(g, h, node))
    return top


@uncounted
def _threshold_with(gain, reals, thresholds, node, direction):
    """Return the largest threshold that has a gain."""
    b = thresholds.end - _1
    while b > thresholds.first:
        g, h = reals[b] + thresholds.g, reals[_CODES + b] + thresholds.h
        other = bounded_gain(g, h, node, direction) if node.bounded else plain_gain(g, h, node)
        if gain == other:
            break
        b -= _1
    return b


@uncounted
def search_numbers(reals, number, feature, node, drawn, best):
    """Search the thresholds of a numerical feature, or the one that was drawn; keep the split if it is the best."""
    bins, missing = _U(feature.bins), _U(feature.missing)
    first, end = _U(0), bins - _1
    if drawn >= 0:
        first, end = _U(drawn), _U(drawn) + _1
    missing_g = missing_h = 0.0
    if missing:
        missing_g = node.g - reals[bins - _1]
        missing_h = node.h - reals[_CODES + bins - _1]
    # With missing values on the left, the last threshold would send all documents there.
    thresholds = Thresholds(first, smaller(end, bins - _1), missing_g, missing_h)
    gain = _largest_gain(reals, thresholds, node, feature.direction)
    missing_left = 1
    if missing and (missing_g != 0.0 or missing_h != 0.0):
        right = Thresholds(first, end if drawn >= 0 else bins, 0.0, 0.0)
        gain_right = _largest_gain(reals, right, node, feature.direction)
        if gain_right > gain:
            thresholds, gain, missing_left = right, gain_right, 0
    if gain > best.gain or (gain == best.gain and gain >= 0 and number < best.feature):
        b = _threshold_with(gain, reals, thresholds, node, feature.direction)
        best.gain = gain
        best.feature = number
        best.bin = np.int64(b)
        best.missing_left = missing_left
        best.left_g = np.int64(reals[b] + thresholds.g)
        best.left_h = np.int64(reals[_CODES + b] + thresholds.h)
        best.penalty = 0.0


@uncounted
def drawn_threshold(path, number, feature):
    """Return a random threshold of a feature for a node: a function of the way to the node."""
    word = splitmix64(path ^ (_U(number) * _U(0x9E3779B97F4A7C15)))
    thresholds = larger(feature.bins + feature.missing - 1, 1)
    return np.int64(((word >> _U(32)) * _U(thresholds)) >> _U(32))
