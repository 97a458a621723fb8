"""Compiled parts of binning: edges from a sample of values, and bins from edges."""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood._kernels.numeric.rng import mix


class Edges(NamedTuple):
    """The edges of a feature, filled up with infinity to 255 values: a search takes 8 steps, whatever their number."""

    padded: np.ndarray
    size: int


@jit
def draw(size, count):
    """Return `count` numbers below `size` from a counter-based generator: always the same ones."""
    out = np.empty(count, np.int64)
    for i in range(count):
        out[i] = (mix(0, i) * size) >> 32
    return out


def pad_edges(edges: np.ndarray) -> Edges:
    """Fill edges up with infinity."""
    padded = np.full(255, np.inf, np.float32)
    padded[: edges.size] = edges
    return Edges(padded, edges.size)


@jit
def mark_varying(X, ptr, varies):
    """Mark columns that differ inside some query; missing values are equal to each other."""
    for q in range(ptr.size - 1):
        for i in range(ptr[q] + 1, ptr[q + 1]):
            for f in range(X.shape[1]):
                a, b = X[ptr[q], f], X[i, f]
                varies[f] |= np.uint8((a != b) & ((a == a) | (b == b)))


@jit
def find_edges(values, limit):
    """Return edges between sorted values for at most `limit` bins: between all values, or of about equal counts."""
    distinct = 1
    for i in range(1, values.size):
        distinct += values[i] != values[i - 1]
    edges = np.empty(max(0, min(distinct, limit) - 1), np.float32)
    made, begin = 0, 0
    for i in range(1, values.size):
        if made == edges.size:
            break
        # A bin is full when it has its share of the values left; so a frequent value doesn't use up other bins.
        full = (i - begin) * (edges.size + 1 - made) >= values.size - begin
        if values[i] != values[i - 1] and (full or distinct <= limit):
            edges[made] = _between(values[i - 1], values[i])
            made += 1
            begin = i
    return edges[:made].copy()


@inner
def _between(low, high):
    """Return a number at least `low` and below `high`: their mean if float32 has one between them."""
    middle = np.float32(np.float64(low) * 0.5 + np.float64(high) * 0.5)
    return middle if low <= middle < high else low


@inner
def _count_below(x, edges):
    """Return the number of edges below x, out of 255: a binary search of eight steps, branch-free."""
    at = np.uint32(0)
    half = np.uint32(128)
    for _ in range(8):
        at += half * np.uint32(edges[at + half - np.uint32(1)] < x)
        half >>= np.uint32(1)
    return at


@jit
def write_bins(values, edges, shift, words):
    """Write the bin of each value to its lane."""
    padded, missing = edges.padded, np.uint32(edges.size + 1)
    for i in range(values.size):
        x = values[i]
        bin_ = missing if x != x else _count_below(x, padded)
        words[i] |= bin_ << np.uint32(shift)


@jit
def write_differences(values, lower, upper, edges, shift, words):
    """Write the code of each difference to its lane; return whether any is missing."""
    padded, missing = edges.padded, np.uint32(edges.size + 1)
    any_missing = False
    for u in range(lower.size):
        difference = values[lower[u]] - values[upper[u]]
        bin_ = _count_below(abs(difference), padded)
        if difference != difference:
            bin_ = missing
            any_missing = True
        code = bin_ << np.uint32(1) | np.uint32(difference < 0)
        words[u] |= code << np.uint32(shift)
    return any_missing


@jit
def copy_lane(words, out, shift, to_shift):
    """Copy one feature's bins to another lane."""
    for i in range(words.size):
        out[i] |= ((words[i] >> np.uint32(shift)) & np.uint32(255)) << np.uint32(to_shift)
