"""Compiled sampling: random words from a counter, sums of signed and of resampled differences.

Vocabulary: a *grid* is an array of differences as integers (see `sampling.to_grid`), whose sums are exact in any order.
A *draw* is one random assignment of signs, or one resample. A *word* is 64 random bits: a function of seed, draw
and position alone, so the way draws are split among threads has no influence.
"""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood._kernels.numeric.rng import splitmix64

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ONE, _BYTE, _LOW = np.uint64(1), np.uint64(255), np.uint64(0xFFFFFFFF)
_BYTE_BITS, _HALF_BITS = np.uint64(8), np.uint64(32)


@inner
def draw_state(seed: Any, draw: Any) -> Any:
    """Return the state from which the words of a draw are made."""
    return splitmix64(splitmix64(seed + _ODD) + np.uint64(draw) * _ODD)


@inner
def word(state: Any, position: Any) -> Any:
    """Return the random word at a position of a draw."""
    return splitmix64(state + (np.uint64(position) + _ONE) * _ODD)


@jit
def signed_sums(
    table: Any, seed: Any, enumerate_all: bool, out: Any, first: int, last: int
) -> None:
    """Sum differences with random signs for draws `first` to `last`.

    With `enumerate_all`, draw r takes its signs from the bits of r. `table[w, j, b]` is the sum of the eight
    differences from 64 w + 8 j on with the signs of byte b: one look-up instead of eight additions. The 16 KiB of a
    word stay in the L1 cache for all draws.
    """
    for w in range(table.shape[0]):
        for draw in range(first, last):
            bits = np.uint64(draw) if enumerate_all else word(draw_state(seed, draw), w)
            total = 0
            for j in range(8):
                total += table[w, j, np.int64(bits & _BYTE)]
                bits = bits >> _BYTE_BITS
            out[draw] += total


@jit
def resampled_sums(grid: Any, seed: Any, out: Any, first: int, last: int) -> None:
    """Sum a resample with replacement, as long as the grid, for each draw from `first` to `last`.

    A word gives two indices. The probability of an index is off by less than one in 2^32 / (number of differences),
    far below what any number of draws can show.
    """
    size = np.uint64(grid.size)
    for draw in range(first, last):
        state, total = draw_state(seed, draw), 0
        for w in range(grid.size // 2):
            bits = word(state, w)
            total += grid[np.int64(((bits & _LOW) * size) >> _HALF_BITS)]
            total += grid[np.int64(((bits >> _HALF_BITS) * size) >> _HALF_BITS)]
        if grid.size % 2:
            bits = word(state, grid.size // 2)
            total += grid[np.int64(((bits & _LOW) * size) >> _HALF_BITS)]
        out[draw] = total
