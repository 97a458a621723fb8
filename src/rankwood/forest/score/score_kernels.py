"""The scorer's kernels: documents to codes, codes to leaves, leaves to scores.

Documents are scored in blocks of 32, 64 or 128, the width. A block's codes lie column by column, and so do the rows of
the programs. Four trees are evaluated before their leaves are added, in the order of trees.
"""

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood._kernels.numeric.vectors import (
    answers_32,
    answers_128,
    below_16,
    select_32,
    select_64,
    select_128,
)

BLOCK = 128  # documents
TOGETHER = 4  # trees whose leaves are added together


@inner
def _fill_codes(X, first, last, searches, width, codes):
    """Write the codes of the documents `first` to `last`."""
    # Unsigned indices: Numba would ask of signed ones whether they are negative.
    size = np.uint64(last - first)
    begin = np.uint64(first)
    for s in range(np.uint64(searches.feature.size)):
        f, count = np.uint64(searches.feature[s]), np.uint8(searches.thresholds[s])
        left, right = searches.left[s] * width, searches.right[s] * width
        low, high = codes[max(left, 0) :], codes[max(right, 0) :]
        for d in range(size):
            x = X[begin + d, f]
            coarse = below_16(searches.pivots, s * np.uint64(16), x)
            fine = below_16(searches.tables, s * np.uint64(256) + np.uint64(coarse * 16), x)
            code = np.uint8(coarse * 16 + fine)
            if left >= 0:
                low[d] = code  # nothing is below NaN: its code is 0
            if right >= 0:
                high[d] = count if x != x else code


@inner
def _unpacked(word, width):
    """Return an operation: where its column begins, the limit, and where the rows a, b and to begin."""
    c = np.intp(word & np.uint64(65535)) * width
    k = np.uint8((word >> np.uint64(16)) & np.uint64(255))
    a = np.intp((word >> np.uint64(24)) & np.uint64(4095)) * width
    b = np.intp((word >> np.uint64(36)) & np.uint64(4095)) * width
    to = np.intp(word >> np.uint64(48)) * width
    return c, k, (a, b, to)


@inner
def _run_programs(operations, first, last, width, codes, rows):
    """Run operations; the width is a constant in each loop: an operation has no branch and no multiplication."""
    if width == 128:
        for i in range(first, last):
            c, k, place = _unpacked(operations[i], 128)
            select_128(codes, c, k, rows, place)
    elif width == 64:
        for i in range(first, last):
            c, k, place = _unpacked(operations[i], 64)
            select_64(codes, c, k, rows, place)
    else:
        for i in range(first, last):
            c, k, place = _unpacked(operations[i], 32)
            select_32(codes, c, k, rows, place)


@inner
def _answer_levels(levels, t, width, codes, rows, to):
    """Write the leaf of each document in a symmetric tree: the answer of level i is bit i."""
    if width == 128:
        answers_128(codes, levels, levels.first[t], levels.first[t + 1], rows, to)
    else:
        answers_32(codes, levels, levels.first[t], levels.first[t + 1], rows, to)


@inner
def _add_leaves(leaves, t, rows, at, width, out):
    """Add the leaves of tree t."""
    value, row = leaves.value[leaves.first[t] :], rows[at[0] * width :]
    for d in range(np.uint64(out.size)):
        out[d] += value[np.uint64(row[d])]


@inner
def _add_four(leaves, t, rows, at, width, out):
    """Add the leaves of the four trees from t on, one after another."""
    i, j = leaves.value[leaves.first[t] :], leaves.value[leaves.first[t + 1] :]
    k, m = leaves.value[leaves.first[t + 2] :], leaves.value[leaves.first[t + 3] :]
    a, b = rows[at[0] * width :], rows[at[1] * width :]
    c, e = rows[at[2] * width :], rows[at[3] * width :]
    for d in range(np.uint64(out.size)):
        total = out[d] + i[np.uint64(a[d])]
        total += j[np.uint64(b[d])]
        total += k[np.uint64(c[d])]
        out[d] = total + m[np.uint64(e[d])]


@inner
def _width(documents):
    """Return the width of a block of so many documents."""
    return 32 if documents <= 32 else 64 if documents <= 64 else 128


@inner
def _run_block(width, codes, program, leaves, rows, out):
    """Add the leaves of all trees to the scores of a block."""
    for row in range(program.leaves):
        rows[row * width : (row + 1) * width] = row
    t, trees = 0, leaves.first.size - 1
    while t < trees:
        count = TOGETHER if t + TOGETHER <= trees else 1
        first, last = program.first[t], program.first[t + count]
        _run_programs(program.operations, first, last, width, codes, rows)
        at = program.result[t : t + count]
        if count == TOGETHER:
            _add_four(leaves, t, rows, at, width, out)
        else:
            _add_leaves(leaves, t, rows, at, width, out)
        t += count


@inner
def _answer_block(width, codes, levels, leaves, rows, out):
    """Do as `_run_block`, for symmetric trees."""
    at = np.arange(TOGETHER)
    t, trees = 0, leaves.first.size - 1
    while t < trees:
        count = TOGETHER if t + TOGETHER <= trees else 1
        for i in range(count):
            _answer_levels(levels, t + i, width, codes, rows, i * width)
        if count == TOGETHER:
            _add_four(leaves, t, rows, at, width, out)
        else:
            _add_leaves(leaves, t, rows, at, width, out)
        t += count


@jit
def score_by_programs(X, searches, program, leaves, room, out):
    """Add the leaves of all trees to the scores of all documents."""
    codes, rows = room
    for begin in range(0, X.shape[0], BLOCK):
        end = min(begin + BLOCK, X.shape[0])
        width = _width(end - begin)
        _fill_codes(X, begin, end, searches, width, codes)
        _run_block(width, codes, program, leaves, rows, out[begin:end])


@jit
def score_by_levels(X, searches, levels, leaves, room, out):
    """Do as `score_by_programs`, for symmetric trees."""
    codes, rows = room
    for begin in range(0, X.shape[0], BLOCK):
        end = min(begin + BLOCK, X.shape[0])
        width = 32 if end - begin <= 32 else 128
        _fill_codes(X, begin, end, searches, width, codes)
        _answer_block(width, codes, levels, leaves, rows, out[begin:end])


@inner
def _step(nodes, i, codes):
    """Return the node or leaf below node i; a leaf is below itself."""
    word = nodes[i]
    limit = np.uint8((word >> np.uint64(16)) & np.uint64(255))
    low = codes[word & np.uint64(65535)] <= limit
    return ((word >> np.uint64(24)) if low else (word >> np.uint64(40))) & np.uint64(65535)


@inner
def _add_value(leaves, t, paths, i, out, d):
    """Add the value of a leaf; leaves are numbered after the nodes of their tree."""
    nodes = (paths.first[t + 1] - paths.first[t]) // 2
    out[d] += leaves.value[leaves.first[t] + np.int64(i) - nodes]


@jit
def score_by_walking(X, searches, paths, leaves, room, out):
    """Do as `score_by_programs`, for few documents: each walks down four trees side by side, without a branch."""
    codes, start, trees = room[0], np.uint64(0), leaves.first.size - 1
    for d in range(X.shape[0]):
        _fill_codes(X, d, d + 1, searches, 1, codes)
        t = 0
        while t + TOGETHER <= trees:
            a, b = paths.nodes[paths.first[t] :], paths.nodes[paths.first[t + 1] :]
            c, e = paths.nodes[paths.first[t + 2] :], paths.nodes[paths.first[t + 3] :]
            i, j, k, m = start, start, start, start
            for _ in range(paths.depth[t : t + TOGETHER].max()):
                i, j = _step(a, i, codes), _step(b, j, codes)
                k, m = _step(c, k, codes), _step(e, m, codes)
            _add_value(leaves, t, paths, i, out, d)
            _add_value(leaves, t + 1, paths, j, out, d)
            _add_value(leaves, t + 2, paths, k, out, d)
            _add_value(leaves, t + 3, paths, m, out, d)
            t += TOGETHER
        while t < trees:
            nodes, i = paths.nodes[paths.first[t] :], start
            for _ in range(paths.depth[t]):
                i = _step(nodes, i, codes)
            _add_value(leaves, t, paths, i, out, d)
            t += 1
