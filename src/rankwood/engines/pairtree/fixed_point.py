"""Gradients and Hessians in fixed point: sums of integers are exact, whatever their order.

A pair, and any sum over pairs, is two int64 numbers, `Sums`:

    g         the gradient, in units of `Scale.g_unit`
    packed    | count of pairs | Hessian in units of `Scale.h_unit`, signed |
                                ^ bit `Scale.count_shift`
"""

import math
from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import jit
from rankwood._util import checks

#: Bits of a sum that float64 holds exactly, with room for the shift in `splitting._as_float`.
EXACT_BITS = 51
#: Bits of a packed number, but for its sign and one to spare.
PACKED_BITS = 62
#: Largest exponent of a sum of absolute values, so that squares and products of sums are still finite.
MAX_EXPONENT = 300


class Sums(NamedTuple):
    """Sums over pairs in fixed point: the gradient, and the Hessian with the count above it."""

    g: int | np.int64
    packed: int | np.int64


class RealSums(NamedTuple):
    """Sums over pairs in the caller's units."""

    g: float
    h: float
    n_pairs: int


class Scale(NamedTuple):
    """The fixed point of a tree.

    A packed number plus `half` has the count from bit `count_shift` on, and h + half, which isn't negative, in
    the bits below, which `mask` selects.
    """

    g_unit: float
    h_unit: float
    count_shift: int
    half: int
    mask: int

    def unpack(self, sums: Sums) -> RealSums:
        """Return the gradient, the Hessian and the count of pairs that sums stand for."""
        biased = int(sums.packed) + self.half
        h = (biased & self.mask) - self.half
        return RealSums(int(sums.g) * self.g_unit, h * self.h_unit, biased >> self.count_shift)


def choose_scale(grad: np.ndarray, hess: np.ndarray) -> Scale:
    """Choose units so small that no sum over any of the pairs overflows, and all sums are exact in float64."""
    count_shift = min(EXACT_BITS, PACKED_BITS - int(grad.size).bit_length())
    g_unit = 2.0 ** -_unit_shift(grad, "grad", EXACT_BITS)
    h_unit = 2.0 ** -_unit_shift(hess, "hess", count_shift - 1)
    return Scale(g_unit, h_unit, count_shift, 1 << (count_shift - 1), (1 << count_shift) - 1)


def _unit_shift(values: np.ndarray, name: str, bits: int) -> int:
    """Return a shift s that keeps the sum of |rint(2^s value)| below 2^bits, as large as the sum's exponent allows."""
    total = float(np.abs(values).sum()) if values.size else 0.0
    if not math.isfinite(total):
        row = int(np.flatnonzero(~np.isfinite(values))[0]) if not np.isfinite(values).all() else 0
        raise checks.InputError(f"{name} must be finite numbers, got {values[row]} at pair {row}.")
    # Rounding adds at most half a unit per value, which is less than half of the sum if there are any pairs.
    exponent = math.frexp(total)[1] if total > 0 else 0
    if abs(exponent) > MAX_EXPONENT:
        raise checks.InputError(
            f"{name} must have a sum of absolute values between 2^-{MAX_EXPONENT} and 2^{MAX_EXPONENT}, "
            f"got {total:g}."
        )
    return bits - 1 - exponent if total > 0 else 0


@jit
def quantise(grad, hess, scale, out):
    """Write each pair's gradient, and its Hessian with a count of one, to `out`; return their sums."""
    g, packed = np.int64(0), np.int64(0)
    g_factor, h_factor = 1.0 / scale.g_unit, 1.0 / scale.h_unit  # powers of two: exact
    for p in range(grad.size):
        out[2 * p] = np.int64(np.rint(grad[p] * g_factor))
        out[2 * p + 1] = np.int64(np.rint(hess[p] * h_factor)) + (np.int64(1) << scale.count_shift)
        g += out[2 * p]
        packed += out[2 * p + 1]
    return Sums(g, packed)
