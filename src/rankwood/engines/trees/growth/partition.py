"""Moving the rows of a node to its two children, chunk by chunk, stably.

A first pass notes where each row of a chunk goes and counts those that go left; the first member of the team adds the
counts up; a second pass writes the rows to the other buffer. Each row is written once, to the side that it goes to:
a spare write to the other side could destroy a row of another thread's chunk.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import smaller
from rankwood.engines.trees.growth.records import CHUNK_ROWS

_U = np.uint64
_1 = _U(1)
_BYTE = _U(255)


class SplitColumn(NamedTuple):
    """The column of a split: its word by row or by query, its place in the word, and which codes go left."""

    words: np.ndarray
    shift: Any
    table: np.ndarray
    of_queries: bool


@uncounted
def next_buffer(buffer):
    """Return the buffer in which the children of a node have their rows."""
    return 1 if buffer == 0 else 0


@uncounted
def mark_chunk(chunk, rows, column, query_of, goes_left):
    """Note which rows of a chunk go left, and count them."""
    words, shift, table, count = column.words, column.shift, column.table, _U(0)
    if column.of_queries:
        for k in range(_U(chunk.begin), _U(chunk.end)):
            left = table[(words[_U(query_of[_U(rows[k])])] >> shift) & _BYTE]
            goes_left[k] = left
            count += _U(left)
    else:
        for k in range(_U(chunk.begin), _U(chunk.end)):
            left = table[(words[_U(rows[k])] >> shift) & _BYTE]
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
def add_to_scores(chunk, rows, value, scores):
    """Add the value of a leaf to the scores of its rows."""
    for k in range(_U(chunk.begin), _U(chunk.end)):
        scores[_U(rows[k])] += value


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
