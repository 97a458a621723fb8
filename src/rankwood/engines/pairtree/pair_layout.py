"""Where each ordered pair (i, j), i != j, of documents of the same query lies.

The documents of a query are adjacent (`ptr`). Pairs are sorted by query, then by the unordered pair {a < b}:

    unordered pair u        0         1         2         3 ...
    documents {a, b}      {0, 1}    {0, 2}    {0, 3}    {1, 2} ...
    ordered pair p        0    1    2    3    4    5    6    7 ...
    (i, j)               0,1  1,0  0,2  2,0  0,3  3,0  1,2  2,1 ...

So p = 2u + direction, a pair is one 32-bit number, and everything that both directions share is stored once, at u:
`items[u]` has a in the lower 32 bits of a 64-bit word and b in the upper ones.
"""

import math
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import inline, inner, jit
from rankwood._util import checks

#: Sums of Hessians share a word with counts of pairs: with more pairs, Hessians would have too few bits.
MAX_PAIRS = 2**26

# Kernels index by unsigned 64-bit numbers: a signed index costs a check for negative values at each access.
_DIRECTION_BIT = np.uint64(1)
_ITEM_BITS = np.uint64(32)
_ITEM_MASK = np.uint64(2**32 - 1)


class PairLayout:
    """The ordered pairs of all queries, and the documents of each.

    Parameters
    ----------
    ptr : array of int, one more than there are queries
        The documents of query q are ptr[q] to ptr[q + 1] - 1.

    Attributes
    ----------
    sizes : array
        Number of documents of each query.
    pair_ptr : array
        The pairs of query q are pair_ptr[q] to pair_ptr[q + 1] - 1.
    items : array
        Both documents of each unordered pair, in one word.
    query_of_item : array
        The query of each document.
    """

    def __init__(self, ptr: Any) -> None:
        self.ptr = np.ascontiguousarray(ptr, dtype=np.int64)
        if self.ptr.ndim != 1 or self.ptr.size < 1 or self.ptr[0] != 0:
            raise checks.InputError("ptr must be a one-dimensional array of offsets from 0 on.")
        self.sizes = np.diff(self.ptr)
        if self.sizes.size and self.sizes.min() < 0:
            raise checks.InputError(
                f"ptr must not fall, got {self.ptr[int(np.argmin(self.sizes)) + 1]} after a larger offset."
            )
        _check_pair_count(self.sizes)
        pairs = self.sizes * (self.sizes - 1)
        self.pair_ptr = np.concatenate([[0], np.cumsum(pairs)]).astype(np.int64)
        self.items = np.empty(self.n_pairs // 2, np.uint64)
        _write_items(self.ptr, self.pair_ptr, self.items)
        self.query_of_item = np.repeat(np.arange(self.sizes.size, dtype=np.uint32), self.sizes)

    @property
    def n_items(self) -> int:
        """Number of documents."""
        return int(self.ptr[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.sizes.size

    @property
    def n_pairs(self) -> int:
        """Number of ordered pairs, the sum of n (n - 1) over queries."""
        return int(self.pair_ptr[-1])

    @property
    def lower(self) -> np.ndarray:
        """The document a of each unordered pair {a < b}."""
        return (self.items & _ITEM_MASK).astype(np.uint32)

    @property
    def upper(self) -> np.ndarray:
        """The document b of each unordered pair {a < b}."""
        return (self.items >> _ITEM_BITS).astype(np.uint32)

    @property
    def first(self) -> np.ndarray:
        """The first document of each ordered pair: a new array, which training doesn't need."""
        return np.stack([self.lower, self.upper], axis=1).ravel()

    @property
    def second(self) -> np.ndarray:
        """The second document of each ordered pair: a new array, which training doesn't need."""
        return np.stack([self.upper, self.lower], axis=1).ravel()

    def matrix(self, values: np.ndarray, query: int) -> np.ndarray:
        """Return the values of a query's pairs as an n by n array, with zeros on the diagonal."""
        n, at = int(self.sizes[query]), slice(self.pair_ptr[query], self.pair_ptr[query + 1])
        base = int(self.ptr[query])
        out = np.zeros((n, n), values.dtype)
        out[self.first[at] - base, self.second[at] - base] = values[at]
        return out

    def item_scores(self, pair_scores: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the score of each document i: the mean of s_ij - s_ji over the other documents j of its query.

        The result is bit-identical in any order of a query's documents.
        """
        scores = np.zeros(self.n_items)
        threads.run_ranges(
            lambda a, b: _items_of_pairs(a, b, self.ptr, self.pair_ptr, pair_scores, scores),
            self.sizes * self.sizes,
            n_jobs,
        )
        return scores


def _check_pair_count(sizes: np.ndarray) -> None:
    """Raise if there are more pairs than a tree can grow on."""
    total = int(sum(sizes.astype(object) * (sizes - 1).astype(object)))  # object: no overflow
    if total > MAX_PAIRS:
        longest = int(np.argmax(sizes))
        raise checks.InputError(
            f"the data has {total:,} ordered pairs of documents (the longest query, number {longest}, has "
            f"{int(sizes[longest]):,} documents), and pair-trees grow on at most {MAX_PAIRS:,}; "
            "keep fewer documents of each query (TwoStage(top=...)) or fewer queries."
        )


@inline
def direction(pair):
    """Return 0 for the pair (a, b) and 1 for (b, a), a < b."""
    return pair & _DIRECTION_BIT


@inline
def unordered(pair):
    """Return the number of the unordered pair {a, b}."""
    return pair >> _DIRECTION_BIT


@inline
def item_of(items, pair, second):
    """Return the first document of a pair if `second` is 0, and the second one if it is 1."""
    upper = direction(pair) ^ second
    return (items[unordered(pair)] >> (upper * _ITEM_BITS)) & _ITEM_MASK


@jit
def _write_items(ptr, pair_ptr, items):
    for q in range(ptr.size - 1):
        u = pair_ptr[q] >> 1
        for a in range(ptr[q], ptr[q + 1]):
            for b in range(a + 1, ptr[q + 1]):
                items[u] = np.uint64(a) | (np.uint64(b) << _ITEM_BITS)
                u += 1


@jit
def _items_of_pairs(first, last, ptr, pair_ptr, pair_scores, scores):
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n > 1:
            table = np.zeros((n, n))
            read_pairs(pair_scores, pair_ptr[q], table)
            mean_differences(table, scores[ptr[q] : ptr[q + 1]])


@inner
def read_pairs(pair_scores, p, table):
    """Fill a query's n by n table from the scores of its pairs, of which the first one is number p."""
    for a in range(table.shape[0]):
        for b in range(a + 1, table.shape[0]):
            table[a, b], table[b, a] = pair_scores[p], pair_scores[p + 1]
            p += 2


@inner
def write_pairs(table, pair_scores, p):
    """Write a query's n by n table back to the scores of its pairs."""
    for a in range(table.shape[0]):
        for b in range(a + 1, table.shape[0]):
            pair_scores[p], pair_scores[p + 1] = table[a, b], table[b, a]
            p += 2


@inner
def mean_differences(table, out):
    """Write the mean over j of table[i, j] - table[j, i], summed exactly, in fixed point: any order gives the same."""
    n = out.size
    largest = 0.0
    for i in range(n):
        for j in range(i):
            difference = abs(table[i, j] - table[j, i])
            if difference > largest or difference != difference:  # NaN stays
                largest = difference
    if not (0.0 < largest < np.inf):
        for i in range(n):
            out[i] = largest * 0.0  # 0, or NaN where scores aren't finite
        return
    shift = 61 - math.frexp(largest * n)[1]  # n numbers, none above `largest`, stay below 2^61
    # Two factors: 2^shift itself may overflow.
    half = shift // 2
    scale, rest = math.ldexp(1.0, half), math.ldexp(1.0, shift - half)
    for i in range(n):
        total = np.int64(0)
        for j in range(n):
            if j != i:
                total += np.int64(np.rint((table[i, j] - table[j, i]) * scale * rest))
        out[i] = np.float64(total) / scale / rest / (n - 1)
