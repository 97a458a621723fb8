"""Histograms of a node: gradients are summed per item, per query and per pair, then per bin.

For a node, one pass over its pairs sums gradients per first item, per second item and per query (`collect`).
Histograms of item features are made from those sums: rows of items, not of pairs. Only differences look at
pairs. All sums are integers (`splitting.Scale`): exact, whatever their order.
"""

import numpy as np

from rankwood._jit import add2, add4, fetch, inline, inner, jit
from rankwood.engines.pairtree.binning import ITEM, PAIR, QUERY, SPARE
from rankwood.engines.pairtree.splitting import largest_gain, spread, spread_signed

# Indices of 64 bits without sign: else every access asks whether it counts from the end.
_1, _2, _3 = np.uint64(1), np.uint64(2), np.uint64(3)
_4, _8, _16, _24 = np.uint64(4), np.uint64(8), np.uint64(16), np.uint64(24)
_BYTE = np.uint64(255)
_FLIP = np.uint64(0x01010101)
_FAR = 4  # pairs are far apart in memory if a node has less than one in so many unordered ones
_AHEAD = np.uint64(32)  # how many pairs before its turn a word is asked for


def aligned(size):
    """Return an array of words that begins at a border of 64 bytes, so that no four of them lie across one."""
    words = np.empty(size + 8, np.int64)
    start = -(words.ctypes.data // 8) % 8
    return words[start : start + size]


@jit
def quantise(grad, hess, per_g, per_h, bits, out):
    """Write gradients and hessians in fixed point, a count of one in the low bits of the second word; return sums."""
    g, h = np.int64(0), np.int64(0)
    for p in range(grad.size):
        out[2 * p] = np.int64(np.rint(grad[p] * per_g))
        out[2 * p + 1] = (np.int64(np.rint(hess[p] * per_h)) << bits) + 1
        g += out[2 * p]
        h += out[2 * p + 1]
    return g, h


@jit
def collect(node, sums, lo, hi, ptr, start, mask, work, out):
    """Sum a node's pairs by first item (words 0, 1), second item (2, 3) and query; return how many rows each has.

    Pairs are sorted, so queries come one after the other: sums live in `work`, all zero before and after,
    until the query is over. `out` is (rows, item sums, query rows, query sums).
    """
    rows, row_sums, queries, query_sums = out
    n_rows, n_queries = 0, 0
    q = -1
    k = 0
    while k < node.size:
        p = np.int64(node[k])
        while p >= start[q + 1]:
            q += 1
        end = start[q + 1]
        g_all, h_all = np.int64(0), np.int64(0)
        while k < node.size and np.int64(node[k]) < end:
            at = np.uint64(node[k])
            a, b = np.uint64(lo[at >> _1]), np.uint64(hi[at >> _1])
            if at & _1:
                a, b = b, a
            g, h = sums[2 * k], sums[2 * k + 1]
            work[_4 * a] += g
            work[_4 * a + _1] += h
            work[_4 * b + _2] += g
            work[_4 * b + _3] += h
            g_all += g
            h_all += h
            k += 1
        queries[n_queries] = q
        query_sums[2 * n_queries] = g_all
        query_sums[2 * n_queries + 1] = h_all
        n_queries += 1
        for i in range(ptr[q], ptr[q + 1]):
            if (work[4 * i + 1] | work[4 * i + 3]) & mask:  # of either side
                rows[n_rows] = i
                for w in range(4):
                    row_sums[4 * n_rows + w] = work[4 * i + w]
                    work[4 * i + w] = 0
                n_rows += 1
    return n_rows, n_queries


@inner
def _add_items(words, rows, sums, hist, o0, o1, o2, o3):
    """Add sums of four numbers (both sides) to four features."""
    for k in range(np.uint64(rows.size)):
        w = np.uint64(words[rows[k]])
        s = k << _2
        add4(hist, o0 + ((w & _BYTE) << _2), sums, s)
        add4(hist, o1 + (((w >> _8) & _BYTE) << _2), sums, s)
        add4(hist, o2 + (((w >> _16) & _BYTE) << _2), sums, s)
        add4(hist, o3 + ((w >> _24) << _2), sums, s)


@inner
def _add_rows(words, rows, sums, hist, o0, o1, o2, o3):
    """Add sums of two numbers to four features."""
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
    add2(hist, o0 + ((w & _BYTE) << _1), sums, s)
    add2(hist, o1 + (((w >> _8) & _BYTE) << _1), sums, s)
    add2(hist, o2 + (((w >> _16) & _BYTE) << _1), sums, s)
    add2(hist, o3 + ((w >> _24) << _1), sums, s)


@jit
def blocks(first, last, plan, tables, data, hist, parent, totals, wanted, scale, limits, found):
    """Build histograms of a node for blocks of four features, its sibling's from the parent's, and find splits.

    `plan` is what the blocks are (see plan.Plan), `data` what `collect` wrote, without unused ends. `parent`
    becomes the sibling's histogram. `totals` has (g, second word) of the node and of the sibling; `wanted` says
    for which of them splits are sought. `found` gets the largest gain by (node, split feature).
    """
    kind, row, offset, bins, _ = plan
    items, queries, pairs = tables
    rows, row_sums, query_rows, query_sums, node, pair_sums = data
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
        if kind[k] == ITEM:
            _add_items(items[row[k]], rows, row_sums, hist, o0, o1, o2, o3)
        elif kind[k] == QUERY:
            _add_rows(queries[row[k]], query_rows, query_sums, hist, o0, o1, o2, o3)
        else:
            _add_pairs(pairs[row[k]], node, near, pair_sums, hist, o0, o1, o2, o3)
        if wanted[0]:
            _find(0, k, plan, hist, totals, scale, limits, buffers, found)
        if parent.size:
            for i in range(o0, end):
                parent[i] -= hist[i]
            if wanted[1]:
                _find(1, k, plan, parent, totals, scale, limits, buffers, found)


@inner
def _find(which, k, plan, hist, totals, scale, limits, buffers, found):
    """Write the largest gain of each feature of a block; item features have two, ids[1] is the second item's."""
    kind, _, offset, bins, ids = plan
    left_g, left_h = buffers
    total = totals[which, 0], totals[which, 1]
    for lane in range(4):
        n = bins[k, lane]
        for side in range(2):
            id = ids[k, lane, side]
            if id >= 0:
                base = offset[k, lane] + _2 * np.uint64(side)
                if kind[k] == PAIR:
                    spread_signed(hist, base, n // 2, left_g, left_h)
                else:
                    step = _4 if kind[k] == ITEM else _2
                    spread(hist, base, step, n, left_g, left_h)
                found[which, id] = largest_gain(left_g, left_h, n, total, scale, limits)
