"""Walking down the trees, document by document: the plain way, which everything faster is compared with."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwood._core.compile import callable_kernel, inner, jit
from rankwood._core.numeric import as_type_of

if TYPE_CHECKING:
    from rankwood.forest.record import Forest


class Trees(NamedTuple):
    """The arrays of a forest that a walk reads."""

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
    below_categories: float  # values above it are read as categories


def trees_of(forest: "Forest") -> Trees:
    """Return what a walk reads."""
    return Trees(
        forest.feature,
        forest.threshold,
        forest.missing_left,
        forest.left,
        forest.right,
        forest.leaf_value,
        forest.first_node,
        forest.first_leaf,
        forest.category_first,
        forest.category,
        # LightGBM drops the decimals and then looks for a sign, XGBoost does so the other way round.
        -1.0 if forest.engine == "lightgbm" else float(np.nextafter(0.0, -1.0)),
    )


def leaves(forest: "Forest", X: np.ndarray) -> np.ndarray:
    """Return the leaf of each document in each tree, counted within the tree."""
    out = np.empty((X.shape[0], forest.n_trees), np.int32)
    callable_kernel(_fill_leaves)(X, trees_of(forest), out)
    return out


def scores(forest: "Forest", X: np.ndarray) -> np.ndarray:
    """Return the sum of leaves of each document, in the engine's precision and the order of trees."""
    real = np.float32 if forest.float32_sum else np.float64
    out = np.full(X.shape[0], forest.base, real)
    callable_kernel(_add_scores)(X, trees_of(forest), out)
    return out.astype(np.float64)


@inner
def _leaf_of(x, trees, t):
    """Return the leaf, counted through all trees, that a document reaches in tree t."""
    if trees.first_node[t] == trees.first_node[t + 1]:
        return trees.first_leaf[t]
    node = trees.first_node[t]
    while node >= 0:
        value = x[trees.feature[node]]
        if value != value:
            goes_left = trees.missing_left[node]
        elif trees.category_first[node] == trees.category_first[node + 1]:
            goes_left = value <= trees.threshold[node]
        else:
            goes_left = _has_category(value, trees, node)
        node = np.int64(trees.left[node] if goes_left else trees.right[node])
    return ~node


@inner
def _has_category(value, trees, node):
    """Tell whether a value, without its decimals, is one of a node's categories."""
    if not trees.below_categories < value < 2147483648.0:
        return False
    wanted = np.int64(value)
    low, high = trees.category_first[node], trees.category_first[node + 1]
    while low < high:
        middle = (low + high) // 2
        if trees.category[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < trees.category_first[node + 1] and trees.category[low] == wanted


@jit
def _fill_leaves(X, trees, out):
    for t in range(trees.first_node.size - 1):
        for d in range(X.shape[0]):
            out[d, t] = _leaf_of(X[d], trees, t) - trees.first_leaf[t]


@jit
def _add_scores(X, trees, out):
    for d in range(X.shape[0]):
        total = out[d]
        for t in range(trees.first_node.size - 1):
            value = trees.leaf_value[_leaf_of(X[d], trees, t)]
            total += as_type_of(total, value)
        out[d] = total
