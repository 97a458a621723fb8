"""Scores of all pairs of a list at once, by bit vectors of leaves.

Each inner node that sends a pair right crosses out the leaves of its left subtree; the leftmost leaf that is left
is the pair's. What a node asks about one document is asked once per document, not once per pair, and the answers
meet in one word of 64 leaves. Trees with more leaves have several words, the first one with a leaf left decides.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core.jit import inner, jit
from rankwood.engines.pairtree.layout import mean_differences

_ALL_BITS = 2**64 - 1
_ALL = np.uint64(_ALL_BITS)
_TILE = 8192  # pairs that are scored together: their words stay in the cache


def _bit_table() -> np.ndarray:
    table = np.empty(64, np.int64)
    for bit in range(64):
        table[(_BRUIJN << bit & _ALL_BITS) >> 58] = bit
    return table


_BRUIJN = 0x03F79D71B4CB0A89  # each six bits in a row are different: the product with 2^k says k
_BIT = _bit_table()


class Words(NamedTuple):
    """Trees as words: word w has nodes[w, s] to nodes[w, s + 1] of side s; its leaves' values begin at value[w]."""

    columns: np.ndarray  # the columns of X that are asked for
    nodes: np.ndarray
    values: np.ndarray
    more: np.ndarray  # 1 if the word isn't the first of its tree
    column: np.ndarray  # place in `columns`
    threshold: np.ndarray
    missing_left: np.ndarray
    mask: np.ndarray
    value: np.ndarray
    differences: (
        np.ndarray
    )  # places in `columns` whose differences are asked for; `column` counts these there


def words(trees: list[Any]) -> Words:
    """Turn trees into words; leaves are numbered from left to right."""
    sides = np.concatenate([np.zeros(0, np.uint8), *(tree.side for tree in trees)])
    asked = np.concatenate([np.zeros(0, np.int32), *(tree.column for tree in trees)])
    columns = np.unique(asked)
    differences = np.searchsorted(columns, np.unique(asked[sides == 2]))
    nodes, starts, more = [], [], []
    values: list[float] = []
    rows: list[tuple[int, float, int, int]] = []
    for tree in trees:
        spans, order = _left_spans(tree)
        at = np.searchsorted(columns, tree.column)
        place = np.where(tree.side == 2, np.searchsorted(differences, at), at)
        for w in range(-(-len(order) // 64)):
            cuts = [len(rows)]
            for side in range(3):
                rows += _rows(tree, side, place, spans, 64 * w)
                cuts.append(len(rows))
            nodes.append(cuts)
            starts.append(len(values) + 64 * w)
            more.append(w > 0)
        values += [float(tree.value[leaf]) for leaf in order]
    column, threshold, missing_left, mask = zip(*rows, strict=True) if rows else ((),) * 4
    return Words(
        columns=columns.astype(np.int64),
        nodes=np.array(nodes, np.int64).reshape(-1, 4),
        values=np.array(starts, np.int64),
        more=np.array(more, np.uint8),
        column=np.array(column, np.int64),
        threshold=np.array(threshold, np.float32),
        missing_left=np.array(missing_left, np.uint8),
        mask=np.array(mask, np.uint64),
        value=np.array([*values, 0.0]),
        differences=differences.astype(np.int64),
    )


def _rows(
    tree: Any, side: int, place: np.ndarray, spans: list[tuple[int, int]], begin: int
) -> list[tuple[int, float, int, int]]:
    """Return the nodes of one side that cross out any of the 64 leaves from `begin` on, each with its mask."""
    rows = []
    for k in np.flatnonzero(tree.side == side):
        a, b = max(spans[k][0] - begin, 0), min(spans[k][1] - begin, 64)
        if a < b:
            mask = ~(((1 << (b - a)) - 1) << a) & _ALL_BITS
            rows.append((place[k], tree.threshold[k], tree.missing_left[k], mask))
    return rows


def _left_spans(tree: Any) -> tuple[list[tuple[int, int]], list[int]]:
    """Return, for each inner node, the places of its left subtree's leaves, and the leaves from left to right."""
    spans = [(0, 0)] * tree.side.size
    order: list[int] = []
    todo: list[tuple[int, int]] = [(0 if tree.side.size else -1, -1)]
    while todo:
        node, begun = todo.pop()
        if node < 0:
            order.append(-1 - node)
        elif begun < 0:  # left subtree, then this node again, with the place where it began
            todo += [(int(tree.right[node]), -1), (node, len(order)), (int(tree.left[node]), -1)]
        else:
            spans[node] = begun, len(order)
    return spans, order


@jit
def add_pair_scores(first, last, X, ptr, start, model, scores):
    """Add the trees' values to the scores of all pairs of queries `first` to `last`."""
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n > 1:
            table = np.zeros((n, n))
            _move(scores, start[q], table, False)
            _add(X[ptr[q] : ptr[q + 1]], model, table)
            _move(scores, start[q], table, True)


@jit
def item_scores(first, last, X, ptr, model, scores):
    """Write the scores of the documents of queries `first` to `last`; a list of one document has score 0."""
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n == 1:
            scores[ptr[q]] = 0.0
        elif n > 1:
            table = np.zeros((n, n))
            _add(X[ptr[q] : ptr[q + 1]], model, table)
            mean_differences(table, scores[ptr[q] : ptr[q + 1]])


@inner
def _move(scores, p, table, back):
    for a in range(table.shape[0]):
        for b in range(a + 1, table.shape[0]):
            if back:
                scores[p], scores[p + 1] = table[a, b], table[b, a]
            else:
                table[a, b], table[b, a] = scores[p], scores[p + 1]
            p += 2


@inner
def _add(X, model, table):
    """Add the trees' values to the table of a list's pairs, some rows of it at a time."""
    n = X.shape[0]
    x = np.empty((model.columns.size, n), np.float32)
    for c in range(model.columns.size):
        for i in range(n):
            x[c, i] = X[i, model.columns[c]]
    height = min(n, max(1, _TILE // n))
    d = np.empty((model.differences.size, height * n), np.float32)
    firsts, seconds = np.empty(height, np.uint64), np.empty(n, np.uint64)
    left = np.empty(height * n, np.uint64)
    found = np.zeros(height * n, np.uint8)
    for top in range(0, n, height):
        end = min(top + height, n)
        size = (end - top) * n
        for c in range(model.differences.size):
            own = x[model.differences[c]]
            for i in range(top, end):
                for j in range(n):
                    d[c, (i - top) * n + j] = own[i] - own[j]
        for w in range(model.nodes.shape[0]):
            begin, then = model.nodes[w, 0], model.nodes[w, 1]
            after, stop = model.nodes[w, 2], model.nodes[w, 3]
            for i in range(height):
                firsts[i] = _ALL
            for j in range(n):
                seconds[j] = _ALL
            for k in range(begin, then):
                _cross(x[model.column[k], top:end], k, model, firsts)
            for k in range(then, after):
                _cross(x[model.column[k]], k, model, seconds)
            for i in range(end - top):
                for j in range(n):
                    left[i * n + j] = firsts[i] & seconds[j]
            for k in range(after, stop):
                _cross(d[model.column[k], :size], k, model, left)
            _look_up(left, size, model.values[w], model, model.more[w], found, table[top:end])


@inner
def _cross(x, k, model, left):
    """Cross out the leaves of a node's left subtree where the node sends x to the right."""
    mask, threshold = model.mask[k], model.threshold[k]
    if model.missing_left[k]:
        for i in range(x.size):
            left[i] &= mask if x[i] > threshold else _ALL
    else:
        for i in range(x.size):
            left[i] &= _ALL if x[i] <= threshold else mask


@inner
def _look_up(left, size, start, model, more, found, table):
    flat = table.reshape(size)
    for i in range(size):
        m = left[i]
        low = m & (~m + np.uint64(1))
        leaf = _BIT[(low * np.uint64(_BRUIJN)) >> np.uint64(58)]
        new = m != np.uint64(0) and not (more and found[i])
        if new:
            flat[i] += model.value[start + leaf]
        found[i] = new or (more and found[i])
