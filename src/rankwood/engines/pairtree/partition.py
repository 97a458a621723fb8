"""Partition a node's pairs, in place and stably, into those that go left and those that go right.

Each pair is written to both sides, but only one of the two cursors advances (branch-free compaction):

    rows   [ L L L L | free | k, yet to be read ... ]          spare  [ R R R | free ... ]
                     ^ n_left                                                 ^ n_right

At the end, the right pairs are copied back behind the left ones.
"""

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood.engines.pairtree.pair_layout import direction, item_of, unordered
from rankwood.engines.pairtree.row_sums import sums_at, write_row

_BIN_MASK = np.uint64(255)
_ONE = np.uint64(1)  # an unsigned index plus a signed number would be a float


@jit
def by_item(pairs, items, second, goes_left, spare):
    """Partition by the first document of each pair, or the second one; return how many pairs go left.

    `goes_left` has 1 for each document that goes left; `spare` has room for the pairs that go right.
    """
    rows, sums, right_rows, right_sums = pairs.rows, pairs.sums, spare.rows, spare.sums
    n_left, n_right = np.uint64(0), np.uint64(0)
    for k in range(np.uint64(rows.size)):
        pair = np.uint64(rows[k])
        left = np.uint64(goes_left[item_of(items, pair, second)])
        g, packed = sums[sums_at(k)], sums[sums_at(k) + _ONE]
        write_row(rows, sums, n_left, pair, g, packed)
        write_row(right_rows, right_sums, n_right, pair, g, packed)
        n_left += left
        n_right += _ONE - left
    _append(right_rows, right_sums, n_right, rows, sums, n_left)
    return n_left


@jit
def by_difference(pairs, words, shift, goes_left, spare):
    """Partition by a difference; `goes_left` has 1 for each bin that goes left, `shift` is where a word has it."""
    rows, sums, right_rows, right_sums = pairs.rows, pairs.sums, spare.rows, spare.sums
    n_left, n_right = np.uint64(0), np.uint64(0)
    for k in range(np.uint64(rows.size)):
        pair = np.uint64(rows[k])
        code = ((np.uint64(words[unordered(pair)]) >> shift) & _BIN_MASK) ^ direction(pair)
        left = np.uint64(goes_left[code])
        g, packed = sums[sums_at(k)], sums[sums_at(k) + _ONE]
        write_row(rows, sums, n_left, pair, g, packed)
        write_row(right_rows, right_sums, n_right, pair, g, packed)
        n_left += left
        n_right += _ONE - left
    _append(right_rows, right_sums, n_right, rows, sums, n_left)
    return n_left


@inner
def _append(right_rows, right_sums, n_right, rows, sums, n_left):
    """Copy the right pairs behind the left ones."""
    for k in range(n_right):
        rows[n_left + k] = right_rows[k]
    for k in range(sums_at(n_right)):
        sums[sums_at(n_left) + k] = right_sums[k]


@jit
def mark_leaf(rows, leaf, leaf_of_pair):
    """Write a leaf's number for each of its pairs."""
    for k in range(rows.size):
        leaf_of_pair[rows[k]] = leaf
