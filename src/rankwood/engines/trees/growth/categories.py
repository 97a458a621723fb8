"""The best split of a node on a categorical feature, as LightGBM finds it [ke2017].

With few categories, one of them goes left. Otherwise categories are sorted by gradient over Hessian, and the first or
the last ones go left. Missing values and rare categories have a bin of their own, which goes right.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import smaller
from rankwood.engines.trees.growth.gains import NO_GAIN, NodeTerms, bounded_gain
from rankwood.engines.trees.growth.records import CODES

_U = np.uint64
_CODES = _U(CODES)
_ORDER_AT, _RATIO_AT = (
    2 * CODES,
    3 * CODES,
)  # where the sorted bins and their ratios are in a thread's reals
REALS = 2 * CODES
_WORD_BITS = 64


class Left(NamedTuple):
    """Sums of the left side, and its estimated count."""

    g: float
    h: float


@uncounted
def _sums_of(reals, b):
    """Return gradient and Hessian of a bin, from the running sums."""
    if b == 0:
        return Left(reals[0], reals[_CODES])
    return Left(reals[b] - reals[b - 1], reals[_CODES + _U(b)] - reals[_CODES + _U(b - 1)])


@uncounted
def search_categories(tree, reals, number, node, count, best):
    """Search the sets of categories that may go left, in a node of `count` documents; keep the best split."""
    bins = tree.features[number].bins
    per_hessian = count / node.h if node.h > 0.0 else 0.0
    if bins + 1 <= tree.max_cat_to_onehot:
        for b in range(bins):
            left = _sums_of(reals, b)
            gain = bounded_gain(left.g, left.h, node, 0)
            if _is_better(gain, number, best):
                _keep(gain, number, left, 0.0, best)
                _put(best, b)
        return
    penalty = tree.cat_l2 * tree.job[0].h_factor
    node = NodeTerms(
        *(node.g, node.h, node.least, node.most, node.l1, node.l2 + penalty),
        *(node.step, node.low, node.high, True),
    )
    used = _sort_bins(tree, reals, bins, per_hessian)
    most = smaller(np.int64(tree.max_cat_threshold), (used + 1) // 2)
    for backward in range(2):
        left, group = Left(0.0, 0.0), 0.0
        for i in range(most):
            at = _ORDER_AT + (used - 1 - i if backward else i)
            own = _sums_of(reals, np.int64(reals[at]))
            left = Left(left.g + own.g, left.h + own.h)
            group += own.h * per_hessian
            if (node.h - left.h) * per_hessian < tree.min_data_per_group:
                break
            if group >= tree.min_data_per_group:
                group = 0.0
                gain = bounded_gain(left.g, left.h, node, 0)
                if _is_better(gain, number, best):
                    _keep(gain, number, left, penalty, best)
                    for k in range(i + 1):
                        _put(best, np.int64(reals[_ORDER_AT + (used - 1 - k if backward else k)]))


@uncounted
def _is_better(gain, number, best):
    return gain > best.gain or (gain == best.gain and gain != NO_GAIN and number < best.feature)


@uncounted
def _keep(gain, number, left, penalty, best):
    """Keep a split with no bin on the left yet."""
    best.gain, best.feature, best.bin, best.missing_left = gain, number, 0, 0
    best.left_g, best.left_h, best.penalty = np.int64(left.g), np.int64(left.h), penalty
    best.set_0, best.set_1, best.set_2, best.set_3 = _U(0), _U(0), _U(0), _U(0)


@uncounted
def _put(best, b):
    """Add a bin to those that go left."""
    bit = _U(1) << _U(b % _WORD_BITS)
    if b < _WORD_BITS:
        best.set_0 |= bit
    elif b < 2 * _WORD_BITS:
        best.set_1 |= bit
    elif b < 3 * _WORD_BITS:
        best.set_2 |= bit
    else:
        best.set_3 |= bit


@uncounted
def _sort_bins(tree, reals, bins, per_hessian):
    """Sort the bins with enough documents by gradient over Hessian; return how many there are."""
    smooth, used = tree.cat_smooth * tree.job[0].h_factor, 0
    for b in range(bins):
        own = _sums_of(reals, b)
        if own.h * per_hessian >= tree.cat_smooth:
            ratio, at = own.g / (own.h + smooth), used
            while (
                at > 0 and reals[_RATIO_AT + at - 1] > ratio
            ):  # equal ones stay in the order of bins
                reals[_RATIO_AT + at] = reals[_RATIO_AT + at - 1]
                reals[_ORDER_AT + at] = reals[_ORDER_AT + at - 1]
                at -= 1
            reals[_RATIO_AT + at], reals[_ORDER_AT + at] = ratio, b
            used += 1
    return used
