"""Adding a tree to the scores of documents whose codes are at hand."""

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import jit, uncounted
from rankwood._kernels.pointers import MemoryLayout
from rankwood.engines.trees.binning.documents import BinnedDocuments, CodeTable
from rankwood.engines.trees.grower import GrownTree
from rankwood.engines.trees.growth.records import CODES, LANES, LINE, TREE_SPLIT, line_shift

_ROWS = 4096  # documents that a thread takes at a time
_U = np.uint64

WALK = MemoryLayout(
    "walk",
    arrays={
        "codes": np.uint8,  # of documents: [line, document, column]
        "query_codes": np.uint8,  # of queries
        "query_of": np.uint32,
        "splits": TREE_SPLIT,
        "values": np.float64,
        "tables": np.uint8,
        "scores": np.float64,
    },
    integers=("n_documents", "n_queries", "n_splits", "document_columns", "query_columns"),
)
_open = WALK.opened


@jit
def add_tree(table, begin, end):
    """Add the values of a tree to the scores of documents `begin` to `end`."""
    walk = _open(table)
    for row in range(begin, end):
        at = np.int64(0) if walk.n_splits else np.int64(-1)
        while at >= 0:
            split = walk.splits[at]
            code = _code(walk, row, split.column)
            at = split.left if walk.tables[at * CODES + code] else split.right
        walk.scores[row] += walk.values[-1 - at]


@uncounted
def _code(walk, row, column):
    """Return the code of a document in a column, of documents or of queries."""
    if column < walk.document_columns:
        return np.int64(walk.codes[_place(column, row, walk.document_columns, walk.n_documents)])
    column, row = column - walk.document_columns, np.int64(walk.query_of[row])
    return np.int64(walk.query_codes[_place(column, row, walk.query_columns, walk.n_queries)])


@uncounted
def _place(column, row, n_columns, n_rows):
    """Return the place of a row's code in the lines of a table."""
    shift = line_shift(n_columns // LANES, column // LANES)
    return column // LINE * LINE * n_rows + (row << shift) * LANES + column % LINE


class Walker:
    """Adds trees to the scores of documents whose codes are at hand.

    Parameters
    ----------
    documents : CodeTable
        Codes of documents.
    queries : CodeTable
        Codes of queries, for the other columns.
    query_of : array
        The query of each document.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(
        self,
        documents: CodeTable,
        queries: CodeTable,
        query_of: np.ndarray,
        n_jobs: int | None,
    ) -> None:
        self._n_jobs, self._n_documents = n_jobs, documents.n_rows
        self._memory = WALK.memory(
            codes=documents.lines.view(np.uint8),
            query_codes=queries.lines.view(np.uint8),
            query_of=query_of,
            splits=np.zeros(1, TREE_SPLIT),
            values=np.zeros(1),
            tables=np.zeros(CODES, np.uint8),
            scores=np.zeros(1),
            n_documents=self._n_documents,
            n_queries=queries.n_rows,
            n_splits=0,
            document_columns=documents.n_columns,
            query_columns=queries.n_columns,
        )

    @classmethod
    def of_training(cls, binned: BinnedDocuments, n_jobs: int | None) -> "Walker":
        """Return what adds trees to the scores of the documents that they are grown on."""
        return cls(binned.documents, binned.queries, binned.query_of, n_jobs)

    @classmethod
    def of_others(cls, documents: CodeTable, n_jobs: int | None) -> "Walker":
        """Return what adds trees to the scores of other documents, which have the codes of all columns."""
        return cls(documents, CodeTable.of_lines(0, 0), np.zeros(1, np.uint32), n_jobs)

    def add(self, tree: GrownTree, scores: np.ndarray, weight: float = 1.0) -> None:
        """Add a tree's values, times a weight, to the scores of all documents."""
        memory = self._memory
        memory.set(
            splits=tree.splits,
            values=weight * tree.leaves["value"],
            tables=tree.tables,
            scores=scores,
            n_splits=tree.splits.size,
        )

        def work(first: int, last: int) -> None:
            add_tree(memory.table, first * _ROWS, min(last * _ROWS, self._n_documents))

        threads.run_ranges(work, np.ones(-(-self._n_documents // _ROWS)), self._n_jobs)
