"""Ordered pairs (i, j), i != j, of documents of the same query, and where each one lies.

The documents of a query are neighbours (`ptr`). Pairs go by query, then by the unordered pair {a < b}, the
smaller a first: pair 2u is (a, b) and pair 2u + 1 is (b, a). So one number of 32 bits says everything about a
pair, and what both directions share is stored once, at u. `ends[u]` has a in the lower half of a word, b above.
"""

import math
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import inner, jit

#: Sums of hessians share a word with counts of pairs: with more pairs, hessians would have too few bits.
MOST_PAIRS = 2**26


class Layout:
    """The pairs of lists of documents: `ends[u]` has items a < b, `start[q]` is a query's first pair."""

    def __init__(self, ptr: Any) -> None:
        self.ptr = np.ascontiguousarray(ptr, dtype=np.int64)
        if self.ptr.ndim != 1 or self.ptr.size < 1 or self.ptr[0] != 0:
            raise checks.InputError("ptr must be offsets of queries: one dimension, from 0.")
        self.sizes = np.diff(self.ptr)
        if self.sizes.size and self.sizes.min() < 0:
            raise checks.InputError(
                f"ptr must not fall, got {self.ptr[int(np.argmin(self.sizes)) + 1]} after a larger offset."
            )
        pairs = self.sizes.astype(object) * (self.sizes - 1).astype(object)  # no overflow
        total = int(sum(pairs))
        if total > MOST_PAIRS:
            longest = int(np.argmax(self.sizes))
            raise checks.InputError(
                f"the data has {total:,} ordered pairs of documents (the longest query, number {longest}, has "
                f"{int(self.sizes[longest]):,} documents), and pair-trees grow on at most {MOST_PAIRS:,}; "
                "keep fewer documents of each query (TwoStage(top=...)) or fewer queries."
            )
        self.start = np.concatenate([[0], np.cumsum(self.sizes * (self.sizes - 1))]).astype(
            np.int64
        )
        self.ends = np.empty(self.n_pairs // 2, np.uint64)
        _number(self.ptr, self.start, self.ends)
        self.query = np.repeat(np.arange(self.sizes.size, dtype=np.uint32), self.sizes)

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
        """Number of ordered pairs, the sum of n (n - 1)."""
        return int(self.start[-1])

    @property
    def lo(self) -> np.ndarray:
        """The item a of each unordered pair a < b."""
        return (self.ends & np.uint64(2**32 - 1)).astype(np.uint32)

    @property
    def hi(self) -> np.ndarray:
        """The item b of each unordered pair a < b."""
        return (self.ends >> np.uint64(32)).astype(np.uint32)

    @property
    def first(self) -> np.ndarray:
        """First document of each pair; made anew, for tests and for engines that store pairs."""
        return np.stack([self.lo, self.hi], axis=1).ravel()

    @property
    def second(self) -> np.ndarray:
        """Second document of each pair."""
        return np.stack([self.hi, self.lo], axis=1).ravel()

    def matrix(self, values: np.ndarray, query: int) -> np.ndarray:
        """Return the values of a query's pairs as an n by n array, with zeros on the diagonal."""
        n, at = int(self.sizes[query]), slice(self.start[query], self.start[query + 1])
        base = int(self.ptr[query])
        out = np.zeros((n, n), values.dtype)
        out[self.first[at] - base, self.second[at] - base] = values[at]
        return out

    def item_scores(self, pair_scores: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return s_i, the mean over j of s_ij - s_ji; the same bits in any order of a query's documents."""
        scores = np.zeros(self.n_items)
        threads.over(
            self.sizes * self.sizes,
            lambda a, b: _items_of_pairs(a, b, self.ptr, self.start, pair_scores, scores),
            n_jobs,
        )
        return scores


@jit
def _number(ptr, start, ends):
    for q in range(ptr.size - 1):
        u = start[q] >> 1
        for a in range(ptr[q], ptr[q + 1]):
            for b in range(a + 1, ptr[q + 1]):
                ends[u] = np.uint64(a) | (np.uint64(b) << np.uint64(32))
                u += 1


@jit
def _items_of_pairs(first, last, ptr, start, pair_scores, scores):
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n > 1:
            table = np.zeros((n, n))
            p = start[q]
            for a in range(n):
                for b in range(a + 1, n):
                    table[a, b] = pair_scores[p]
                    table[b, a] = pair_scores[p + 1]
                    p += 2
            mean_differences(table, scores[ptr[q] : ptr[q + 1]])


@inner
def mean_differences(table, out):
    """Write the mean over j of table[i, j] - table[j, i], summed in fixed point: exact, so in any order."""
    n = out.size
    most = 0.0
    for i in range(n):
        for j in range(i):
            d = abs(table[i, j] - table[j, i])
            if d > most or d != d:  # NaN stays
                most = d
    if not (0.0 < most < np.inf):
        for i in range(n):
            out[i] = most * 0.0  # 0, or NaN where scores aren't finite
        return
    shift = 61 - math.frexp(most * n)[1]  # n numbers, none above `most`, stay below 2^61
    # In two steps: 2^shift itself may be beyond the largest number.
    half = shift // 2
    up, more = math.ldexp(1.0, half), math.ldexp(1.0, shift - half)
    for i in range(n):
        total = np.int64(0)
        for j in range(n):
            if j != i:
                total += np.int64(np.rint((table[i, j] - table[j, i]) * up * more))
        out[i] = np.float64(total) / up / more / (n - 1)
