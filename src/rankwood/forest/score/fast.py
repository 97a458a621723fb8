"""FastForest: a forest prepared for fast scoring, bit-identical to the engine."""

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel
from rankwood._kernels.threads import run_ranges
from rankwood.forest.documents import matrix
from rankwood.forest.score import score_kernels as kernels
from rankwood.forest.score.codes import Codes, codes_of
from rankwood.forest.score.program import (
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
    """A forest prepared for scoring. Threads may call it at once: what a call changes belongs to its thread."""

    def __init__(self, forest: "Forest", codes: Codes) -> None:
        self._float32 = forest.float32_input
        self._real: Any = np.float32 if forest.float32_sum else np.float64
        self._base = forest.base
        self._searches, self._columns = codes.searches, codes.columns
        self._leaves = Leaves(forest.first_leaf, forest.leaf_value.astype(self._real))
        self._of_thread = threading.local()
        self._paths: Any = None
        # Few documents walk; what that takes is made by the first call with few of them.
        self._to_walk: tuple[Forest, Codes] | None = None
        if forest.engine == "catboost":
            self._trees: Any = levels_of(forest, codes)
            self._kernel, self._rows = kernels.score_by_levels, kernels.TOGETHER
        else:
            self._trees = program_of(forest, codes)
            self._kernel, self._rows = kernels.score_by_programs, self._trees.rows
            self._to_walk = (forest, codes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_of_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._of_thread = threading.local()  # memory of threads stays in its process

    def scores(self, X: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
        """Return one score per row."""
        out = np.full(X.shape[0], self._base, self._real)
        blocks = -(-X.shape[0] // kernels.BLOCK)
        if blocks == 1:
            self._add(X, out)
        else:
            run_ranges(lambda a, b: self._add_blocks(X, out, a, b), np.ones(blocks), n_jobs)
        return out if out.dtype == np.float64 else out.astype(np.float64)

    def _add_blocks(self, X: np.ndarray, out: np.ndarray, first: int, last: int) -> None:
        """Add the scores of a range of blocks, so many at a time that a converted copy stays small."""
        for block in range(first, last, _CHUNK):
            rows = slice(block * kernels.BLOCK, min(block + _CHUNK, last) * kernels.BLOCK)
            self._add(X[rows], out[rows])

    def _add(self, X: np.ndarray, out: np.ndarray) -> None:
        """Add the leaves of all documents and trees to `out`."""
        X = matrix(X, self._float32)
        kernel, trees = self._kernel, self._trees
        if X.shape[0] <= _FEW and self._to_walk is not None:
            if self._paths is None:
                self._paths = paths_of(*self._to_walk)
            kernel, trees = kernels.score_by_walking, self._paths
        callable_kernel(kernel)(X, self._searches, trees, self._leaves, self._room(), out)

    def _room(self) -> tuple[np.ndarray, np.ndarray]:
        """Return memory of this thread for codes and rows."""
        try:
            room: tuple[np.ndarray, np.ndarray] = self._of_thread.room
        except AttributeError:
            sizes = (self._columns * kernels.BLOCK, self._rows * kernels.BLOCK)
            self._of_thread.room = room = (_aligned(sizes[0]), _aligned(sizes[1]))
        return room


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
