"""Pairs of a node go left or right; they stay sorted, in place."""

import numpy as np

from rankwood._core.jit import inline, inner, jit

_1, _5 = np.uint64(1), np.uint64(5)
_LOW = np.uint64(2**32 - 1)


@jit
def by_item(node, sums, side, ends, second, rest, rest_sums):
    """Put pairs whose first (or second) item goes left before the others, with their gradients; return how many."""
    n_left, n_right = np.uint64(0), np.uint64(0)
    for k in range(np.uint64(node.size)):
        p = np.uint64(node[k])
        item = (ends[p >> _1] >> (((p ^ second) & _1) << _5)) & _LOW
        go = np.uint64(side[item])
        _put(node, sums, k, p, n_left, n_right, rest, rest_sums)
        n_left += go
        n_right += _1 - go
    _put_back(node, sums, n_left, n_right, rest, rest_sums)
    return n_left


@jit
def by_difference(node, sums, words, shift, left, rest, rest_sums):
    """Do the same by the code of a difference."""
    n_left, n_right = np.uint64(0), np.uint64(0)
    for k in range(np.uint64(node.size)):
        p = np.uint64(node[k])
        code = ((np.uint64(words[p >> _1]) >> shift) & np.uint64(255)) ^ (p & _1)
        go = np.uint64(left[code])
        _put(node, sums, k, p, n_left, n_right, rest, rest_sums)
        n_left += go
        n_right += _1 - go
    _put_back(node, sums, n_left, n_right, rest, rest_sums)
    return n_left


@inline
def _put(node, sums, k, p, n_left, n_right, rest, rest_sums):
    """Write a pair to both ends, of which one will be written over: no branch that is hard to foresee."""
    g, h = sums[k << _1], sums[(k << _1) + _1]
    node[n_left] = p  # never ahead of what has been read
    sums[n_left << _1] = g
    sums[(n_left << _1) + _1] = h
    rest[n_right] = p
    rest_sums[n_right << _1] = g
    rest_sums[(n_right << _1) + _1] = h


@inner
def _put_back(node, sums, n_left, n_right, rest, rest_sums):
    for k in range(n_right):
        node[n_left + k] = rest[k]
    for k in range(n_right << _1):
        sums[(n_left << _1) + k] = rest_sums[k]


@jit
def mark(node, leaf, out):
    """Write a leaf's number for its pairs."""
    for k in range(node.size):
        out[node[k]] = leaf
