"""Compiled sampling: random words from a counter, sums of signed and of resampled differences.

Vocabulary: a *grid* is a list of differences as integers (see `on_grid`), so sums are exact and the same in
any order; a *draw* is one random assignment of signs, or one resample; a *word* is 64 random bits,
a function of seed, draw and place alone, so how draws are split among threads changes nothing.
"""

from typing import Any

import numpy as np

from rankwood._core.jit import inner, jit

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_ONE, _BYTE, _8, _LOW = np.uint64(1), np.uint64(255), np.uint64(8), np.uint64(0xFFFFFFFF)


@inner
def mixed(x: Any) -> Any:
    """Return 64 bits that depend on every bit of `x` (the finaliser of SplitMix64)."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@inner
def start(seed: Any, draw: Any) -> Any:
    """Return where the words of a draw begin."""
    return mixed(mixed(seed + _ODD) + np.uint64(draw) * _ODD)


@inner
def word(begin: Any, place: Any) -> Any:
    """Return the random word at this place of a draw."""
    return mixed(begin + (np.uint64(place) + _ONE) * _ODD)


@jit
def signed_sums(table: Any, seed: Any, every: bool, out: Any, first: int, last: int) -> None:
    """Add up differences with random signs for draws `first` to `last`; with `every`, draw r has the signs of r's bits.

    `table[w, j, b]` is the sum of the eight differences from 64 w + 8 j on, with the signs of byte b: one
    look-up in place of eight additions. The 16 KiB of a word stay in the nearest cache for all draws.
    """
    for w in range(table.shape[0]):
        for draw in range(first, last):
            bits = np.uint64(draw) if every else word(start(seed, draw), w)
            total = 0
            for j in range(8):
                total += table[w, j, np.int64(bits & _BYTE)]
                bits = bits >> _8
            out[draw] += total


@jit
def resampled_sums(grid: Any, seed: Any, out: Any, first: int, last: int) -> None:
    """Add up as many differences as there are, drawn with replacement, for draws `first` to `last`.

    A word gives two places. The share of a place is off by less than one in 2^32 / (number of
    differences), far below what any number of draws can show.
    """
    size = np.uint64(grid.size)
    for draw in range(first, last):
        begin, total = start(seed, draw), 0
        for w in range(grid.size // 2):
            bits = word(begin, w)
            total += grid[np.int64(((bits & _LOW) * size) >> _32)]
            total += grid[np.int64(((bits >> _32) * size) >> _32)]
        if grid.size % 2:
            bits = word(begin, grid.size // 2)
            total += grid[np.int64(((bits & _LOW) * size) >> _32)]
        out[draw] = total
