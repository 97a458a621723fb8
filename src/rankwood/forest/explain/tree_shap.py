"""SHAP values of a forest: what holds for all documents is prepared once, then documents are explained."""

from dataclasses import replace

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel
from rankwood._kernels.threads import run_ranges
from rankwood.forest import Forest
from rankwood.forest.explain.shap_kernels import (
    Covers,
    Quadrature,
    ShapPaths,
    add_contributions,
    expected_score,
    lay_out,
)

_BLOCK = 32  # documents that share the tables of a tree
_SPLITS = ("feature", "threshold", "missing_left")


class TreeShap:
    """Exact path-dependent SHAP values of a forest [lundberg2020].

    Parameters
    ----------
    forest : Forest
        The trees.

    Attributes
    ----------
    base : float
        The mean score of the training data: leaves by the training weight that reached them.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self._trees = forest.arrays
        count = forest.feature.size
        by_side = [np.empty((count, 2)) for _ in range(2)]
        self._paths = ShapPaths._make([*np.empty((3, count), np.int64), *by_side])
        depth = np.zeros(forest.n_trees, np.int64)
        covers = Covers(forest.cover, forest.leaf_cover)
        callable_kernel(lay_out)(self._trees, covers, self._paths, depth)
        self._quadrature = _quadrature(depth)
        total = callable_kernel(expected_score)(self._trees, self._paths, float(forest.base))
        self.base = float(total)

    def values(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the SHAP value of each feature per row; bit-identical on any number of threads."""
        read = np.float32 if self.forest.float32_input else np.float64
        with np.errstate(over="ignore", under="ignore"):  # too large a number is infinite
            X = np.ascontiguousarray(np.asarray(X, read), np.float64)
        out = np.zeros((X.shape[0], self.forest.n_features))
        kernel = callable_kernel(add_contributions)

        def explain_blocks(first: int, last: int) -> None:
            rows = first * _BLOCK, min(last * _BLOCK, X.shape[0])
            kernel(self._trees, self._paths, self._quadrature, X, out, *rows)

        run_ranges(explain_blocks, np.ones(-(-X.shape[0] // _BLOCK)), n_jobs, chunks=1)
        return out


def _quadrature(depth: np.ndarray) -> Quadrature:
    """Return enough points for products of `depth` - 1 factors: n points are exact up to degree 2 n - 1."""
    size = 4 * np.maximum(-(-depth // 8), 1)
    most = int(size.max(initial=4))
    point, weight = np.zeros((most // 4, most)), np.zeros((most // 4, most))
    for row, n in enumerate(range(4, most + 1, 4)):
        points, weights = np.polynomial.legendre.leggauss(n)
        point[row, :n], weight[row, :n] = (points + 1) / 2, weights / 2
    return Quadrature(size, point, weight)


def last_split_first(forest: Forest) -> Forest:
    """Return the same symmetric trees, as `forest_of` numbers them, with the last split as the root of each.

    All nodes of a level have the same split, so the levels of a tree can be in any order, and scores stay the same.
    SHAP values don't: the mean of what is unknown goes by the weights below a node. CatBoost's own SHAP values have the
    last split as the root, and ours follow them.
    """
    splits = {name: getattr(forest, name).copy() for name in _SPLITS}
    values, covers = forest.leaf_value.copy(), forest.leaf_cover.copy()
    cover = forest.cover.copy()
    for t in range(forest.n_trees):
        node, end = forest.first_node[t], forest.first_node[t + 1]
        leaves = slice(forest.first_leaf[t], forest.first_leaf[t + 1])
        depth = int(end - node + 1).bit_length() - 1
        level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
        for name, values_of_nodes in splits.items():
            values_of_nodes[node:end] = getattr(forest, name)[node + 2 ** (depth - 1 - level) - 1]
        order = _reversed_bits(depth)
        values[leaves] = forest.leaf_value[leaves][order]
        covers[leaves] = forest.leaf_cover[leaves][order]
        for k in range(depth):  # leaves whose lowest bits are equal are below the same node
            below = covers[leaves].reshape(-1, 2**k).sum(axis=0)
            cover[node + 2**k - 1 : node + 2 ** (k + 1) - 1] = below
    return replace(forest, **splits, leaf_value=values, leaf_cover=covers, cover=cover)


def _reversed_bits(depth: int) -> np.ndarray:
    """Return the numbers below 2^depth with their bits in reverse order."""
    number = np.arange(2**depth)
    out = np.zeros_like(number)
    for bit in range(depth):
        out |= (number >> bit & 1) << (depth - 1 - bit)
    return out
