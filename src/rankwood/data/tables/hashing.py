"""Hashes of rows and columns, computed block by block, to find equal ones in a matrix of any size."""

from collections.abc import Iterator

import numpy as np

from rankwood._kernels.numeric.rng import generator

_BLOCK = 1 << 22  # values at a time: whole matrices of 64-bit words would take too much room
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


def row_blocks(X: np.ndarray) -> Iterator[slice]:
    """Return blocks of rows: masks of a whole matrix would take too much room."""
    step = max(_BLOCK // max(X.shape[1], 1), 1)
    return (slice(start, start + step) for start in range(0, X.shape[0], step))


def row_hashes(X: np.ndarray) -> np.ndarray:
    """Return a word of 64 bits for each row; rows with equal values have equal words."""
    weights = _odd_words(X.shape[1])
    out = np.empty(X.shape[0], np.uint64)
    for rows, words in _blocks(X):
        words *= weights
        out[rows] = words.sum(axis=1, dtype=np.uint64)
    return out


def column_hashes(X: np.ndarray) -> np.ndarray:
    """Return a word of 64 bits for each column; columns with equal values have equal words."""
    weights = _odd_words(X.shape[0])
    out = np.zeros(X.shape[1], np.uint64)
    for rows, words in _blocks(X):
        words *= weights[rows, None]
        out += words.sum(axis=0, dtype=np.uint64)
    return out


def _blocks(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Go through blocks of rows, each with a scrambled word for every value."""
    kind = np.uint32 if X.dtype == np.float32 else np.uint64
    for rows in row_blocks(X):
        block = X[rows] + X.dtype.type(0)  # a copy, in which -0 is 0
        block[np.isnan(block)] = np.nan  # all NaN have the same bits
        words = block.view(kind).astype(np.uint64)
        # Multiplication carries low bits up only, and most floats end in zeros: the high half is folded back.
        words *= _MULTIPLIER
        words ^= words >> _SHIFT
        yield rows, words


def _odd_words(n: int) -> np.ndarray:
    """Return the same random odd words for the same number."""
    return generator(n).integers(0, 2**63, n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
