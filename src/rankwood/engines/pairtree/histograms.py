"""Histograms of a node: gradients are summed per document, per query and per pair, then per bin.

For a node, one pass over its pairs sums gradients per first document, per second document and per query
(`aggregate`). Histograms of document features are built from those sums, so they read a row per document instead of
one per pair; only differences read pairs. Of two siblings, the histogram of the one with fewer pairs is built, and
the other one is the parent's minus it (histogram subtraction). All sums are integers (`fixed_point`): exact, in any
order.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inline, inner, jit
from rankwood._kernels.numeric.intrinsics import add_pair, prefetch
from rankwood.engines.pairtree.binning import LANES, SINK
from rankwood.engines.pairtree.fixed_point import Scale, Sums
from rankwood.engines.pairtree.pair_layout import direction, item_of, unordered
from rankwood.engines.pairtree.row_sums import RowSums, sums_at, write_row
from rankwood.engines.pairtree.splitting import (
    MAX_BINS,
    FeatureHistogram,
    LeftSums,
    Limits,
    cumulate,
    largest_gain,
)

# Whose sums a block's histograms are made of.
OF_FIRSTS, OF_SECONDS, OF_QUERIES, OF_PAIRS = range(4)

_ONE = np.uint64(1)  # an unsigned index plus a signed number would be a float
_FIRST, _SECOND = np.uint64(0), np.uint64(1)
# `aggregate` keeps four numbers per document: its sums as the first one of pairs, and as the second one.
_WORK_SHIFT, _WORK_SECOND = np.uint64(2), np.uint64(2)
_ALL_SIGNS = np.uint64(0x01010101)  # the sign bits of the four differences in a word
# Shifts of a word that give twice the bin of lanes 1, 2, 3: a bin has two numbers in a histogram.
_TWICE_LANE_1, _TWICE_LANE_2, _TWICE_LANE_3 = np.uint64(7), np.uint64(15), np.uint64(23)
_TWICE_BIN_MASK = np.uint64(2 * 255)
# A node with less than one in so many unordered pairs reads bins that are far apart in memory: we prefetch them.
_SPARSE = 4
_PREFETCH_DISTANCE = 32  # in pairs


class NodeSums(NamedTuple):
    """The gradient sums of a node by first document, by second document, by query and by pair."""

    firsts: RowSums
    seconds: RowSums
    queries: RowSums
    pairs: RowSums


class BinWords(NamedTuple):
    """Packed bins of documents, queries and unordered pairs: `[b, row]` has those of features 4b to 4b + 3."""

    items: np.ndarray
    queries: np.ndarray
    pairs: np.ndarray


class FeatureBlocks(NamedTuple):
    """Blocks of up to four features that share a word, and where their histograms lie."""

    kind: np.ndarray  # OF_FIRSTS to OF_PAIRS
    row: np.ndarray  # in the `BinWords` of its kind
    offset: np.ndarray  # of each lane in a histogram, and the end of the block
    n_bins: np.ndarray  # of each lane without missing values; 0 for lanes without a feature
    split_ids: np.ndarray
    words: BinWords


class Siblings(NamedTuple):
    """Histograms of two siblings, or of the root alone."""

    small: np.ndarray  # to be built
    large: np.ndarray  # the parent's, to be subtracted from; empty for the root


class Search(NamedTuple):
    """The search for splits of two siblings, small and large: `gains` gets the best one by sibling and feature."""

    totals: np.ndarray  # the `Sums` of each sibling
    wanted: np.ndarray  # whether the sibling may be split
    scale: Scale
    limits: Limits
    gains: np.ndarray


@jit
def aggregate(pairs, ptr, pair_ptr, items, work, out):
    """Sum a node's pairs by first document, by second document and by query; return `NodeSums`.

    Pairs are sorted by query. The sums of a query's documents live in `work`, which is all zero before and after.
    `out` is `NodeSums` with room for the rows.
    """
    rows, sums = pairs.rows, pairs.sums
    first_rows, first_sums = out.firsts.rows, out.firsts.sums
    second_rows, second_sums = out.seconds.rows, out.seconds.sums
    query_rows, query_sums = out.queries.rows, out.queries.sums
    n_firsts, n_seconds, n_queries = np.uint64(0), np.uint64(0), np.uint64(0)
    q = 0
    k, n = np.uint64(0), np.uint64(rows.size)
    while k < n:
        while np.int64(rows[k]) >= pair_ptr[q + 1]:
            q += 1
        end = pair_ptr[q + 1]
        while k < n and np.int64(rows[k]) < end:
            pair = np.uint64(rows[k])
            first, second = item_of(items, pair, _FIRST), item_of(items, pair, _SECOND)
            add_pair(work, first << _WORK_SHIFT, sums, sums_at(k))
            add_pair(work, (second << _WORK_SHIFT) + _WORK_SECOND, sums, sums_at(k))
            k += _ONE
        g, packed = np.int64(0), np.int64(0)
        for item in range(np.uint64(ptr[q]), np.uint64(ptr[q + 1])):
            at = item << _WORK_SHIFT
            g += work[at]
            packed += work[at + _ONE]
            n_firsts = _compact(work, at, item, first_rows, first_sums, n_firsts)
            n_seconds = _compact(work, at + _WORK_SECOND, item, second_rows, second_sums, n_seconds)
        write_row(query_rows, query_sums, n_queries, q, g, packed)
        n_queries += _ONE
    return NodeSums(
        RowSums(first_rows[:n_firsts], first_sums),
        RowSums(second_rows[:n_seconds], second_sums),
        RowSums(query_rows[:n_queries], query_sums),
        pairs,
    )


@inline
def _compact(work, at, item, rows, sums, n):
    """Move a document's sums from `work` to the end of a list of length n; return the new length.

    Branch-free compaction: always write the document, but advance the cursor only if it has pairs.
    """
    g, packed = work[at], work[at + _ONE]
    work[at] = work[at + _ONE] = 0
    write_row(rows, sums, n, item, g, packed)
    return n + np.uint64(packed != 0)  # it has the count


@jit
def build_histograms(first, last, blocks, node, siblings, search):
    """Build the small sibling's histograms for blocks `first` to `last`, subtract them from the parent's, search both.

    `node` are the small sibling's `NodeSums`.
    """
    kind, row, offset, n_bins = blocks.kind, blocks.row, blocks.offset, blocks.n_bins
    hist, parent, wanted = siblings.small, siblings.large, search.wanted
    left = LeftSums(np.empty(MAX_BINS, np.int64), np.empty(MAX_BINS, np.int64))
    n_prefetched = _prefetched(node.pairs.rows.size, blocks.words.pairs.shape[1])
    for k in range(first, last):
        starts = offset[k, 0], offset[k, 1], offset[k, 2], offset[k, 3]
        begin, end = starts[0], offset[k, LANES]
        for i in range(begin, end):
            hist[i] = 0
        if n_bins[k, LANES - 1] == 0:  # some lanes have no feature
            for i in range(hist.size - SINK, hist.size):
                hist[i] = 0
        if kind[k] == OF_PAIRS:
            _add_pairs(blocks.words.pairs[row[k]], node.pairs, n_prefetched, hist, starts)
        elif kind[k] == OF_QUERIES:
            _add_rows(blocks.words.queries[row[k]], node.queries, hist, starts)
        elif kind[k] == OF_FIRSTS:
            _add_rows(blocks.words.items[row[k]], node.firsts, hist, starts)
        else:
            _add_rows(blocks.words.items[row[k]], node.seconds, hist, starts)
        if wanted[0]:
            _search_block(0, k, blocks, hist, search, left)
        if parent.size:
            for i in range(begin, end):
                parent[i] -= hist[i]
            if wanted[1]:
                _search_block(1, k, blocks, parent, search, left)


@inner
def _prefetched(n_pairs, n_unordered):
    """Return for how many pairs of a node, from the first one on, the bins of a later pair are prefetched."""
    sparse = _SPARSE * n_pairs < n_unordered
    return np.uint64(max(0, n_pairs - _PREFETCH_DISTANCE) if sparse else 0)


@inner
def _add_rows(words, node, hist, starts):
    """Add the sums of documents or queries to the histograms of four features."""
    rows, sums = node.rows, node.sums
    for k in range(np.uint64(rows.size)):
        _add_to_lanes(np.uint64(words[rows[k]]), sums, sums_at(k), hist, starts)


@inner
def _add_pairs(words, node, n_prefetched, hist, starts):
    """Add the gradients of pairs to the histograms of four differences; those of (b, a) have the other sign."""
    rows, sums = node.rows, node.sums
    for k in range(n_prefetched):
        prefetch(words, unordered(np.uint64(rows[k + np.uint64(_PREFETCH_DISTANCE)])))
        _add_to_lanes(_word_of_pair(words, rows[k]), sums, sums_at(k), hist, starts)
    for k in range(n_prefetched, np.uint64(rows.size)):
        _add_to_lanes(_word_of_pair(words, rows[k]), sums, sums_at(k), hist, starts)


@inline
def _word_of_pair(words, row):
    """Return the four codes of an ordered pair."""
    pair = np.uint64(row)
    return np.uint64(words[unordered(pair)]) ^ (direction(pair) * _ALL_SIGNS)


@inline
def _add_to_lanes(word, sums, at, hist, starts):
    """Add a row's sums, two numbers from `at` on, to its bin of each of four features."""
    add_pair(hist, starts[0] + ((word << _ONE) & _TWICE_BIN_MASK), sums, at)
    add_pair(hist, starts[1] + ((word >> _TWICE_LANE_1) & _TWICE_BIN_MASK), sums, at)
    add_pair(hist, starts[2] + ((word >> _TWICE_LANE_2) & _TWICE_BIN_MASK), sums, at)
    add_pair(hist, starts[3] + ((word >> _TWICE_LANE_3) & _TWICE_BIN_MASK), sums, at)


@inline
def _search_block(sibling, k, blocks, hist, search, left):
    """Write the largest gain of each feature of a block.

    It is inlined: a call would count references of all arrays in its records, which threads share.
    """
    sums = Sums(search.totals[sibling, 0], search.totals[sibling, 1])
    signed = blocks.kind[k] == OF_PAIRS
    for lane in range(LANES):
        n = blocks.n_bins[k, lane]
        if n:
            split_id = blocks.split_ids[k, lane]
            feature = FeatureHistogram(split_id, blocks.offset[k, lane], signed, n)
            cumulate(hist, feature, search.scale, left)
            gain = largest_gain(left, n, sums, search.scale, search.limits)
            search.gains[sibling, split_id] = gain
