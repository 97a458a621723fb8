"""The gain of a split, in float64 on sums that are exact integers [ke2017].

Everything is in units of the tree, which are powers of two: gains and values are the same numbers in any units.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted_inline
from rankwood._kernels.numeric.plain import bits_of, float_of, larger, smaller

_ZERO_BITS = np.int64(0x4338000000000000)
_ZERO = 6755399441055744.0  # the float64 with these bits
#: The bits of the gain of a split that isn't allowed.
NO_GAIN = np.int64(-1)


class NodeTerms(NamedTuple):
    """What a search knows of a node: its fields are those of `records.SIBLING`."""

    g: float
    h: float
    least: float
    most: float
    l1: float
    l2: float
    step: float
    low: float
    high: float
    bounded: bool


@uncounted_inline
def as_float(x):
    """Return an integer below 2^51 as float64, by its bits: LLVM doesn't vectorise the conversion itself."""
    return float_of(np.int64(x + _ZERO_BITS)) - _ZERO


@uncounted_inline
def thresholded(g, l1):
    """Return g moved towards 0 by l1."""
    size = larger(abs(g) - l1, 0.0)
    return size if g > 0.0 else -size


@uncounted_inline
def bounded_value(g, h, node, l2):
    """Return the value of a leaf with these sums, within the bounds of a node."""
    divisor = h + l2
    value = -thresholded(g, node.l1) / (divisor if divisor > 0.0 else 1.0)
    value = value if divisor > 0.0 else 0.0
    value = smaller(larger(value, -node.step), node.step)
    return smaller(larger(value, node.low), node.high)


@uncounted_inline
def gain_at(g, h, value, l1, l2):
    """Return twice the loss that a leaf with these sums removes, if it has this value."""
    return -(2.0 * thresholded(g, l1) * value + (h + l2) * value * value)


@uncounted_inline
def plain_gain(left_g, left_h, node):
    """Return the gain of both sides as the bits of a float64, -1 if a side is too small.

    Bits of floats that aren't negative are ordered as the floats are. Without an L1 penalty and bounds of values, one
    division serves both sides.
    """
    right_g, right_h = node.g - left_g, node.h - left_h
    enough = (left_h >= node.least) & (left_h <= node.most)
    left, right = left_h + node.l2, right_h + node.l2
    gain = (left_g * left_g * right + right_g * right_g * left) / (left * right if enough else 1.0)
    return bits_of(gain) if enough else NO_GAIN


@uncounted_inline
def bounded_gain(left_g, left_h, node, direction):
    """Do the same with an L1 penalty, bounds of values, and the direction in which values must move."""
    right_g, right_h = node.g - left_g, node.h - left_h
    left = bounded_value(left_g, left_h, node, node.l2)
    right = bounded_value(right_g, right_h, node, node.l2)
    gain = gain_at(left_g, left_h, left, node.l1, node.l2)
    gain += gain_at(right_g, right_h, right, node.l1, node.l2)
    enough = (left_h >= node.least) & (left_h <= node.most) & ((right - left) * direction >= 0.0)
    return bits_of(larger(gain, 0.0)) if enough else NO_GAIN
