"""Moving the rows of a node to its two children, chunk by chunk, stably.

A first pass notes where each row of a chunk goes and counts those that go left; the first member of the team adds the
counts up; a second pass writes the rows to the other buffer. Each row is written once, to the side that it goes to:
a spare write to the other side could destroy a row of another thread's chunk.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import smaller
from rankwood._kernels.pointers import behind
from rankwood.engines.trees.growth.records import CHUNK_ROWS, LIVE, UNUSED

_U = np.uint64
_1 = _U(1)
_MOST_BLOCKS = 16


class SplitColumn(NamedTuple):
    """The column of a split: its codes by row or by query, and which of them go left."""

    codes: np.ndarray
    table: np.ndarray
    of_queries: bool


@uncounted
def next_buffer(buffer):
    """Return the buffer in which the children of a node have their rows."""
    return 1 if buffer == 0 else 0


@uncounted
def mark_chunk(chunk, rows, column, query_of, goes_left):
    """Note which rows of a chunk go left, and count them."""
    codes, table, count = column.codes, column.table, _U(0)
    if column.of_queries:
        for k in range(_U(chunk.begin), _U(chunk.end)):
            left = table[_U(codes[_U(query_of[_U(rows[k])])])]
            goes_left[k] = left
            count += _U(left)
    else:
        for k in range(_U(chunk.begin), _U(chunk.end)):
            left = table[_U(codes[_U(rows[k])])]
            goes_left[k] = left
            count += _U(left)
    chunk.left = np.int64(count)


@uncounted
def move_chunk(chunk, rows, goes_left, out):
    """Write the rows of a chunk to the places from `left` and `right` on."""
    left, right = _U(chunk.left), _U(chunk.right)
    for k in range(_U(chunk.begin), _U(chunk.end)):
        to_left = _U(goes_left[k])
        out[left if to_left else right] = rows[k]
        left += to_left
        right += _1 - to_left


@uncounted
def score_blocks(n_documents):
    """Return the number of blocks of documents whose scores one thread changes at a time."""
    return smaller(n_documents // CHUNK_ROWS + 1, _MOST_BLOCKS)


@uncounted
def add_to_scores(tree, block):
    """Add the values of leaves to the scores of a block of documents.

    Threads that took leaves instead would write to the same cache lines.
    """
    n, n_blocks = tree.n_documents, score_blocks(tree.n_documents)
    first, last = n * block // n_blocks, n * (block + 1) // n_blocks
    for leaf in range(tree.job[0].leaves):
        value = tree.leaves[leaf].value
        rows = behind(tree.rows, tree.nodes[leaf].buffer * n)
        for kind in range(LIVE, UNUSED + 1):
            places = tree.ranges[(UNUSED + 1) * leaf + kind]
            end = _first_from(rows, places.begin, places.end, last)
            for k in range(_U(_first_from(rows, places.begin, end, first)), _U(end)):
                tree.scores[_U(rows[k])] += value


@uncounted
def _first_from(rows, begin, end, row):
    """Return the first of some places whose row is at least `row`; the rows of a leaf are in ascending order."""
    while begin < end:
        middle = (begin + end) // 2
        if rows[middle] < row:
            begin = middle + 1
        else:
            end = middle
    return begin


@uncounted
def list_chunks(begin, end, buffer, leaf, chunks, count):
    """Append the chunks of a range of rows; return how many chunks there are then."""
    while begin < end:
        chunk = chunks[count]
        chunk.begin = begin
        chunk.end = smaller(begin + CHUNK_ROWS, end)
        chunk.buffer = buffer
        chunk.leaf = leaf
        begin += CHUNK_ROWS
        count += 1
    return count
