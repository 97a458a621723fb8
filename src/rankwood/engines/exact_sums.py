"""Gradients on a grid, so that engines sum them exactly.

An engine adds float32 gradients in float64, in an order that depends on its threads, on whether it builds histograms by
row or by column, and on the machines that share the documents. Rounded to multiples of one power of two, all of these
sums are exact, so that the order changes no bit:

    m = max |g| < 2^e,  N documents,  k = max(0, ceil(log2 N) - 29)
    q = 2^(e - 24 + k),  g <- rint(g / q) q

A sum of any of the documents is a multiple of q of at most N m <= 2^53 q, which float64 holds. Rounding moves a
gradient by at most q / 2, which is 2^-24 of the largest one if there are fewer than 2^29 documents: about as much as
float32 rounds the largest one itself. Gradients below q / 2 become 0.
"""

import math

import numpy as np

from rankwood.engines.sharing import ClusterMember, Compute

_BITS = 24  # of a float32
_SUM_BITS = 53 - _BITS  # sums of 2^29 values on the grid are exact in float64
_SMALLEST = -100  # exponent below which units, or their inverses, are out of float32's range


def unit_of_grid(largest: float, count: int) -> float:
    """Return the power of two whose multiples sum exactly: `count` values, none above `largest`."""
    exponent = math.frexp(largest)[1]
    spare = max(0, (max(int(count), 1) - 1).bit_length() - _SUM_BITS)
    return math.ldexp(1.0, exponent - _BITS + spare)


def on_grid(
    values: np.ndarray,
    largest: float | None = None,
    count: int | None = None,
    in_place: bool = False,
) -> np.ndarray:
    """Return values rounded to the grid, as float32; the caller's array is left as it is, unless `in_place`.

    Parameters
    ----------
    values : array
        Gradients or Hessians of the documents.
    largest : float, optional
        The largest absolute value of all documents, if some of them are elsewhere.
    count : int, optional
        The number of all documents, if some of them are elsewhere.
    in_place : bool
        Whether an array of float32 may be overwritten: new memory takes longer than the rounding.

    Returns
    -------
    array of float32
        Multiples of one power of two. Values that aren't finite are returned as they are.
    """
    values = np.asarray(values, dtype=np.float32)
    if largest is None:
        largest = largest_of(values)
    if largest == 0 or not math.isfinite(largest):
        return values
    unit = unit_of_grid(largest, values.size if count is None else count)
    # Products with powers of two are exact, also in float32 where they are in its range.
    real = np.float32 if math.frexp(unit)[1] > _SMALLEST - _BITS else np.float64
    out = values if in_place and real == np.float32 else None
    rounded = np.multiply(values, real(1.0 / unit), dtype=real, out=out)
    np.rint(rounded, out=rounded)
    np.multiply(rounded, real(unit), out=rounded)
    return rounded.astype(np.float32, copy=False)


def exact(compute: Compute, member: ClusterMember | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and Hessians on a grid: that of all documents, if others have some of them.

    The arrays that `compute` returns are overwritten.
    """
    if member is None:
        grad, hess = compute()
        return on_grid(grad, in_place=True), on_grid(hess, in_place=True)
    (grad, hess), (largest_grad, largest_hess) = member.together(compute)
    return (
        on_grid(grad, largest_grad, member.documents, in_place=True),
        on_grid(hess, largest_hess, member.documents, in_place=True),
    )


def largest_of(values: np.ndarray) -> float:
    """Return the largest absolute value, 0 if there are none."""
    return float(max(values.max(), -values.min())) if values.size else 0.0
