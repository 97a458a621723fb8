"""One item of a node's histogram: build it for some words, subtract it from the parent's, and search both siblings."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.plain import larger, smaller
from rankwood._kernels.pointers import behind
from rankwood.engines.trees.growth.categories import REALS as CATEGORY_REALS
from rankwood.engines.trees.growth.categories import search_categories
from rankwood.engines.trees.growth.gains import NodeTerms
from rankwood.engines.trees.growth.histograms import (
    HISTOGRAM_ROOM,
    Gathered,
    InOrder,
    SumTarget,
    WordRange,
    add_half_word,
    add_in_order,
    add_words,
    clear_sums,
    flush,
    subtract,
    subtract_packed,
)
from rankwood.engines.trees.growth.records import (
    CODES,
    HALF_WORD,
    LANES,
    LINE,
    WIDE,
    WORDS,
    line_shift,
)
from rankwood.engines.trees.growth.search import (
    SEARCH_ROOM,
    drawn_threshold,
    fold_aliases,
    running_sums,
    search_numbers,
)

_U = np.uint64
_CODES, _WIDE = _U(CODES), _U(WIDE)
_CODE_BITS = 8
#: Integers and reals that a thread needs.
ROOM = HISTOGRAM_ROOM + SEARCH_ROOM
REALS = SEARCH_ROOM + CATEGORY_REALS
_SEARCH_AT = _U(HISTOGRAM_ROOM)


class HistogramItem(NamedTuple):
    """An item: columns `first` to `end`, its number, and the thread with its room."""

    first: Any
    end: Any
    number: Any
    member: Any
    room: Any


@uncounted
def build_and_search(tree, number, member):
    """Do one item; what it finds is in `TREE.found`."""
    small, large = tree.siblings[0], tree.siblings[1]
    columns = tree.items[number + (tree.gathered_items if tree.job[0].in_order else 0)]
    room = _U(tree.room_at + ROOM * member)
    item = HistogramItem(columns.first, columns.end, number, member, room)
    _build(tree, item)
    tree.found[2 * number].gain = -1
    tree.found[2 * number + 1].gain = -1
    for c in range(item.first, item.end):
        column = tree.columns[c]
        if column.features:
            at = _U(small.at) + _U(c) * (_CODES if small.packed else _WIDE)
            fold_aliases(tree.sums, at, column, small.packed)
            if small.wanted:
                _search_column(tree, item, column, at, 0)
            if large.at >= 0:
                parent = _U(large.at) + _U(c) * (_CODES if large.packed else _WIDE)
                _subtract(tree.sums, parent, large.packed, at, small.packed, _U(column.codes))
                if large.wanted:
                    _search_column(tree, item, column, parent, 1)


@uncounted
def _search_column(tree, item, column, at, sibling):
    """Search all features of a column for the best split of a sibling."""
    s = tree.siblings[sibling]
    node = NodeTerms(s.g, s.h, s.least, s.most, s.l1, s.l2, s.step, s.low, s.high, s.bounded != 0)
    reals, best = behind(tree.reals, REALS * item.member), tree.found[2 * item.number + sibling]
    for k in range(column.first, column.first + column.features):
        number = tree.listed[k]
        if tree.usable[s.usable * tree.n_features + number]:
            feature = tree.features[number]
            running_sums(tree.sums, at, s.packed, column, feature, item.room + _SEARCH_AT, reals)
            if feature.categorical:
                search_categories(tree, reals, number, node, s.count, best)
            else:
                drawn = np.int64(-1)
                if tree.extra:
                    drawn = drawn_threshold(s.path, number, feature)
                search_numbers(reals, number, feature, node, drawn, best)


@uncounted
def _subtract(sums, parent, parent_packed, child, child_packed, codes):
    """Subtract a column of a child from that of its parent, which becomes the sibling's."""
    if child_packed and not parent_packed:
        subtract_packed(sums, parent, child, codes)
    else:
        for half in range(1 if parent_packed else 2):
            subtract(sums, parent + _CODES * _U(half), child + _CODES * _U(half), codes)


@uncounted
def _build(tree, item):
    """Build the histogram of the smaller sibling."""
    job, small, at = tree.job[0], tree.siblings[0], item.room
    if small.packed:  # no accumulators: they are the histogram
        at = _U(small.at) + _U(item.first) * _CODES
        clear_sums(tree.sums, at, _U(item.end - item.first) * _CODES)
    begin = job.begin
    while begin < job.end:
        stop = _add_rows(tree, item, begin, SumTarget(tree.sums, at, item.room))
        if not small.packed:
            _flush_columns(tree, item, begin > job.begin)
        begin = stop


@uncounted
def _add_rows(tree, item, begin, target):
    """Add as many rows as packed sums can hold, from `begin` on; return where to continue."""
    job = tree.job[0]
    end = smaller(begin + job.flush_rows, job.end)
    if job.in_order and item.first < tree.document_columns:
        codes = behind(tree.codes, item.first * tree.n_documents)
        add_in_order(InOrder(tree.numbers, codes, _U(tree.n_documents)), begin, end, target)
        return end
    first, size, n_columns = item.first, end - begin, tree.document_columns
    rows, numbers = behind(tree.rows, job.buffer * tree.n_documents), tree.numbers
    lines = behind(tree.lines, first // LINE * WORDS * tree.n_documents)
    if first >= n_columns:
        first, n_columns = first - n_columns, tree.n_columns - n_columns
        rows = behind(tree.query_rows, item.member * tree.n_queries)
        numbers = behind(tree.query_sums, item.member * tree.n_queries)
        lines = behind(tree.query_lines, first // LINE * WORDS * tree.n_queries)
        end, size = _sum_by_query(tree, begin, end, rows, numbers)
        begin = np.int64(0)
    shift = _U(line_shift(n_columns // LANES, first // LANES))
    source = Gathered(rows, numbers, lines, shift)
    _add_gathered(source, _U(first % LINE), _U(item.end - item.first), begin, size, target)
    return end


@uncounted
def _add_gathered(source, first, columns, begin, size, target):
    """Add rows number `begin` to `begin + size` of `source` to packed sums of columns of a line, from `first` on."""
    if columns > _U(LANES):
        words = WordRange(first // _U(LANES), (first + columns) // _U(LANES))
        add_words(source, words, begin, begin + size, target)
        return
    for k in range(_U(0), columns, _U(HALF_WORD)):
        shift = (first + k) % _U(LANES) * _U(_CODE_BITS)
        half = SumTarget(target.sums, target.at + k * _CODES, target.room)
        add_half_word(source, (first + k) // _U(LANES), shift, begin, begin + size, half)


@uncounted
def _sum_by_query(tree, begin, end, queries, sums):
    """Sum the packed numbers of a node's rows by query, from `begin` on; list the queries.

    Rows of a query are adjacent. Return where to continue, and the number of queries; the last query is complete.
    """
    job, query_of, numbers = tree.job[0], tree.query_of, tree.numbers
    rows = behind(tree.rows, job.buffer * tree.n_documents)
    if end < job.end:
        end = larger(end - tree.longest, begin + 1)
    count, last = np.int64(0), np.int64(-1)
    while begin < job.end:
        row = rows[begin]
        query = np.int64(query_of[row])
        if query != last:
            if begin >= end:
                break
            queries[count] = query
            sums[query] = 0
            count += 1
            last = query
        sums[query] += numbers[row]
        begin += 1
    return begin, count


@uncounted
def _flush_columns(tree, item, add):
    """Flush the packed sums of a thread to the histogram of the smaller sibling."""
    sums, at = tree.sums, _U(tree.siblings[0].at)
    for c in range(item.first, item.end):
        column = tree.columns[c]
        packed = item.room + _U(c - item.first) * _CODES
        if column.features:
            codes = _U(column.codes + column.aliases)
            flush(sums, packed, at + _U(c) * _WIDE, codes, add)
        else:  # a lane that no column has: all rows have code 0
            sums[packed] = 0
