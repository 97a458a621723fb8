"""Gradients and Hessians in fixed point, so that all sums are exact.

Units are powers of two, chosen for each tree: the largest absolute value is below 2^(31 - b) units, so that sums of 2^b
rows fit in one half of a packed number.
"""

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.numeric.plain import bits_of, float_of, larger, smaller
from rankwood.engines.trees.growth.histograms import gradient_half, hessian_half

_U = np.uint64
_ZERO = 6755399441055744.0  # 1.5 * 2^52: added to a number, it rounds it to a whole one, which the lower bits hold
_ZERO_BITS = np.int64(0x4338000000000000)
_EXPONENT_SHIFT = 52
_BIAS = 1023
_MOST_EXPONENT = 300  # squares of sums stay finite
_HALF = 32


@uncounted
def largest_bits(values, begin, end):
    """Return the largest absolute value of some float32 numbers, as bits of a float32: those of NaN are larger yet."""
    top = np.int32(0)
    for i in range(_U(begin), _U(end)):
        top = larger(top, bits_of(abs(values[i])))
    return np.int64(top)


@uncounted
def shift_for(largest, bits):
    """Return s such that 2^s times the largest value is below 2^bits."""
    if largest == 0.0:
        return np.int64(0)
    exponent = (bits_of(np.float64(largest)) >> _EXPONENT_SHIFT) - _BIAS  # 2^exponent <= largest
    shift = smaller(bits - 1 - exponent, np.int64(_MOST_EXPONENT))
    return larger(shift, np.int64(-_MOST_EXPONENT))


@uncounted
def power_of_two(exponent):
    """Return 2^exponent."""
    return float_of(np.int64((exponent + _BIAS) << _EXPONENT_SHIFT))


@uncounted_inline
def _whole(x, factor):
    """Return the whole number nearest to x times a power of two."""
    return bits_of(np.float64(x) * factor + _ZERO) - _ZERO_BITS


@uncounted
def quantise_chunk(tree, chunk, factors):
    """Write the packed gradients and Hessians of a chunk, and their sums; unused documents have none.

    `size` is the sum of absolute gradients.
    """
    grad, hess, unused, numbers = tree.grad, tree.hess, tree.unused, tree.numbers
    begin, end, (by_g, by_h) = _U(chunk.begin), _U(chunk.end), factors
    for i in range(begin, end):
        numbers[i] = (_whole(grad[i], by_g) << _HALF) + _whole(hess[i], by_h)
    if tree.samples:
        for i in range(begin, end):
            numbers[i] = 0 if unused[i] else numbers[i]
    g_total, h_total, size = np.int64(0), np.int64(0), np.int64(0)
    for i in range(begin, end):
        g = gradient_half(numbers[i])
        g_total += g
        h_total += hessian_half(numbers[i])
        size += abs(g)
    chunk.g, chunk.h, chunk.size = g_total, h_total, size


@uncounted
def count_rows(tree, chunk):
    """Count the rows of a chunk by kind."""
    numbers, unused, live, left_out = tree.numbers, tree.unused, np.int64(0), np.int64(0)
    for i in range(_U(chunk.begin), _U(chunk.end)):
        live += np.int64(numbers[i] != 0)
    if tree.samples:
        for i in range(_U(chunk.begin), _U(chunk.end)):
            left_out += np.int64(unused[i])
    chunk.live, chunk.unused = live, left_out
    chunk.dead = chunk.end - chunk.begin - live - left_out


@uncounted
def list_rows(tree, chunk):
    """Write the rows of a chunk, those of each kind from its place on."""
    live, dead, left_out = chunk.live, chunk.dead, chunk.unused
    numbers, unused, out = tree.numbers, tree.unused, tree.rows
    for i in range(_U(chunk.begin), _U(chunk.end)):
        if numbers[i] != 0:
            out[live] = i
            live += 1
        elif tree.samples and unused[i]:
            out[left_out] = i
            left_out += 1
        else:
            out[dead] = i
            dead += 1
