"""SHAP values of a forest: what holds for all documents is prepared once, then documents are explained."""

from typing import NamedTuple

import numpy as np

from rankwood._core.compile import callable_kernel
from rankwood._core.threads import run_ranges
from rankwood.explanation.kernels import add_contributions, expected_score, lay_out
from rankwood.forest import Forest

_BLOCK = 32  # documents that share the tables of a tree


class ShapArrays(NamedTuple):
    """What the kernels read of a forest."""

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray
    first_node: np.ndarray
    first_leaf: np.ndarray
    category_first: np.ndarray
    category: np.ndarray
    cover: np.ndarray
    leaf_cover: np.ndarray
    below_categories: float  # values above it are read as categories


class ShapPaths(NamedTuple):
    """What belongs to a node and its two edges for all documents; `kernels` has the words."""

    parent: np.ndarray  # the edge that leads to the node, -1 for a root
    above: np.ndarray  # the edge on the same feature above its own two edges, or -1
    features: np.ndarray  # the number of different features from the root to the node
    share: np.ndarray  # by side: of the training weight of the node
    chance: np.ndarray  # by side: product of the shares of this edge and those above it


class Rules(NamedTuple):
    """Gauss-Legendre quadrature on [0, 1] with 4, 8, 12, ... points, and how many points each tree needs."""

    size: np.ndarray
    point: np.ndarray
    weight: np.ndarray


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
        # LightGBM drops the decimals and then looks for a sign, XGBoost does so the other way round.
        below = -1.0 if forest.engine == "lightgbm" else float(np.nextafter(0.0, -1.0))
        self._trees = ShapArrays._make(
            [*(getattr(forest, n) for n in ShapArrays._fields[:-1]), below]
        )
        count = forest.feature.size
        by_side = [np.empty((count, 2)) for _ in range(2)]
        self._paths = ShapPaths._make([*np.empty((3, count), np.int64), *by_side])
        depth = np.zeros(forest.n_trees, np.int64)
        callable_kernel(lay_out)(self._trees, self._paths, depth)
        self._rules = _rules(depth)
        total = callable_kernel(expected_score)(self._trees, self._paths, float(forest.base))
        self.base = float(total)

    def values(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the SHAP value of each feature for each row; the same bits on any number of threads."""
        read = np.float32 if self.forest.float32_input else np.float64
        with np.errstate(over="ignore", under="ignore"):  # too large a number is infinite
            X = np.ascontiguousarray(np.asarray(X, read), np.float64)
        out = np.zeros((X.shape[0], self.forest.n_features))
        kernel = callable_kernel(add_contributions)

        def explain_blocks(first: int, last: int) -> None:
            rows = first * _BLOCK, min(last * _BLOCK, X.shape[0])
            kernel(self._trees, self._paths, self._rules, X, out, *rows)

        run_ranges(explain_blocks, np.ones(-(-X.shape[0] // _BLOCK)), n_jobs, chunks=1)
        return out


def _rules(depth: np.ndarray) -> Rules:
    """Return enough points for products of `depth` - 1 factors: n points are exact up to degree 2 n - 1."""
    size = 4 * np.maximum(-(-depth // 8), 1)
    most = int(size.max(initial=4))
    point, weight = np.zeros((most // 4, most)), np.zeros((most // 4, most))
    for row, n in enumerate(range(4, most + 1, 4)):
        points, weights = np.polynomial.legendre.leggauss(n)
        point[row, :n], weight[row, :n] = (points + 1) / 2, weights / 2
    return Rules(size, point, weight)
