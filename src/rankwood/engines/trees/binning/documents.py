"""Documents as codes of bins."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel
from rankwood.data.source import Source
from rankwood.data.tables.frames import dense
from rankwood.engines.trees.binning.bins import BinRules, FeatureBins, bins_of
from rankwood.engines.trees.binning.codes import CODES, CodingTables, coding_tables, write_codes
from rankwood.engines.trees.binning.columns import ColumnPlan, choose_aliases, plan_columns
from rankwood.engines.trees.binning.tiles import (
    ROWS,
    SCAN,
    STRIDE,
    MatrixPart,
    copy_part,
    scan_tile,
)
from rankwood.engines.trees.growth.records import LANES, LINE, WORDS, line_shift

SAMPLE = 200_000  # documents that bins are made from, as in LightGBM
_FEATURES_AT_ONCE = 16  # of the sample: a cache line of float32
_COUNTED = 8192  # documents that tell which codes are frequent
#: A sum per query costs as much as additions to so many columns.
_FEWEST_QUERY_COLUMNS = 8
_MOST_DOCUMENTS_OF_QUERY = (
    2**13
)  # with longer queries, sums per query may not fit in packed numbers
_SPARSE_ROWS = 1 << 14  # of a sparse matrix that are made dense at a time
_ALIGNED = 64
_IN_ORDER = np.empty(0, np.int64)


class DocumentBlock(NamedTuple):
    """Documents from number `first` on: a matrix, and the row of each document in it unless they are in order."""

    first: int
    X: np.ndarray
    rows: np.ndarray = _IN_ORDER

    @property
    def size(self) -> int:
        """Number of documents."""
        return int(self.rows.size or self.X.shape[0])


def blocks_of(data: Source) -> Iterator[DocumentBlock]:
    """Return all documents of a source, query by query, in blocks."""

    def in_memory(X: Any) -> Iterator[DocumentBlock]:
        rows = _rows_of(data)
        if not sparse.issparse(X):
            yield DocumentBlock(0, np.asarray(X), rows)
            return
        for first in range(0, X.shape[0], _SPARSE_ROWS):
            some = slice(first, first + _SPARSE_ROWS)
            yield DocumentBlock(first, dense(X[rows[some] if rows.size else some]))

    def in_files(files: Any) -> Iterator[DocumentBlock]:
        first = 0
        for X in files.blocks():
            yield DocumentBlock(first, X)
            first += X.shape[0]

    return data.built(in_memory, in_files)


def _rows_of(data: Source) -> np.ndarray:
    """Return the row of each document, query by query; nothing if they are in order."""
    rows = data.groups.rows
    return _IN_ORDER if (rows[1:] > rows[:-1]).all() else rows


class CodeTable(NamedTuple):
    """Codes of rows, documents or queries, in some columns: by column, unless these are empty, and by line."""

    n_columns: int
    n_rows: int
    codes: np.ndarray
    lines: np.ndarray

    @classmethod
    def of_lines(cls, n_columns: int, n_rows: int) -> "CodeTable":
        """Return a table to be filled, by line only."""
        words, last = n_columns // LANES, (n_columns - 1) // LINE * WORDS
        width = last + (1 << line_shift(words, last)) if words else 0
        room = np.zeros(n_rows * width + WORDS, np.uint64)
        start = -room.ctypes.data % _ALIGNED // room.itemsize
        lines = room[start : start + n_rows * width]
        return cls(n_columns, n_rows, np.zeros(0, np.uint8), lines)

    @classmethod
    def of_columns(cls, n_columns: int, n_rows: int) -> "CodeTable":
        """Return a table to be filled, by column and by line."""
        codes = np.zeros((n_columns, n_rows), np.uint8)
        return cls.of_lines(n_columns, n_rows)._replace(codes=codes)


class Survey(NamedTuple):
    """What a pass over all documents tells: features with missing values, features that vary inside queries, hashes."""

    missing: np.ndarray
    varies: np.ndarray
    hashes: np.ndarray


def survey(block: DocumentBlock, ptr: np.ndarray, n_jobs: int | None) -> Survey:
    """Look at all documents, whose queries begin at `ptr`."""
    n_features = block.X.shape[1]
    starts = np.zeros(block.size, bool)
    starts[ptr[:-1]] = True
    hashes = np.empty(block.size, np.uint64)
    found: list[tuple[np.ndarray, np.ndarray]] = []

    def work(first: int, last: int) -> None:
        tile = np.empty((n_features, STRIDE))
        memory = SCAN.memory(
            tile=tile,
            hashes=np.empty(ROWS, np.uint64),
            continues=np.empty(ROWS, np.uint8),
            missing=np.zeros(n_features, np.uint8),
            varies=np.zeros(n_features, np.uint8),
            size=0,
            n_features=n_features,
        )
        begin, end = first * (ROWS - 1), min(last * (ROWS - 1), block.size)
        while begin < end:
            # A tile begins with the last document of the one before, to which its first one is compared.
            before = int(begin > 0)
            size = min(ROWS - before, end - begin)
            part = MatrixPart(begin - before, size + before, 0, n_features)
            callable_kernel(copy_part)(block.X, block.rows, part, tile)
            memory.continues[: size + before] = ~starts[begin - before : begin + size]
            memory.set(size=size + before)
            scan_tile(memory.table)
            hashes[begin : begin + size] = memory.hashes[before : size + before]
            begin += size
        found.append((memory.missing, memory.varies))

    threads.run_ranges(work, np.ones(-(-block.size // (ROWS - 1))), n_jobs)
    missing = np.bitwise_or.reduce([part[0] for part in found])
    varies = np.bitwise_or.reduce([part[1] for part in found])
    return Survey(missing.astype(bool), varies.astype(bool), hashes)


def sampled(hashes: np.ndarray, most: int = SAMPLE) -> np.ndarray:
    """Return documents that bins are made from: all of them, or about `most`, chosen by their hashes.

    So the choice doesn't depend on the order of documents.
    """
    if hashes.size <= most:
        return np.arange(hashes.size)
    mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.flatnonzero(mixed >> np.uint64(32) < np.uint64(most / hashes.size * 2**32))


def _sample_bins(
    X: Any,
    rows: np.ndarray,
    missing: np.ndarray,
    categorical: Collection[int],
    rules: BinRules,
    n_jobs: int | None,
) -> list[FeatureBins]:
    """Return the bins of all features, from some rows of a matrix; few features are copied at a time."""
    bins: list[FeatureBins] = []
    n_features = X.shape[1]
    step = max(1, _FEATURES_AT_ONCE * threads.threads(n_jobs))
    for first in range(0, n_features, step):
        last = min(first + step, n_features)
        values = np.empty((last - first, rows.size))
        if sparse.issparse(X):
            values[:] = dense(X[rows, first:last]).T
        else:

            def work(a: int, b: int, values: np.ndarray = values, first: int = first) -> None:
                part = MatrixPart(0, rows.size, first + a, first + b)
                callable_kernel(copy_part)(X, rows, part, values[a:b])

            threads.run_ranges(work, np.ones(last - first), n_jobs, chunks=1)
        chosen = {f - first for f in categorical if first <= f < last}
        bins += bins_of(values, missing[first:last], chosen, rules, n_jobs)
    return bins


class Coder(NamedTuple):
    """What turns documents into codes: the bins of features, how these share columns, and tables of both."""

    bins: Sequence[FeatureBins]
    plan: ColumnPlan
    tables: CodingTables
    categorical: tuple[int, ...]

    def write(
        self, block: DocumentBlock, columns: range, table: CodeTable, n_jobs: int | None
    ) -> None:
        """Write the codes of some columns for all documents of a block."""
        n_features = block.X.shape[1]

        def work(first: int, last: int) -> None:
            tile = np.empty((n_features, STRIDE))
            memory = CODES.memory(
                tile=tile,
                **self.tables._asdict(),
                columns=self.plan.columns,
                listed=self.plan.listed,
                features=self.plan.features,
                room=np.zeros(STRIDE * LINE, np.uint8),
                codes=table.codes,
                lines=table.lines,
                first_column=columns.start,
                n_columns=len(columns),
                n_rows=table.n_rows,
                begin=0,
                size=0,
                with_codes=table.codes.size > 0,
            )
            for number in range(first, last):
                begin = number * ROWS
                size = min(ROWS, block.size - begin)
                callable_kernel(copy_part)(
                    block.X, block.rows, MatrixPart(begin, size, 0, n_features), tile
                )
                for f in self.categorical:
                    tile[f, :size] = self.bins[f].numbered(tile[f, :size])
                memory.set(begin=block.first + begin, size=size)
                write_codes(memory.table)

        threads.run_ranges(work, np.ones(-(-block.size // ROWS)), n_jobs)

    def all_lines(self, data: Source, n_jobs: int | None) -> CodeTable:
        """Return the codes of all columns of other documents, by line: columns of queries too, by document."""
        columns = range(self.plan.columns.size)
        table = CodeTable.of_lines(len(columns), len(data))
        for block in blocks_of(data):
            self.write(block, columns, table, n_jobs)
        return table


class BinnedDocuments(NamedTuple):
    """All documents of a source as codes, query by query."""

    coder: Coder
    documents: CodeTable
    #: Codes of columns that queries have.
    queries: CodeTable
    #: Where queries begin.
    ptr: np.ndarray
    #: The row of each document; nothing if they are in order.
    rows: np.ndarray

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.ptr[-1])

    @property
    def query_of(self) -> np.ndarray:
        """The query of each document."""
        sizes = np.diff(self.ptr)
        return np.repeat(np.arange(sizes.size, dtype=np.uint32), sizes)


def bin_documents(
    data: Source, rules: BinRules, categorical: Sequence[int], n_jobs: int | None
) -> BinnedDocuments:
    """Bin the documents of a source."""
    ptr, chosen = data.groups.ptr, set(categorical)

    def in_memory(X: Any) -> tuple[list[FeatureBins], np.ndarray]:
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
            rows = np.arange(X.shape[0])[:: -(-X.shape[0] // SAMPLE)]
            missing = np.isnan(X.data)
            has_missing = np.bincount(X.indices[missing], minlength=X.shape[1]) > 0
            bins = _sample_bins(X, rows, has_missing, chosen, rules, n_jobs)
            return bins, np.zeros(X.shape[1], bool)
        (block,) = blocks_of(data)
        seen = survey(block, ptr, n_jobs)
        documents = sampled(seen.hashes)
        rows = block.rows[documents] if block.rows.size else documents
        bins = _sample_bins(block.X, rows, seen.missing, chosen, rules, n_jobs)
        return bins, ~seen.varies

    def in_files(files: Any) -> tuple[list[FeatureBins], np.ndarray]:
        rows = np.arange(files.sample.shape[0])
        has_missing = np.isnan(files.sample).any(axis=0)
        bins = _sample_bins(files.sample, rows, has_missing, chosen, rules, n_jobs)
        return bins, np.zeros(files.sample.shape[1], bool)

    bins, constant = data.built(in_memory, in_files)
    longest = int(np.diff(ptr).max())
    few = np.count_nonzero(constant) < _FEWEST_QUERY_COLUMNS
    if few or longest > _MOST_DOCUMENTS_OF_QUERY or 2 * (ptr.size - 1) > ptr[-1]:
        constant = np.zeros_like(constant)
    plan = _plan(bins, constant)
    coder = Coder(bins, plan, coding_tables(bins), tuple(sorted(chosen)))
    return _coded(data, coder, n_jobs)


def _plan(bins: Sequence[FeatureBins], of_queries: np.ndarray) -> ColumnPlan:
    """Return the columns of features with these bins."""
    plan = plan_columns([feature.n_codes for feature in bins], of_queries)
    plan.features["bins"] = [feature.n_bins for feature in bins]
    plan.features["missing"] = [feature.has_missing for feature in bins]
    plan.features["categorical"] = [feature.categories is not None for feature in bins]
    return plan


def _coded(data: Source, coder: Coder, n_jobs: int | None) -> BinnedDocuments:
    """Return the documents of a source as codes."""
    ptr, plan = data.groups.ptr, coder.plan
    n, n_queries = int(ptr[-1]), ptr.size - 1
    of_documents = range(plan.document_columns)
    of_queries = range(plan.document_columns, plan.columns.size)
    documents = CodeTable.of_columns(len(of_documents), n)
    queries = CodeTable.of_columns(len(of_queries), n_queries)
    for block in blocks_of(data):
        if block.first == 0:
            _count_codes(block, coder, n_jobs)
        coder.write(block, of_documents, documents, n_jobs)
        if len(of_queries):  # then there is one block
            firsts = ptr[:-1] if not block.rows.size else block.rows[ptr[:-1]]
            coder.write(DocumentBlock(0, block.X, firsts), of_queries, queries, n_jobs)
    return BinnedDocuments(coder, documents, queries, ptr, _rows_of(data))


def _count_codes(block: DocumentBlock, coder: Coder, n_jobs: int | None) -> None:
    """Give aliases to the codes that are frequent among some documents of a block."""
    step = max(1, block.size // _COUNTED)
    some = np.arange(0, block.size, step)
    rows = block.rows[some] if block.rows.size else some
    columns = range(coder.plan.document_columns)
    table = CodeTable.of_columns(len(columns), some.size)
    coder.write(DocumentBlock(0, block.X, rows), columns, table, n_jobs)
    choose_aliases(coder.plan, table.codes.reshape(len(columns), -1))
