"""Bins of document features, of features that are constant inside each query, and of differences.

The bin of a value is the number of edges below it, so "bin <= t" is "value <= edge[t]"; missing values have the bin
after the last one. The differences x_i - x_j of the pairs (i, j) and (j, i) are mirror images: their code is
2 r + sign, where r is the bin of the absolute value, so flipping the lowest bit turns a pair around. Four bins or
codes share one 32-bit word:

    bit     31      24 23      16 15       8 7        0
           | lane 3   | lane 2   | lane 1   | lane 0   |
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rankwood._kernels import threads
from rankwood._util import checks
from rankwood.engines.pairtree import bin_kernels
from rankwood.engines.pairtree.pair_layout import PairLayout

T = TypeVar("T")

FIRST, SECOND, DIFFERENCE = 0, 1, 2  # whose value a split looks at
ITEM, QUERY, PAIR = 0, 1, 2  # what a row of `BinnedColumns` is
SAMPLE_ROWS = 200_000  # values that edges are made from
# Unordered pairs that edges are made from; each one stands for two differences.
SAMPLE_PAIRS = 50_000
LANES = 4  # bins in a word
LANE_BITS = 8
#: Numbers at the end of a histogram that lanes without a feature add to, and that nobody reads.
SINK = 32


def as_float32(X: Any) -> np.ndarray:
    """Return X as contiguous float32, without a copy if it is so already; larger numbers become infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X, dtype=np.float32)


def check_bins(max_bin: Any) -> None:
    """Raise unless a feature can have `max_bin` bins."""
    if checks.at_least(max_bin, 2, "max_bin") > 255:
        raise checks.InputError(f"max_bin must be at most 255, got {max_bin}.")


class Column(NamedTuple):
    """One binned feature: the number of its column (or difference), its edges, and whether values are missing."""

    number: int
    edges: np.ndarray
    has_missing: bool


class BinnedColumns:
    """Binned features of documents, of queries or of unordered pairs.

    Parameters
    ----------
    kind : int
        ITEM, QUERY or PAIR.
    columns : list of Column
        The features.
    n_rows : int
        Number of documents, queries or unordered pairs.

    Attributes
    ----------
    words : array
        `words[b, row]` has the bins of features 4b to 4b + 3, one byte each.
    """

    def __init__(self, kind: int, columns: list[Column], n_rows: int) -> None:
        self.kind, self.columns, self.n_rows = kind, columns, n_rows
        self.words = np.zeros((-(-len(columns) // LANES), n_rows), np.uint32)

    def take(self, features: np.ndarray) -> "BinnedColumns":
        """Return a copy of the features with these numbers."""
        other = BinnedColumns(self.kind, [self.columns[i] for i in features], self.n_rows)
        for k, i in enumerate(features.tolist()):
            shifts = LANE_BITS * (i % LANES), LANE_BITS * (k % LANES)
            bin_kernels.copy_lane(self.words[i // LANES], other.words[k // LANES], *shifts)
        return other

    def bins(self, feature: int) -> np.ndarray:
        """Return the bin of each row for one feature."""
        shift = np.uint32(LANE_BITS * (feature % LANES))
        return ((self.words[feature // LANES] >> shift) & np.uint32(255)).astype(np.uint8)


class BinnedData:
    """Documents (float32, NaN is missing) with bins for everything that a split may look at.

    Columns that don't vary inside any query are stored once per query, and columns that don't vary at all are
    dropped.

    Parameters
    ----------
    X : array of shape (n_documents, n_features)
        The documents, query by query.
    layout : PairLayout
        Their pairs.
    differences : iterable of int
        Columns whose differences x_i - x_j are features of a pair.
    max_bin : int
        The largest number of bins of a feature, at most 255.
    n_jobs : int, optional
        Number of threads.

    Attributes
    ----------
    items, queries, pairs : BinnedColumns
        Columns that vary inside queries, columns that don't, and differences.
    """

    def __init__(
        self,
        X: Any,
        layout: PairLayout,
        differences: Any = (),
        max_bin: int = 255,
        n_jobs: int | None = None,
    ) -> None:
        check_bins(max_bin)
        self.X = as_float32(X)
        if self.X.ndim != 2 or self.X.shape[0] != layout.n_items:
            raise checks.InputError(
                f"X has shape {self.X.shape}, but the layout has {layout.n_items} documents."
            )
        self.layout = layout
        self.differences = np.array(list(differences), dtype=np.int64)
        if ((self.differences < 0) | (self.differences >= self.n_features)).any():
            raise checks.InputError(
                f"differences must be columns from 0 to {self.n_features - 1}, got {self.differences.tolist()}."
            )
        varies = np.zeros(self.n_features, np.uint8)
        bin_kernels.mark_varying(self.X, layout.ptr, varies)
        self.items = _bin_rows(self.X, np.flatnonzero(varies), None, ITEM, max_bin, n_jobs)
        self.queries = self._bin_queries(np.flatnonzero(varies == 0), max_bin, n_jobs)
        used = np.flatnonzero(varies[self.differences])  # others are 0 or missing in every pair
        self.pairs = self._bin_differences(used, max_bin, n_jobs)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]

    @property
    def tables(self) -> tuple[BinnedColumns, BinnedColumns, BinnedColumns]:
        """The binned columns of documents, of queries and of pairs."""
        return self.items, self.queries, self.pairs

    def _bin_queries(self, columns: np.ndarray, max_bin: int, n_jobs: int | None) -> BinnedColumns:
        """Bin the first document of each query that has pairs; the other queries have rows too, which nobody reads."""
        paired = self.layout.sizes > 1
        rows = self.layout.ptr[:-1][paired]
        table = _bin_rows(self.X, columns, rows, QUERY, max_bin, n_jobs)
        full = BinnedColumns(QUERY, table.columns, self.layout.n_queries)
        full.words[:, paired] = table.words
        return full

    def _bin_differences(self, used: np.ndarray, max_bin: int, n_jobs: int | None) -> BinnedColumns:
        """Bin |x_a - x_b| of unordered pairs, and store the sign beside it."""
        lower, upper = self.layout.lower, self.layout.upper
        sample = np.arange(lower.size)
        if lower.size > SAMPLE_PAIRS:
            sample = np.unique(bin_kernels.draw(lower.size, SAMPLE_PAIRS))
        limit = (max_bin - 1) // 2  # bins of absolute values; all but that of zero count twice

        def make_column(number: int) -> Column:
            x = self.X[:, self.differences[number]]
            with np.errstate(invalid="ignore"):  # infinity minus itself is missing
                values = np.abs(x[lower[sample]] - x[upper[sample]])
            present = values[~np.isnan(values)]
            edges = bin_kernels.find_edges(np.sort(present[present > 0]), limit - 1)
            # Zero has a bin of its own: the most common splits of a difference are at its sign.
            edges = np.concatenate([np.zeros(1, np.float32), edges])
            return Column(number, edges, present.size < values.size)

        columns = _each(lambda d: make_column(int(used[d])), used.size, n_jobs)
        table = BinnedColumns(PAIR, columns, lower.size)

        def fill(first: int, last: int) -> None:
            for feature in _features_of_words(columns, first, last):
                column = columns[feature]
                x = np.ascontiguousarray(self.X[:, self.differences[column.number]])
                word, lane = divmod(feature, LANES)
                shift, words = LANE_BITS * lane, table.words[word]
                if bin_kernels.write_differences(
                    x, lower, upper, bin_kernels.pad_edges(column.edges), shift, words
                ):
                    columns[feature] = column._replace(has_missing=True)  # not in the sample

        threads.run_ranges(fill, np.ones(table.words.shape[0]), n_jobs, chunks=4)
        return table


def _bin_rows(
    X: np.ndarray,
    chosen: np.ndarray,
    rows: np.ndarray | None,
    kind: int,
    max_bin: int,
    n_jobs: int | None,
) -> BinnedColumns:
    """Bin the chosen columns of X over the given rows, or all of them; columns of one value are dropped."""
    n_rows = X.shape[0] if rows is None else rows.size
    step = max(1, -(-n_rows // SAMPLE_ROWS))

    def make_column(number: int) -> Column | None:
        x = X[:, number] if rows is None else X[rows, number]
        has_missing = bool(np.isnan(x).any())
        present = x[::step]
        present = np.sort(present[~np.isnan(present)] if has_missing else present)
        edges = bin_kernels.find_edges(present, max_bin - has_missing)
        varies = edges.size or (has_missing and present.size)
        return Column(number, edges, has_missing) if varies else None

    made = _each(lambda f: make_column(int(chosen[f])), chosen.size, n_jobs)
    table = BinnedColumns(kind, [column for column in made if column is not None], n_rows)

    def fill(first: int, last: int) -> None:
        for feature in _features_of_words(table.columns, first, last):
            column = table.columns[feature]
            x = X[:, column.number] if rows is None else X[rows, column.number]
            word, lane = divmod(feature, LANES)
            edges = bin_kernels.pad_edges(column.edges)
            bin_kernels.write_bins(
                np.ascontiguousarray(x), edges, LANE_BITS * lane, table.words[word]
            )

    threads.run_ranges(fill, np.ones(table.words.shape[0]), n_jobs, chunks=4)
    return table


def _each(make: Callable[[int], T], size: int, n_jobs: int | None) -> list[T]:
    """Return `make(i)` for each i below `size`, made on several threads."""
    made: dict[int, T] = {}

    def make_range(first: int, last: int) -> None:
        for i in range(first, last):
            made[i] = make(i)

    threads.run_ranges(make_range, np.ones(size), n_jobs, chunks=4)
    return [made[i] for i in range(size)]


def _features_of_words(columns: list[Column], first: int, last: int) -> range:
    """Return the features whose bins are in words `first` to `last`: one thread writes all bins of a word."""
    return range(first * LANES, min(last * LANES, len(columns)))
