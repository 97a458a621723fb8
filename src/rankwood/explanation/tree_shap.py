"""SHAP values of a forest: what holds for all documents is prepared once, then documents are explained."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core.threads import run_ranges
from rankwood.explanation.kernels import add_contributions, expected_values, lay_out

_BLOCK = 32  # documents that share the tables of a tree


class Nodes(NamedTuple):
    """The arrays of a `Forest` that the kernels read."""

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    categorical: np.ndarray
    category_first: np.ndarray
    category: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf: np.ndarray
    cover: np.ndarray
    leaf_cover: np.ndarray


class Paths(NamedTuple):
    """The nodes of each tree, parents before children, with what belongs to their edges; see `kernels`."""

    node: np.ndarray
    parent: np.ndarray  # the edge that leads to the node, -1 for a root
    above: np.ndarray  # the edge on the same feature above its own two edges, or -1
    features: np.ndarray  # the number of different features from the root to the node
    child: np.ndarray  # by side
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
    """

    def __init__(self, forest: Any) -> None:
        self.forest = forest
        self._nodes = Nodes(*(np.asarray(getattr(forest, name)) for name in Nodes._fields))
        self._first_node = np.asarray(forest.first_node, np.int64)
        count = self._nodes.feature.size
        whole = [np.empty(count, np.int64) for _ in range(4)]
        self._paths = Paths(
            *whole, np.empty((count, 2), np.int64), np.empty((count, 2)), np.empty((count, 2))
        )
        depth = np.zeros(self._first_node.size - 1, np.int64)
        stack = np.empty((count + 1, 2), np.int64)
        lay_out(self._nodes, self._first_node, stack, self._paths, depth)
        self._rules = _rules(depth)
        total = np.array([float(forest.base)])
        expected_values(
            self._nodes.leaf,
            self._first_node,
            np.asarray(forest.first_leaf, np.int64),
            self._paths,
            total,
        )
        #: The mean score over the training data, by the weights that the engine's leaves have.
        self.base = float(total[0])

    def values(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the SHAP value of each feature for each row; the same bits on any number of threads."""
        read = np.float32 if self.forest.float32_input else np.float64
        with np.errstate(over="ignore"):  # what float32 can't hold is infinite for the engine too
            X = np.ascontiguousarray(np.asarray(X, read), np.float64)
        out = np.zeros((X.shape[0], self.forest.n_features))
        if not self._nodes.feature.size:
            return out

        def explain_blocks(first: int, last: int) -> None:
            rows = (first * _BLOCK, min(last * _BLOCK, X.shape[0]))
            add_contributions(
                self._nodes, self._first_node, self._paths, self._rules, X, out, *rows
            )

        run_ranges(explain_blocks, np.ones(-(-X.shape[0] // _BLOCK)), n_jobs, chunks=1)
        return out


def _rules(depth: np.ndarray) -> Rules:
    """Return enough points for a product of `depth` - 1 factors: n points are exact up to degree 2 n - 1."""
    size = 4 * np.maximum(-(-depth // 8), 1)
    most = int(size.max(initial=4))
    point, weight = np.zeros((most // 4, most)), np.zeros((most // 4, most))
    for row, n in enumerate(range(4, most + 1, 4)):
        points, weights = np.polynomial.legendre.leggauss(n)
        point[row, :n], weight[row, :n] = (points + 1) / 2, weights / 2
    return Rules(size, point, weight)
