"""Pairs of a node go left or right; they stay sorted, in place."""

import numpy as np

from rankwood._jit import inline, inner, jit

_1 = np.uint64(1)


@jit
def by_item(node, sums, side, lo, hi, second, rest, rest_sums):
    """Put pairs whose first (or second) item goes left before the others, with their gradients; return how many."""
    n_left, n_right = np.int64(0), np.int64(0)
    for k in range(node.size):
        p = np.uint64(node[k])
        item = lo[p >> _1] if (p & _1) == second else hi[p >> _1]
        go = np.int64(side[item])
        _put(node, sums, k, p, n_left, n_right, rest, rest_sums)
        n_left += go
        n_right += 1 - go
    _put_back(node, sums, n_left, n_right, rest, rest_sums)
    return n_left


@jit
def by_difference(node, sums, words, shift, left, rest, rest_sums):
    """Do the same by the code of a difference."""
    n_left, n_right = np.int64(0), np.int64(0)
    for k in range(node.size):
        p = np.uint64(node[k])
        code = ((np.uint64(words[p >> _1]) >> shift) & np.uint64(255)) ^ (p & _1)
        go = np.int64(left[code])
        _put(node, sums, k, p, n_left, n_right, rest, rest_sums)
        n_left += go
        n_right += 1 - go
    _put_back(node, sums, n_left, n_right, rest, rest_sums)
    return n_left


@inline
def _put(node, sums, k, p, n_left, n_right, rest, rest_sums):
    """Write a pair to both ends, of which one will be written over: no branch that is hard to foresee."""
    g, h = sums[2 * k], sums[2 * k + 1]
    node[n_left] = p  # never ahead of what has been read
    sums[2 * n_left] = g
    sums[2 * n_left + 1] = h
    rest[n_right] = p
    rest_sums[2 * n_right] = g
    rest_sums[2 * n_right + 1] = h


@inner
def _put_back(node, sums, n_left, n_right, rest, rest_sums):
    for k in range(n_right):
        node[n_left + k] = rest[k]
    for k in range(2 * n_right):
        sums[2 * n_left + k] = rest_sums[k]


@jit
def mark(node, leaf, out):
    """Write a leaf's number for its pairs."""
    for k in range(node.size):
        out[node[k]] = leaf
