"""Sums of differences under random signs and under resampling, as exact integers.

`scipy.stats.permutation_test` and `scipy.stats.bootstrap` do the same in floating point, where the sum depends on
the order of summation and equal sums may differ by rounding.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.stats.sampling_kernels import resampled_sums, signed_sums

#: Up to this many non-zero differences, all assignments of signs are enumerated instead of sampled.
EXACT = 16
#: Sums that differ by less than this share of the sum of absolute differences are equal. A metric such as P@k has
#: few possible sums, so equal ones are common, and floating point would tell 0.3 from 0.1 + 0.2.
TOLERANCE = 1e-12
_BITS = 60
# Row b holds the eight signs that byte b stands for, lowest bit first; a bit of 0 is a plus.
_SIGNS = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)


class SignSums(NamedTuple):
    """Sums under random signs, and whether all assignments of signs were enumerated."""

    sums: np.ndarray
    exact: bool


class Resamples(NamedTuple):
    """Differences as integers, the sums of their resamples, and the sign (1 or -1) both were multiplied by."""

    grid: np.ndarray
    sums: np.ndarray
    sign: int


def to_grid(x: np.ndarray, total: float) -> np.ndarray:
    """Return numbers as integers in units of 2^-60 of `total` (up to a factor of 2).

    Sums of integers do not depend on the order of summation, so neither do p-values. For up to a million numbers,
    rounding to the grid moves a sum by less than TOLERANCE of the total.
    """
    exponent = int(np.frexp(total)[1])
    return np.rint(np.ldexp(x, _BITS - exponent)).astype(np.int64)


def tie_margin(grid: np.ndarray) -> int:
    """Return the largest difference, in units of the grid, at which two sums count as equal."""
    return max(int(TOLERANCE * np.abs(grid).astype(np.float64).sum()), grid.size)


def sign_sums(grid: np.ndarray, draws: int, seed: int, n_jobs: int | None) -> SignSums:
    """Return sums under `draws` random assignments of signs, or under all of them if these are few."""
    exact = grid.size <= EXACT
    draws = 2**grid.size if exact else draws
    words = max(1, -(-grid.size // 64))
    padded = np.zeros(64 * words, np.int64)
    padded[: grid.size] = grid
    table = np.ascontiguousarray(padded.reshape(-1, 8) @ _SIGNS.T).reshape(words, 8, 256)
    sums = np.zeros(draws, np.int64)
    key = _key(seed)

    def fill_range(first: int, last: int) -> None:
        # Random words wrap around on purpose; without the compiler NumPy would warn about it.
        with np.errstate(over="ignore"):
            signed_sums(table, key, exact, sums, first, last)

    threads.run_ranges(fill_range, np.ones(draws), n_jobs)
    return SignSums(sums, exact)


def resample(differences: np.ndarray, draws: int, seed: int, n_jobs: int | None) -> Resamples:
    """Return the sums of `draws` resamples with replacement.

    Differences are sorted, and multiplied by -1 if their mean is negative, so the result depends neither on the order
    of queries nor on which of the two models comes first.
    """
    sign = -1 if differences.sum() < 0 else 1
    ordered = np.sort(differences * sign)
    grid = to_grid(ordered, float(np.abs(ordered).max()) * ordered.size)
    sums = np.empty(draws, np.int64)
    key = _key(seed)

    def fill_range(first: int, last: int) -> None:
        with np.errstate(over="ignore"):
            resampled_sums(grid, key, sums, first, last)

    threads.run_ranges(fill_range, np.ones(draws), n_jobs)
    return Resamples(grid, sums, sign)


def _key(seed: int) -> np.uint64:
    return np.uint64(checks.at_least(seed, 0, "seed"))
