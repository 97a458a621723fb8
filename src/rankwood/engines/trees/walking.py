"""Adding a tree to the scores of documents whose codes are at hand."""

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import jit, uncounted
from rankwood._kernels.pointers import MemoryLayout
from rankwood.engines.trees.binning.documents import BinnedDocuments
from rankwood.engines.trees.grower import GrownTree
from rankwood.engines.trees.growth.records import CODES, LINE, TREE_SPLIT, WORDS

_ROWS = 4096  # documents that a thread takes at a time
_U = np.uint64

WALK = MemoryLayout(
    "walk",
    arrays={
        "bytes": np.uint8,  # lines of documents: [line, document, column]
        "query_bytes": np.uint8,  # lines of queries
        "query_of": np.uint32,
        "splits": TREE_SPLIT,
        "values": np.float64,
        "tables": np.uint8,
        "scores": np.float64,
    },
    integers=("n_documents", "n_queries", "n_splits", "document_columns"),
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
        return np.int64(
            walk.bytes[(column // LINE * walk.n_documents + row) * LINE + column % LINE]
        )
    column -= walk.document_columns
    row = np.int64(walk.query_of[row])
    return np.int64(
        walk.query_bytes[(column // LINE * walk.n_queries + row) * LINE + column % LINE]
    )


class Walker:
    """Adds trees to the scores of documents whose codes are at hand.

    Parameters
    ----------
    lines : array
        Codes of documents by line.
    document_columns : int
        Number of columns that documents have.
    query_lines : array
        Codes of queries by line, for the other columns.
    query_of : array
        The query of each document.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(
        self,
        lines: np.ndarray,
        document_columns: int,
        query_lines: np.ndarray,
        query_of: np.ndarray,
        n_jobs: int | None,
    ) -> None:
        self._n_jobs, self._n_documents = n_jobs, lines.shape[1] // WORDS
        self._memory = WALK.memory(
            bytes=lines.view(np.uint8),
            query_bytes=query_lines.view(np.uint8),
            query_of=query_of,
            splits=np.zeros(1, TREE_SPLIT),
            values=np.zeros(1),
            tables=np.zeros(CODES, np.uint8),
            scores=np.zeros(1),
            n_documents=self._n_documents,
            n_queries=query_lines.shape[1] // WORDS,
            n_splits=0,
            document_columns=document_columns,
        )

    @classmethod
    def of_training(cls, binned: BinnedDocuments, n_jobs: int | None) -> "Walker":
        """Return what adds trees to the scores of the documents that they are grown on."""
        columns, lines = binned.coder.plan.document_columns, binned.query_lines
        return cls(binned.lines, columns, lines, binned.query_of, n_jobs)

    @classmethod
    def of_others(cls, lines: np.ndarray, n_jobs: int | None) -> "Walker":
        """Return what adds trees to the scores of other documents, which have the codes of all columns."""
        none = np.zeros((1, WORDS), np.uint64)
        return cls(lines, lines.shape[0] * LINE, none, np.zeros(1, np.uint32), n_jobs)

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
