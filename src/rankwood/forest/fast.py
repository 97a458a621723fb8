"""FastForest: a forest prepared for fast scoring, with the same bits as the engine."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._core import threads
from rankwood._core.compile import callable_kernel
from rankwood.forest import kernels
from rankwood.forest.codes import Codes, codes_of
from rankwood.forest.documents import matrix
from rankwood.forest.program import (
    MOST_COLUMNS,
    MOST_LEAVES,
    levels_of,
    paths_of,
    program_of,
)

if TYPE_CHECKING:
    from rankwood.forest.record import Forest

_FEW = 2  # documents that walk down the trees one by one
_CHUNK = 64  # blocks of documents that are converted at once
_MOST_SEARCHES = 8  # for each feature, on average: with more of them, codes cost more than trees
_LINE = 64  # bytes of a cache line: a vector that lies in two costs twice


class Leaves(NamedTuple):
    """Values of leaves, in the precision of the sum; those of tree t begin at `first[t]`."""

    first: np.ndarray
    value: np.ndarray


def can_prepare(forest: "Forest") -> bool:
    """Tell whether a forest can be prepared: no categories, at most 256 leaves a tree, and some split."""
    return bool(
        forest.feature.size
        and not forest.categorical.any()
        and np.diff(forest.first_leaf).max() <= MOST_LEAVES
    )


class FastForest:
    """A forest prepared for scoring. Calls share nothing that they change, so threads may call it at once."""

    def __init__(self, forest: "Forest", codes: Codes) -> None:
        self.n_trees = forest.n_trees
        self._float32 = forest.float32_input
        self._real: Any = np.float32 if forest.float32_sum else np.float64
        self._base = forest.base
        self._searches, self._columns = codes.searches, codes.columns
        self._leaves = Leaves(forest.first_leaf, forest.leaf_value.astype(self._real))
        self._paths: Any = None
        if forest.engine == "catboost":
            self._trees: Any = levels_of(forest, codes)
            self._kernel, self._rows = kernels.score_by_levels, kernels.TOGETHER
        else:
            self._trees = program_of(forest, codes)
            self._kernel, self._rows = kernels.score_by_programs, self._trees.rows
            self._paths = paths_of(forest, codes)

    def scores(
        self, X: np.ndarray, n_jobs: int | None = 1, trees: tuple[int, int] | None = None
    ) -> np.ndarray:
        """Return one score per row, or the sum of the trees from `trees[0]` to `trees[1]`."""
        out = self.start(X.shape[0])
        blocks = -(-X.shape[0] // kernels.BLOCK)
        if blocks == 1:
            self.add(X, out, trees)
        else:
            threads.run_ranges(
                lambda a, b: self._add_blocks(X, out, a, b, trees), np.ones(blocks), n_jobs
            )
        return out.astype(np.float64)

    def start(self, documents: int) -> np.ndarray:
        """Return what sums begin with, in the precision of the engine."""
        return np.full(documents, self._base, self._real)

    def _add_blocks(
        self, X: np.ndarray, out: np.ndarray, first: int, last: int, trees: Any
    ) -> None:
        """Add the scores of a range of blocks, so many at a time that a converted copy stays small."""
        for block in range(first, last, _CHUNK):
            rows = slice(block * kernels.BLOCK, min(block + _CHUNK, last) * kernels.BLOCK)
            self.add(X[rows], out[rows], trees)

    def add(self, X: np.ndarray, out: np.ndarray, trees: tuple[int, int] | None = None) -> None:
        """Add the leaves of all documents, of all trees or of a range of them, to `out`."""
        X = matrix(X, self._float32)
        few = X.shape[0] <= _FEW and self._paths is not None
        kernel, made = (
            (kernels.score_by_walking, self._paths) if few else (self._kernel, self._trees)
        )
        room = (
            _aligned(self._columns * kernels.BLOCK),
            _aligned(self._rows * kernels.BLOCK),
        )
        callable_kernel(kernel)(
            X,
            0,
            X.shape[0],
            trees or (0, self.n_trees),
            self._searches,
            made,
            self._leaves,
            room,
            out,
        )


def prepared(forest: "Forest") -> FastForest | None:
    """Return a forest prepared for scoring, or None if that isn't possible or wouldn't be faster."""
    if not can_prepare(forest):
        return None
    codes = codes_of(forest)
    searches = codes.searches.feature.size
    features = np.unique(codes.searches.feature).size
    if codes.columns > MOST_COLUMNS or searches > _MOST_SEARCHES * features:
        return None
    return FastForest(forest, codes)


def _aligned(size: int) -> np.ndarray:
    """Return bytes that begin at a cache line."""
    room = np.empty(size + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + size]
