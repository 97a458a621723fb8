"""Distributions of sums under random signs and under resampling, in exact integers."""

import numpy as np

from rankwood._core import checks, threads
from rankwood.stats.kernels import resampled_sums, signed_sums

#: Up to so many differences that are not 0, all signs are gone through in place of a sample.
EXACT = 16
#: Sums closer than this share of the sum of all sizes are equal. Values such as P@k have few possible sums, so
#: equal ones are common, and binary fractions would tell 0.3 from 0.1 + 0.2.
TOLERANCE = 1e-12
_BITS = 60
# Row b: the signs that byte b stands for, its lowest bit first; a bit of 0 is a plus.
_SIGNS = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)


def on_grid(x: np.ndarray, total: float) -> np.ndarray:
    """Return numbers as integers in units of 2^-60 of `total` (up to a factor of 2).

    Sums of integers don't depend on their order, so neither do p-values. Rounding moves a sum by less
    than TOLERANCE of the total for up to a million numbers.
    """
    exponent = int(np.frexp(total)[1])
    return np.rint(np.ldexp(x, _BITS - exponent)).astype(np.int64)


def margin(grid: np.ndarray) -> int:
    """Return by how many units two sums may differ and still be called equal."""
    return max(int(TOLERANCE * np.abs(grid).astype(np.float64).sum()), grid.size)


def sign_sums(
    grid: np.ndarray, draws: int, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, bool]:
    """Return sums with random signs, or with all signs there are if few; and whether it was all."""
    every = grid.size <= EXACT
    draws = 2**grid.size if every else draws
    words = max(1, -(-grid.size // 64))
    padded = np.zeros(64 * words, np.int64)
    padded[: grid.size] = grid
    table = np.ascontiguousarray(padded.reshape(-1, 8) @ _SIGNS.T).reshape(words, 8, 256)
    out = np.zeros(draws, np.int64)
    key = _key(seed)

    def part(first: int, last: int) -> None:
        with np.errstate(
            over="ignore"
        ):  # words wrap around; without the compiler NumPy would remark
            signed_sums(table, key, every, out, first, last)

    threads.over(np.ones(draws), part, n_jobs)
    return out, every


def resampled(
    d: np.ndarray, draws: int, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return differences on the grid, sums of resamples of them, and the sign (1 or -1) both are turned by.

    Turned so that the mean is not negative, and sorted, they don't depend on which model came first
    nor on the order of queries.
    """
    turn = -1 if d.sum() < 0 else 1
    x = np.sort(d * turn)
    grid = on_grid(x, float(np.abs(x).max()) * x.size)
    out = np.empty(draws, np.int64)
    key = _key(seed)

    def part(first: int, last: int) -> None:
        with np.errstate(over="ignore"):
            resampled_sums(grid, key, out, first, last)

    threads.over(np.ones(draws), part, n_jobs)
    return grid, out, turn


def _key(seed: int) -> np.uint64:
    return np.uint64(checks.at_least(seed, 0, "seed"))
