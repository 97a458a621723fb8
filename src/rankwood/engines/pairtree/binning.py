"""Bins of item features, of features that are constant inside each query, and of differences.

A value's bin is the number of edges below it, so "bin <= t" is "value <= edge[t]"; missing values have the last
bin. Differences x_i - x_j of the pairs (i, j) and (j, i) are mirror images: their code is 2 r + sign, r the bin of
the absolute value, and a mirror image is a flip of the lowest bit. Four bins lie in one word of 32 bits.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import inner, jit
from rankwood._core.rng import mix
from rankwood.engines.pairtree.layout import Layout

FIRST, SECOND, DIFFERENCE = 0, 1, 2  # whose value a split looks at
ITEM, QUERY, PAIR = 0, 1, 2  # what the rows of a table of words are
SAMPLE = 200_000  # rows that edges are made from
PAIR_SAMPLE = 50_000  # unordered pairs; each stands for two differences
LANES = 4  # bins in a word
SPARE = 32  # words of a histogram for lanes without a feature


def single(X: Any) -> np.ndarray:
    """Return X in float32, as it is if it is; numbers beyond that are infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X, dtype=np.float32)


def check_bins(max_bin: Any) -> None:
    """Raise unless a feature can have so many bins."""
    if checks.at_least(max_bin, 2, "max_bin") > 255:
        raise checks.InputError(f"max_bin must be at most 255, got {max_bin}.")


class Column(NamedTuple):
    """One binned feature: the column of X, its edges, and whether any value was missing."""

    column: int
    edges: np.ndarray
    missing: bool


class Table:
    """Binned features of items, queries or pairs: `words[b, row]` has the bins of features 4b to 4b + 3."""

    def __init__(self, kind: int, columns: list[Column], size: int) -> None:
        self.kind, self.columns, self.size = kind, columns, size
        self.words = np.zeros((-(-len(columns) // LANES), size), np.uint32)

    def take(self, keep: np.ndarray) -> "Table":
        """Return the table of the features with these numbers."""
        other = Table(self.kind, [self.columns[i] for i in keep], self.size)
        for k, i in enumerate(keep.tolist()):
            shifts = 8 * (i % LANES), 8 * (k % LANES)
            _copy(self.words[i // LANES], other.words[k // LANES], *shifts)
        return other

    def codes(self, feature: int) -> np.ndarray:
        """Return one feature's bins."""
        shift = np.uint32(8 * (feature % LANES))
        return ((self.words[feature // LANES] >> shift) & np.uint32(255)).astype(np.uint8)


class Binned:
    """Documents (float32, NaN is missing) with bins for everything that a split may look at.

    `differences` are the columns whose differences x_i - x_j are features of a pair. Columns that don't vary
    inside any query are kept once per query, and columns that don't vary at all not at all.
    """

    def __init__(
        self,
        X: Any,
        layout: Layout,
        differences: Any = (),
        max_bin: int = 255,
        n_jobs: int | None = None,
    ) -> None:
        check_bins(max_bin)
        self.X = single(X)
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
        _varies(self.X, layout.ptr, varies)
        leaders = layout.ptr[:-1][layout.sizes > 1]
        self.items = _bin_rows(
            self.X, np.flatnonzero(varies), None, layout.n_items, ITEM, max_bin, n_jobs
        )
        self.queries = self._bin_queries(np.flatnonzero(varies == 0), leaders, max_bin, n_jobs)
        used = np.flatnonzero(varies[self.differences])  # others are 0 or missing in every pair
        self.pairs = self._bin_differences(used, max_bin, n_jobs)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]

    @property
    def tables(self) -> tuple[Table, Table, Table]:
        """Items, queries, pairs."""
        return self.items, self.queries, self.pairs

    def _bin_queries(
        self, columns: np.ndarray, leaders: np.ndarray, max_bin: int, n_jobs: int | None
    ) -> Table:
        table = _bin_rows(self.X, columns, leaders, leaders.size, QUERY, max_bin, n_jobs)
        # One row per query, also for those without pairs: so that a query's number is its row.
        full = Table(QUERY, table.columns, self.layout.n_queries)
        full.words[:, self.layout.sizes > 1] = table.words
        return full

    def _bin_differences(self, used: np.ndarray, max_bin: int, n_jobs: int | None) -> Table:
        """Bin |x_a - x_b| of unordered pairs, and keep the sign beside it."""
        lo, hi = self.layout.lo, self.layout.hi
        some = np.arange(lo.size)
        if lo.size > PAIR_SAMPLE:
            some = np.unique(_draw(lo.size, PAIR_SAMPLE))
        limit = (max_bin - 1) // 2  # bins of absolute values; all but that of zero count twice
        found: dict[int, Column] = {}

        def cut(first: int, last: int) -> None:
            for d in range(first, last):
                x = self.X[:, self.differences[used[d]]]
                with np.errstate(invalid="ignore"):  # infinity minus itself is missing
                    values = np.abs(x[lo[some]] - x[hi[some]])
                kept = values[~np.isnan(values)]
                edges = _cut(np.sort(kept[kept > 0]), limit - 1)
                # Zero has a bin of its own: "above" and "not below" are the questions most asked of a difference.
                edges = np.concatenate([np.zeros(1, np.float32), edges])
                found[d] = Column(int(used[d]), edges, kept.size < values.size)

        threads.over(np.ones(used.size), cut, n_jobs, chunks=4)
        table = Table(PAIR, [found[d] for d in range(used.size)], lo.size)
        columns = table.columns

        def fill(first: int, last: int) -> None:
            for b in range(first, last):
                for k, c in enumerate(columns[b * LANES : (b + 1) * LANES]):
                    x = np.ascontiguousarray(self.X[:, self.differences[c.column]])
                    edges = _padded(c.edges)
                    if _put_differences(x, lo, hi, edges, c.edges.size, 8 * k, table.words[b]):
                        columns[b * LANES + k] = c._replace(missing=True)  # not in the sample

        threads.over(np.ones(table.words.shape[0]), fill, n_jobs, chunks=4)
        return table


def _bin_rows(
    X: np.ndarray,
    chosen: np.ndarray,
    rows: np.ndarray | None,
    size: int,
    kind: int,
    max_bin: int,
    n_jobs: int | None,
) -> Table:
    """Bin columns of X over the given rows."""
    found: dict[int, Column] = {}  # those that vary
    step = max(1, -(-size // SAMPLE))

    def cut(first: int, last: int) -> None:
        for f in range(first, last):
            x = X[:, chosen[f]] if rows is None else X[rows, chosen[f]]
            missing = bool(np.isnan(x).any())
            kept = x[::step]
            kept = np.sort(kept[~np.isnan(kept)] if missing else kept)
            edges = _cut(kept, max_bin - missing)
            if edges.size or (missing and kept.size):
                found[f] = Column(int(chosen[f]), edges, missing)

    threads.over(np.ones(chosen.size), cut, n_jobs, chunks=4)
    table = Table(kind, [found[f] for f in sorted(found)], size)

    def fill(first: int, last: int) -> None:
        for b in range(first, last):
            for k, c in enumerate(table.columns[b * LANES : (b + 1) * LANES]):
                x = X[:, c.column] if rows is None else X[rows, c.column]
                _put(np.ascontiguousarray(x), _padded(c.edges), c.edges.size, 8 * k, table.words[b])

    threads.over(np.ones(table.words.shape[0]), fill, n_jobs, chunks=4)
    return table


@jit
def _draw(size, count):
    """Return `count` numbers below `size` from a counter: always the same ones."""
    out = np.empty(count, np.int64)
    for i in range(count):
        out[i] = (mix(0, i) * size) >> 32
    return out


def _padded(edges: np.ndarray) -> np.ndarray:
    """Return 255 edges, the last ones infinite: a search over them takes 8 steps, whatever their number."""
    out = np.full(255, np.inf, np.float32)
    out[: edges.size] = edges
    return out


@jit
def _varies(X, ptr, out):
    """Mark columns that differ inside some query; missing values are equal to each other."""
    for q in range(ptr.size - 1):
        for i in range(ptr[q] + 1, ptr[q + 1]):
            for f in range(X.shape[1]):
                a, b = X[ptr[q], f], X[i, f]
                out[f] |= np.uint8((a != b) & ((a == a) | (b == b)))


@jit
def _cut(values, limit):
    """Return edges between sorted values for at most `limit` bins: all of them, or bins of about equal weight."""
    distinct = 1
    for i in range(1, values.size):
        distinct += values[i] != values[i - 1]
    edges = np.empty(max(0, min(distinct, limit) - 1), np.float32)
    made, begin = 0, 0
    for i in range(1, values.size):
        if made == edges.size:
            break
        # A bin is full with its share of what is left; a value that is heavier on its own takes no other's place.
        full = (i - begin) * (edges.size + 1 - made) >= values.size - begin
        if values[i] != values[i - 1] and (full or distinct <= limit):
            edges[made] = _between(values[i - 1], values[i])
            made += 1
            begin = i
    return edges[:made].copy()


@inner
def _between(low, high):
    """Return a number at least `low` and below `high`, the middle if there is one."""
    middle = np.float32(np.float64(low) * 0.5 + np.float64(high) * 0.5)
    return middle if low <= middle < high else low


@inner
def _search(x, edges):
    """Return the number of edges below x, out of 255: eight steps without a branch."""
    at = np.uint32(0)
    half = np.uint32(128)
    for _ in range(8):
        at += half * np.uint32(edges[at + half - np.uint32(1)] < x)
        half >>= np.uint32(1)
    return at


@jit
def _put(values, edges, last, shift, words):
    for i in range(values.size):
        x = values[i]
        bin = np.uint32(last + 1) if x != x else _search(x, edges)
        words[i] |= bin << np.uint32(shift)


@jit
def _put_differences(values, lo, hi, edges, last, shift, words):
    missing = False
    for u in range(lo.size):
        d = values[lo[u]] - values[hi[u]]
        bin = _search(abs(d), edges)
        if d != d:
            bin = np.uint32(last + 1)
            missing = True
        words[u] |= (bin << np.uint32(1) | np.uint32(d < 0)) << np.uint32(shift)
    return missing


@jit
def _copy(words, out, shift, to):
    for i in range(words.size):
        out[i] |= ((words[i] >> np.uint32(shift)) & np.uint32(255)) << np.uint32(to)
