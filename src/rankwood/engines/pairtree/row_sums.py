"""Rows of documents, queries or pairs with their gradient sums, as kernels read and write them.

A row has two adjacent int64 numbers, so that one vector addition adds both: the sum of gradients, and the sum of
Hessians with the count of pairs above it (`fixed_point.Scale`).
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inline

_NUMBERS_PER_CACHE_LINE = 8


class RowSums(NamedTuple):
    """Numbers of documents, queries or pairs, and their sums: row k has sums[2k] and sums[2k + 1]."""

    rows: np.ndarray
    sums: np.ndarray

    def between(self, begin: int, end: int) -> "RowSums":
        """Return a view of rows `begin` to `end`."""
        return RowSums(self.rows[begin:end], self.sums[2 * begin : 2 * end])


def empty_rows(size: int) -> RowSums:
    """Return room for `size` rows."""
    return RowSums(np.empty(size, np.uint32), aligned(2 * size))


def aligned(size: int) -> np.ndarray:
    """Return room for int64 numbers from the start of a cache line on: no row's or bin's sums straddle two lines."""
    numbers = np.empty(size + _NUMBERS_PER_CACHE_LINE, np.int64)
    start = -(numbers.ctypes.data // 8) % _NUMBERS_PER_CACHE_LINE
    return numbers[start : start + size]


@inline
def sums_at(k):
    """Return where the sums of row k begin; k is unsigned."""
    return k << np.uint64(1)


@inline
def write_row(rows, sums, k, row, g, packed):
    """Write a row and its sums to place k."""
    rows[k] = row
    sums[sums_at(k)] = g
    sums[sums_at(k) + np.uint64(1)] = packed
