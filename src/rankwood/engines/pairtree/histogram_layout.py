"""Which features a tree may split on, where their histograms lie, and what a split on each one means."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import mix
from rankwood.engines.pairtree import histograms
from rankwood.engines.pairtree.binning import (
    DIFFERENCE,
    FIRST,
    LANES,
    SECOND,
    SINK,
    BinnedColumns,
    BinnedData,
    Column,
)
from rankwood.engines.pairtree.histograms import BinWords, FeatureBlocks
from rankwood.engines.pairtree.splitting import FeatureHistogram, NodeSplit

#: The bin that each code of a difference stands for: negative for negative differences.
_SIGNED_BIN = np.array([-(code >> 1) if code & 1 else code >> 1 for code in range(256)])
_SEARCH_COST = 1500.0  # of a block's search for splits, in rows added to its histograms


class SplitRule(NamedTuple):
    """A split as partitions and trees need it."""

    table: BinnedColumns  # where the feature's bins are
    feature: int  # its number there
    side: int  # whose value it is: FIRST, SECOND or DIFFERENCE
    column: int  # of X
    threshold: np.float32  # the largest value that goes left
    missing_left: bool
    goes_left: np.ndarray  # for each bin or code, 1 if it goes left


def _document_rule(edges: np.ndarray, split: NodeSplit) -> tuple[np.float32, np.ndarray]:
    """Return the threshold of a split on a value of a document or query, and which bins go left."""
    goes_left = np.zeros(256, np.uint8)
    goes_left[: split.bin_ + 1] = True
    goes_left[edges.size + 1 :] = split.missing_left
    return edges[split.bin_] if split.bin_ < edges.size else np.float32(np.inf), goes_left


def _difference_rule(edges: np.ndarray, split: NodeSplit) -> tuple[np.float32, np.ndarray]:
    """Return the threshold of a split on a difference, and which codes go left."""
    goes_left = np.less_equal(_SIGNED_BIN, split.bin_ - edges.size).astype(np.uint8)
    goes_left[2 * edges.size + 2 :] = split.missing_left
    return _signed_threshold(edges, split.bin_), goes_left


def _signed_threshold(edges: np.ndarray, bin_: int) -> np.float32:
    """Return the largest difference in bins up to `bin_`, which are ordered from negative to positive."""
    largest = edges.size
    if bin_ < largest:  # strictly below -edge
        return np.nextafter(-edges[largest - 1 - bin_], np.float32(-np.inf))
    return edges[bin_ - largest] if bin_ < 2 * largest else np.float32(np.inf)


class _Feature(NamedTuple):
    """A split feature: its table, its number there, whose value it is, and its histogram."""

    table: BinnedColumns
    number: int
    side: int
    histogram: FeatureHistogram


@dataclass
class _Block:
    """Up to four features whose bins share a word, and the end of their histograms."""

    kind: int
    row: int
    features: list[FeatureHistogram] = field(default_factory=list)
    end: int = 0


class HistogramLayout:
    """Where the histograms of a tree's features lie in one array of numbers.

    A split feature's id is its column in a matrix of pairs: the first document's F columns, the second document's F
    columns, the differences. Columns that are constant inside each query count as the first document's.

    Parameters
    ----------
    binned : BinnedData
        The documents.
    tables : tuple of BinnedColumns
        The columns of documents, of queries and of differences that the tree may use.

    Attributes
    ----------
    n_splits : int
        Number of ids of split features, used or not.
    size : int
        Length of a histogram array: the sums of all bins, and the sink.
    blocks : FeatureBlocks
        The features four by four, as the kernel reads them.
    """

    def __init__(self, binned: BinnedData, tables: tuple[BinnedColumns, ...]) -> None:
        self.tables = tables
        self._differences: list[int] = binned.differences.tolist()
        self.n_splits = 2 * binned.n_features + binned.differences.size
        self._features: dict[int, _Feature] = {}
        items, queries, pairs = tables
        blocks: list[_Block] = []
        end = 0
        for kind, table, side in (
            (histograms.OF_FIRSTS, items, FIRST),
            (histograms.OF_SECONDS, items, SECOND),
            (histograms.OF_QUERIES, queries, FIRST),
            (histograms.OF_PAIRS, pairs, DIFFERENCE),
        ):
            for number, column in enumerate(table.columns):
                if number % LANES == 0:
                    blocks.append(_Block(kind, number // LANES))
                split_id = binned.n_features * side + column.number
                n_bins, n_codes = _bins_and_codes(column, side)
                histogram = FeatureHistogram(split_id, np.uint64(end), side == DIFFERENCE, n_bins)
                end += 2 * n_codes
                blocks[-1].features.append(histogram)
                blocks[-1].end = end
                self._features[split_id] = _Feature(table, number, side, histogram)
        self.size = end + SINK
        self.blocks = _as_arrays(blocks, BinWords(items.words, queries.words, pairs.words), end)

    def cost(self, rows: list[int]) -> np.ndarray:
        """Return the approximate cost of each block, given the rows of a node.

        `rows` are the numbers of first documents, of second documents, of queries and of pairs.
        """
        return (np.array(rows) + _SEARCH_COST)[self.blocks.kind]

    def updates(self, rows: list[int]) -> int:
        """Return how many sums are added to histograms."""
        items, queries, pairs = (len(table.columns) for table in self.tables)
        return (rows[0] + rows[1]) * items + rows[2] * queries + rows[3] * pairs

    def histogram(self, split_id: int) -> FeatureHistogram:
        """Return where a feature's histogram lies."""
        return self._features[split_id].histogram

    def rule(self, split: NodeSplit) -> SplitRule:
        """Return what a split means."""
        table, number, side, _ = self._features[split.split_id]
        column, edges, _ = table.columns[number]
        if side == DIFFERENCE:
            column, (threshold, goes_left) = (
                self._differences[column],
                _difference_rule(edges, split),
            )
        else:
            threshold, goes_left = _document_rule(edges, split)
        return SplitRule(table, number, side, column, threshold, split.missing_left, goes_left)


def _bins_and_codes(column: Column, side: int) -> tuple[int, int]:
    """Return how many bins a feature has without missing values, and how many codes with them."""
    n_values = column.edges.size + 1
    if (
        side == DIFFERENCE
    ):  # zero has two codes but one bin; missing differences have two codes as well
        return 2 * n_values - 1, 2 * (n_values + 1)
    return n_values, n_values + column.has_missing


def _as_arrays(blocks: list[_Block], words: BinWords, sink: int) -> FeatureBlocks:
    """Return blocks as the kernel reads them; lanes without a feature have a part of the sink each."""
    offset = np.empty((len(blocks), LANES + 1), np.uint64)
    offset[:, :LANES] = sink + SINK // LANES * np.arange(LANES)
    n_bins = np.zeros((len(blocks), LANES), np.int64)
    split_ids = np.full((len(blocks), LANES), -1)
    for k, block in enumerate(blocks):
        offset[k, LANES] = block.end
        for lane, feature in enumerate(block.features):
            offset[k, lane] = feature.offset
            n_bins[k, lane] = feature.n_bins
            split_ids[k, lane] = feature.split_id
    return FeatureBlocks(
        kind=np.array([block.kind for block in blocks], np.int64),
        row=np.array([block.row for block in blocks], np.int64),
        offset=offset,
        n_bins=n_bins,
        split_ids=split_ids,
        words=words,
    )


def sample_columns(
    binned: BinnedData, fraction: float, seed: int | None, iteration: int
) -> tuple[BinnedColumns, ...]:
    """Return the columns that a tree may use: a fraction of all, drawn by a counter-based generator.

    A column of X is drawn for the first and the second document together; differences are drawn on their own.
    """
    if fraction >= 1.0:
        return binned.tables
    counts = [len(table.columns) for table in binned.tables]
    total = sum(counts)
    state = mix(mix((seed or 0) & 0xFFFFFFFF, iteration), 0x9E37)
    draws: list[int] = [mix(state, i) for i in range(total)]
    keep = np.sort(np.argsort(draws, kind="stable")[: max(1, int(np.ceil(fraction * total)))])
    tables, begin = [], 0
    for table, count in zip(binned.tables, counts, strict=True):
        own = keep[(keep >= begin) & (keep < begin + count)] - begin
        tables.append(table.take(own))
        begin += count
    return tuple(tables)
