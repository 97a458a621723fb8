"""Which features a tree may use, where their histograms lie, and what a split on each one means."""

from typing import Any

import numpy as np

from rankwood._core.rng import mix
from rankwood.engines.pairtree import histograms as histogram
from rankwood.engines.pairtree.binning import (
    DIFFERENCE,
    FIRST,
    LANES,
    PAIR,
    SECOND,
    SPARE,
    Binned,
    Table,
)

#: What codes of differences stand for: bins of absolute values with signs.
_SIGNED = np.array([-(code >> 1) if code & 1 else code >> 1 for code in range(256)])


class Split:
    """A split of a node: whose value, which column, the largest value that goes left, where missing ones go."""

    def __init__(self, table: Table, feature: int, side: int, bin: int, missing_left: bool) -> None:
        self.table, self.feature, self.side = table, feature, side
        self.column, edges, _ = table.columns[feature]
        self.missing_left = missing_left
        #: For each code, 1 if it goes left.
        self.left = np.empty(256, np.uint8)
        if table.kind == PAIR:
            self.threshold = _signed_threshold(edges, bin)
            self.left[:] = np.less_equal(_SIGNED, bin - edges.size)
            self.left[2 * edges.size + 2 :] = missing_left
        else:
            self.threshold = edges[bin] if bin < edges.size else np.float32(np.inf)
            self.left[: bin + 1] = True
            self.left[bin + 1 :] = False
            self.left[edges.size + 1 :] = missing_left


def _signed_threshold(edges: np.ndarray, bin: int) -> np.float32:
    """Return the largest difference in bins up to `bin`, which are ordered from negative to positive."""
    largest = edges.size
    if bin < largest:  # below -edge, strictly
        return np.nextafter(-edges[largest - 1 - bin], np.float32(-np.inf))
    return edges[bin - largest] if bin < 2 * largest else np.float32(np.inf)


class Plan:
    """Blocks of four features of the items, queries and pairs, as the kernel reads them.

    A split feature's number is that of its column in a matrix of pairs: the first item's F columns, the second
    item's F columns, the differences. Columns constant in each query count as the first item's.
    """

    def __init__(self, binned: Binned, tables: tuple[Table, ...]) -> None:
        self.tables = tables
        self.words = tuple(table.words for table in tables)
        items, queries, pairs = tables
        F = binned.n_features
        self.n_splits = 2 * F + binned.differences.size
        #: For each split feature: (table, its number there, side, block); None if it isn't used.
        self.meaning: list[tuple[Table, int, int, int] | None] = [None] * self.n_splits
        kind: list[int] = []
        row, offset, bins, ids = [], [], [], []
        end = 0
        for of, table, side in (
            (histogram.OF_FIRSTS, items, FIRST),
            (histogram.OF_SECONDS, items, SECOND),
            (histogram.OF_QUERIES, queries, FIRST),
            (histogram.OF_PAIRS, pairs, DIFFERENCE),
        ):
            for b in range(table.words.shape[0]):
                starts, n_bins, block = [0] * LANES, [0] * LANES, [-1] * LANES
                for lane, column in enumerate(table.columns[b * LANES : (b + 1) * LANES]):
                    values = column.edges.size + 1
                    n_bins[lane] = 2 * values - 1 if side == DIFFERENCE else values
                    codes = 2 * (values + 1) if side == DIFFERENCE else values + column.missing
                    starts[lane] = end
                    end += 2 * codes
                    block[lane] = F * side + column.column
                    self.meaning[block[lane]] = (table, b * LANES + lane, side, len(kind))
                kind.append(of)
                row.append(b)
                offset.append([*starts, end])
                bins.append(n_bins)
                ids.append(block)
        used = np.array(bins, np.int64).reshape(-1, LANES)
        where = np.array(offset, np.uint64).reshape(-1, LANES + 1)
        # Lanes without a feature write to places of their own, at the end, that nobody reads.
        nowhere = end + SPARE // LANES * np.arange(LANES)
        where[:, :LANES] = np.where(used == 0, nowhere.astype(np.uint64), where[:, :LANES])
        self.size = end + SPARE
        self.blocks = (
            np.array(kind, np.int64),
            np.array(row, np.int64),
            where,
            used,
            np.array(ids, np.int64).reshape(-1, LANES),
        )

    def work(self, rows: list[int]) -> np.ndarray:
        """Return what each block costs, about: sums, and the search for splits, which no node is spared.

        `rows` are those of first items, of second items, of queries and of pairs.
        """
        return (np.array(rows) + 1500.0)[self.blocks[0]]

    def updates(self, rows: list[int]) -> int:
        """Return how many sums are added to histograms."""
        items, queries, pairs = (len(table.columns) for table in self.tables)
        return (rows[0] + rows[1]) * items + rows[2] * queries + rows[3] * pairs

    def place(self, id: int) -> tuple[np.uint64, bool, int]:
        """Return where a feature's histogram begins, whether its codes have signs, and its number of bins."""
        found = self.meaning[id]
        assert found is not None
        _, feature, side, block = found
        _, _, offset, bins, _ = self.blocks
        lane = feature % LANES
        return offset[block, lane], side == DIFFERENCE, int(bins[block, lane])

    def split(self, id: int, bin: int, missing_left: bool) -> tuple[int, Split]:
        """Return whose value a split looks at, and the split."""
        found = self.meaning[id]
        assert found is not None
        table, feature, side, _ = found
        return side, Split(table, feature, side, bin, missing_left)


def sampled(binned: Binned, fraction: float, seed: int, round: int) -> tuple[Table, ...]:
    """Return the tables of a tree: a share of the features, chosen by a counter.

    Drawn are columns of X, for the first and the second document together, and differences.
    """
    if fraction >= 1.0:
        return binned.tables
    counts = [len(table.columns) for table in binned.tables]
    total = sum(counts)
    state = mix(mix((seed or 0) & 0xFFFFFFFF, round), 0x9E37)
    draws: Any = [mix(state, i) for i in range(total)]
    keep = np.sort(np.argsort(draws, kind="stable")[: max(1, int(np.ceil(fraction * total)))])
    tables, begin = [], 0
    for table, count in zip(binned.tables, counts, strict=True):
        own = keep[(keep >= begin) & (keep < begin + count)] - begin
        tables.append(table.take(own))
        begin += count
    return tuple(tables)
