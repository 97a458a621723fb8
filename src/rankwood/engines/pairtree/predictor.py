r"""Scores of all pairs of a list at once, by bit vectors of leaves (the idea of QuickScorer).

Leaves are numbered from left to right, and a pair begins with a bit for every leaf. Each inner node that sends the
pair right clears the bits of the leaves of its left subtree; the lowest bit that remains is the pair's leaf:

             node 0                 bits of leaves  3 2 1 0
            /      \                all leaves      1 1 1 1
        node 1    node 2            0 sends right   1 1 0 0     (it clears leaves 0 and 1)
        /    \    /    \            2 sends left    1 1 0 0
       0      1  2      3           lowest bit: leaf 2

A node on one document is evaluated once per document, not once per pair, and the results meet in one 64-bit word.
Trees with more than 64 leaves have several words; the first word with a bit left has the leaf.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood.engines.pairtree.binning import DIFFERENCE
from rankwood.engines.pairtree.pair_layout import mean_differences, read_pairs, write_pairs
from rankwood.engines.pairtree.tree import Tree

_WORD_BITS = 64
_ALL_BITS = 2**64 - 1
_ALL_LEAVES = np.uint64(_ALL_BITS)
_TILE = 8192  # pairs that are scored together: their words stay in the cache

_DE_BRUIJN = 0x03F79D71B4CB0A89  # its 64 windows of six bits all differ: the top bits of its product with 2^k tell k
_WINDOW_SHIFT = 58


def _bit_of_window() -> np.ndarray:
    table = np.empty(_WORD_BITS, np.int64)
    for bit in range(_WORD_BITS):
        table[(_DE_BRUIJN << bit & _ALL_BITS) >> _WINDOW_SHIFT] = bit
    return table


_BIT_OF_WINDOW = _bit_of_window()


class BitTrees(NamedTuple):
    """Trees as words of 64 leaves, in the order of trees.

    Word w has the nodes node_ptr[w, s] to node_ptr[w, s + 1] - 1 on side s, and its leaf values begin at
    value_ptr[w].
    """

    columns: np.ndarray  # the columns of X in use
    differences: np.ndarray  # places in `columns` of those whose differences are in use
    node_ptr: np.ndarray
    value_ptr: np.ndarray
    continues: np.ndarray  # 1 if the word isn't the first one of its tree
    column: np.ndarray  # of a node: its place in `columns`, or in `differences`
    threshold: np.ndarray
    missing_left: np.ndarray
    mask: np.ndarray  # the leaves that remain if the node sends a pair right
    value: np.ndarray  # of leaves


class _BitNode(NamedTuple):
    """One node's part in a word."""

    column: int
    threshold: float
    missing_left: int
    mask: int


def bit_trees(trees: list[Tree]) -> BitTrees:
    """Turn trees into words."""
    sides = np.concatenate([np.zeros(0, np.uint8), *(tree.side for tree in trees)])
    used = np.concatenate([np.zeros(0, np.int32), *(tree.column for tree in trees)])
    columns = np.unique(used)
    differences = np.searchsorted(columns, np.unique(used[sides == DIFFERENCE]))
    node_ptr, value_ptr, continues = [], [], []
    values: list[float] = []
    nodes: list[_BitNode] = []
    for tree in trees:
        spans, order = _left_spans(tree)
        at = np.searchsorted(columns, tree.column)
        place = np.where(tree.side == DIFFERENCE, np.searchsorted(differences, at), at)
        for begin in range(0, len(order), _WORD_BITS):
            ptr = [len(nodes)]
            for side in range(3):
                nodes += _nodes_of_word(tree, side, place, spans, begin)
                ptr.append(len(nodes))
            node_ptr.append(ptr)
            value_ptr.append(len(values) + begin)
            continues.append(begin > 0)
        values += [float(tree.value[leaf]) for leaf in order]
    return BitTrees(
        columns=columns.astype(np.int64),
        differences=differences.astype(np.int64),
        node_ptr=np.array(node_ptr, np.int64).reshape(-1, 4),
        value_ptr=np.array(value_ptr, np.int64),
        continues=np.array(continues, np.uint8),
        column=np.array([node.column for node in nodes], np.int64),
        threshold=np.array([node.threshold for node in nodes], np.float32),
        missing_left=np.array([node.missing_left for node in nodes], np.uint8),
        mask=np.array([node.mask for node in nodes], np.uint64),
        value=np.array([*values, 0.0]),
    )


def _nodes_of_word(
    tree: Tree, side: int, place: np.ndarray, spans: list[tuple[int, int]], begin: int
) -> list[_BitNode]:
    """Return the nodes on one side that can clear any of the 64 leaves from `begin` on."""
    nodes = []
    for k in np.flatnonzero(tree.side == side):
        low, high = max(spans[k][0] - begin, 0), min(spans[k][1] - begin, _WORD_BITS)
        if low < high:
            mask = ~(((1 << (high - low)) - 1) << low) & _ALL_BITS
            nodes.append(_BitNode(place[k], tree.threshold[k], tree.missing_left[k], mask))
    return nodes


def _left_spans(tree: Tree) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the range of each inner node's left leaves, counted from left to right, and the leaves in that order."""
    spans = [(0, 0)] * tree.side.size
    order: list[int] = []
    stack: list[tuple[int, int]] = [(0 if tree.side.size else -1, -1)]
    while stack:
        node, begin = stack.pop()
        if node < 0:
            order.append(-1 - node)
        elif begin < 0:
            # The left subtree comes first, then this node again with its begin, then the right subtree.
            left, right = int(tree.left[node]), int(tree.right[node])
            stack += [(right, -1), (node, len(order)), (left, -1)]
        else:
            spans[node] = begin, len(order)
    return spans, order


@jit
def add_pair_scores(first, last, X, ptr, pair_ptr, trees, scores):
    """Add the trees' values to the scores of all pairs of queries `first` to `last`."""
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n > 1:
            table = np.zeros((n, n))
            read_pairs(scores, pair_ptr[q], table)
            _add_trees(X[ptr[q] : ptr[q + 1]], trees, table)
            write_pairs(table, scores, pair_ptr[q])


@jit
def score_items(first, last, X, ptr, trees, scores):
    """Write the scores of the documents of queries `first` to `last`; a document alone has score 0."""
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        if n == 1:
            scores[ptr[q]] = 0.0
        elif n > 1:
            table = np.zeros((n, n))
            _add_trees(X[ptr[q] : ptr[q + 1]], trees, table)
            mean_differences(table, scores[ptr[q] : ptr[q + 1]])


@inner
def _add_trees(X, trees, table):
    """Add the trees' values to the n by n table of a list's pairs, some rows (first documents) at a time."""
    n = X.shape[0]
    x = np.empty((trees.columns.size, n), np.float32)
    for c in range(trees.columns.size):
        for i in range(n):
            x[c, i] = X[i, trees.columns[c]]
    height = min(n, max(1, _TILE // n))
    differences = np.empty((trees.differences.size, height * n), np.float32)
    firsts, seconds = np.empty(height, np.uint64), np.empty(n, np.uint64)
    leaves = np.empty(height * n, np.uint64)
    found = np.zeros(height * n, np.uint8)
    for top in range(0, n, height):
        end = min(top + height, n)
        size = (end - top) * n
        _fill_differences(x, trees.differences, top, end, differences)
        for w in range(trees.node_ptr.shape[0]):
            begin, after_firsts = trees.node_ptr[w, 0], trees.node_ptr[w, 1]
            after_seconds, stop = trees.node_ptr[w, 2], trees.node_ptr[w, 3]
            for i in range(height):
                firsts[i] = _ALL_LEAVES
            for j in range(n):
                seconds[j] = _ALL_LEAVES
            for k in range(begin, after_firsts):
                _clear_leaves(x[trees.column[k], top:end], k, trees, firsts)
            for k in range(after_firsts, after_seconds):
                _clear_leaves(x[trees.column[k]], k, trees, seconds)
            for i in range(end - top):
                for j in range(n):
                    leaves[i * n + j] = firsts[i] & seconds[j]
            for k in range(after_seconds, stop):
                _clear_leaves(differences[trees.column[k], :size], k, trees, leaves)
            _add_leaf_values(leaves[:size], w, trees, found, table[top:end])


@inner
def _fill_differences(x, columns, top, end, out):
    """Write x_i - x_j of the columns for documents i from `top` to `end` and all documents j."""
    n = x.shape[1]
    for c in range(columns.size):
        own = x[columns[c]]
        for i in range(top, end):
            for j in range(n):
                out[c, (i - top) * n + j] = own[i] - own[j]


@inner
def _clear_leaves(x, k, trees, leaves):
    """Clear the leaves of node k's left subtree wherever the node sends x right."""
    mask, threshold = trees.mask[k], trees.threshold[k]
    if trees.missing_left[k]:
        for i in range(x.size):
            leaves[i] &= mask if x[i] > threshold else _ALL_LEAVES
    else:
        for i in range(x.size):
            leaves[i] &= _ALL_LEAVES if x[i] <= threshold else mask


@inner
def _add_leaf_values(leaves, w, trees, found, table):
    """Add the value of each pair's lowest leaf in word w, unless an earlier word of the tree had one (`found`)."""
    start, continues = trees.value_ptr[w], trees.continues[w]
    flat = table.reshape(leaves.size)
    for i in range(leaves.size):
        lowest = leaves[i] & (~leaves[i] + np.uint64(1))
        leaf = _BIT_OF_WINDOW[(lowest * np.uint64(_DE_BRUIJN)) >> np.uint64(_WINDOW_SHIFT)]
        new = lowest != np.uint64(0) and not (continues and found[i])
        if new:
            flat[i] += trees.value[start + leaf]
        found[i] = new or (continues and found[i])
