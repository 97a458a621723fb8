"""Histograms of a node: gradients are summed per item, per query and per pair, then per bin.

For a node, one pass over its pairs sums gradients per first item, per second item and per query (`collect`).
Histograms of item features are made from those sums: rows of items, not of pairs. Only differences look at
pairs. All sums are integers (`splitting.Scale`): exact, whatever their order.
"""

import numpy as np

from rankwood._core.jit import add2, fetch, inline, inner, jit
from rankwood.engines.pairtree.binning import SPARE
from rankwood.engines.pairtree.splitting import largest_gain, spread, spread_signed

# Indices of 64 bits without sign: else every access asks whether it counts from the end.
_1, _2, _5, _32 = np.uint64(1), np.uint64(2), np.uint64(5), np.uint64(32)
_LOW = np.uint64(2**32 - 1)
# A word has four bins; each one, times two, is a place in its feature's histogram.
_7, _15, _23, _TWOS = (np.uint64(n) for n in (7, 15, 23, 2 * 255))
OF_FIRSTS, OF_SECONDS, OF_QUERIES, OF_PAIRS = 0, 1, 2, 3  # whose sums a histogram is made of
_FLIP = np.uint64(0x01010101)
_FAR = 4  # pairs are far apart in memory if a node has less than one in so many unordered ones
_AHEAD = np.uint64(32)  # how many pairs before its turn a word is asked for


def aligned(size):
    """Return an array of words that begins at a border of 64 bytes, so that no two of them lie across one."""
    words = np.empty(size + 8, np.int64)
    start = -(words.ctypes.data // 8) % 8
    return words[start : start + size]


@jit
def quantise(grad, hess, per_g, per_h, low, out):
    """Write gradients and hessians in fixed point, a count of one above the `low` bits of these; return sums."""
    g, h = np.int64(0), np.int64(0)
    for p in range(grad.size):
        out[2 * p] = np.int64(np.rint(grad[p] * per_g))
        out[2 * p + 1] = np.int64(np.rint(hess[p] * per_h)) + (np.int64(1) << low)
        g += out[2 * p]
        h += out[2 * p + 1]
    return g, h


@jit
def collect(node, sums, ends, ptr, start, work, out):
    """Sum a node's pairs by first item, by second item and by query; return how many rows of each kind there are.

    Pairs are sorted, so queries come one after the other: sums live in `work`, all zero before and after,
    until the query is over. `out` is (rows, sums) of first items, of second items and of queries.
    """
    (firsts, first_sums), (seconds, second_sums), (queries, query_sums) = out
    n_firsts, n_seconds, n_queries = np.uint64(0), np.uint64(0), np.uint64(0)
    q = 0
    k, n = np.uint64(0), np.uint64(node.size)
    while k < n:
        while np.int64(node[k]) >= start[q + 1]:
            q += 1
        end = start[q + 1]
        while k < n and np.int64(node[k]) < end:
            p = np.uint64(node[k])
            pair = ends[p >> _1]
            swap = (p & _1) << _5
            add2(work, ((pair >> swap) & _LOW) << _2, sums, k << _1)
            add2(work, (((pair >> (_32 - swap)) & _LOW) << _2) + _2, sums, k << _1)
            k += _1
        g, h = np.int64(0), np.int64(0)
        # Every item is written down, and the next one over it if it isn't there: no branch that is hard to foresee.
        for i in range(np.uint64(ptr[q]), np.uint64(ptr[q + 1])):
            w = i << _2
            g += work[w]
            h += work[w + _1]
            n_firsts = _keep(i, work, w, n_firsts, firsts, first_sums)
            n_seconds = _keep(i, work, w + _2, n_seconds, seconds, second_sums)
        queries[n_queries] = q
        query_sums[n_queries << _1], query_sums[(n_queries << _1) + _1] = g, h
        n_queries += _1
    return n_firsts, n_seconds, n_queries


@inline
def _keep(i, work, w, n, rows, sums):
    """Move an item's sums from `work` to the end of a list, and return how long it is then: longer if it has pairs."""
    g, h = work[w], work[w + _1]
    work[w] = work[w + _1] = 0
    rows[n] = i
    sums[n << _1], sums[(n << _1) + _1] = g, h
    return n + np.uint64(h != 0)  # it has the count


@inner
def _add_rows(words, rows, sums, hist, o0, o1, o2, o3):
    """Add sums of items or queries to four features."""
    for k in range(np.uint64(rows.size)):
        _add(np.uint64(words[rows[k]]), sums, k << _1, hist, o0, o1, o2, o3)


@inner
def _add_pairs(words, node, near, sums, hist, o0, o1, o2, o3):
    """Add gradients of pairs to four features; the lowest bit of a pair says which direction it is.

    The words of the first `near` pairs are far apart in memory, and asked for some time before.
    """
    for k in range(near):
        fetch(words, np.uint64(node[k + _AHEAD]) >> _1)
        p = np.uint64(node[k])
        w = np.uint64(words[p >> _1]) ^ ((p & _1) * _FLIP)
        _add(w, sums, k << _1, hist, o0, o1, o2, o3)
    for k in range(near, np.uint64(node.size)):
        p = np.uint64(node[k])
        w = np.uint64(words[p >> _1]) ^ ((p & _1) * _FLIP)
        _add(w, sums, k << _1, hist, o0, o1, o2, o3)


@inline
def _add(w, sums, s, hist, o0, o1, o2, o3):
    add2(hist, o0 + ((w << _1) & _TWOS), sums, s)
    add2(hist, o1 + ((w >> _7) & _TWOS), sums, s)
    add2(hist, o2 + ((w >> _15) & _TWOS), sums, s)
    add2(hist, o3 + ((w >> _23) & _TWOS), sums, s)


@jit
def blocks(first, last, plan, tables, data, hist, parent, totals, wanted, scale, limits, found):
    """Build histograms of a node for blocks of four features, its sibling's from the parent's, and find splits.

    `plan` is what the blocks are (see plan.Plan), `data` what `collect` wrote, without unused ends. `parent`
    becomes the sibling's histogram. `totals` has (g, second word) of the node and of the sibling; `wanted` says
    for which of them splits are sought. `found` gets the largest gain by (node, split feature).
    """
    kind, row, offset, bins, _ = plan
    items, queries, pairs = tables
    firsts, seconds, of_queries, (node, pair_sums) = data
    buffers = np.empty(256, np.int64), np.empty(256, np.int64)
    far = _FAR * node.size < pairs.shape[1]
    near = np.uint64(max(0, node.size - 32) if far else 0)
    for k in range(first, last):
        o0, o1, o2, o3, end = offset[k, 0], offset[k, 1], offset[k, 2], offset[k, 3], offset[k, 4]
        for i in range(o0, end):
            hist[i] = 0
        if bins[k, 3] == 0:  # some lanes have no feature
            for i in range(hist.size - SPARE, hist.size):
                hist[i] = 0
        if kind[k] == OF_PAIRS:
            _add_pairs(pairs[row[k]], node, near, pair_sums, hist, o0, o1, o2, o3)
        elif kind[k] == OF_QUERIES:
            _add_rows(queries[row[k]], of_queries[0], of_queries[1], hist, o0, o1, o2, o3)
        else:
            rows, sums = firsts if kind[k] == OF_FIRSTS else seconds
            _add_rows(items[row[k]], rows, sums, hist, o0, o1, o2, o3)
        if wanted[0]:
            _find(0, k, plan, hist, totals, scale, limits, buffers, found)
        if parent.size:
            for i in range(o0, end):
                parent[i] -= hist[i]
            if wanted[1]:
                _find(1, k, plan, parent, totals, scale, limits, buffers, found)


@inner
def _find(which, k, plan, hist, totals, scale, limits, buffers, found):
    """Write the largest gain of each feature of a block."""
    kind, _, offset, bins, ids = plan
    left_g, left_h = buffers
    g, h = totals[which, 0], totals[which, 1]
    none = np.int64(0)
    for lane in range(4):
        n = bins[k, lane]
        if n:
            base = offset[k, lane]
            if kind[k] == OF_PAIRS:
                spread_signed(hist, base, n // 2, left_g, left_h, none, scale.half)
            else:
                spread(hist, base, _2, n, left_g, left_h, none, scale.half)
            found[which, ids[k, lane]] = largest_gain(left_g, left_h, n, g, h, scale, limits)
