"""Walking down the trees, document by document: the plain way, which everything faster is compared with."""

from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel, inner, jit
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood.engines.model_trees.arrays import TreeArrays

#: How a value is compared with a threshold to go left. A forest asks `AT_MOST`; other programs may ask otherwise.
AT_MOST, BELOW = 0, 1
#: Java's ``Double.compare(x, t) <= 0``, for which -0.0 is less than 0.0.
AT_MOST_IN_JAVA = 2


def leaves(trees: TreeArrays, X: np.ndarray, comparison: int = AT_MOST) -> np.ndarray:
    """Return the leaf of each document in each tree, counted within the tree."""
    out = np.empty((X.shape[0], trees.n_trees), np.int32)
    callable_kernel(_fill_leaves)(X, trees, comparison, out)
    return out


def scores(
    trees: TreeArrays, X: np.ndarray, base: float, real: type[Any] = np.float64
) -> np.ndarray:
    """Return a base and the leaves of each document, added in this precision and in the order of trees."""
    out = np.full(X.shape[0], base, real)
    callable_kernel(_add_scores)(X, trees, out)
    return out.astype(np.float64)


# Numba counts references to a record's arrays at every call that it doesn't inline: what each node calls takes numbers.
@inner
def goes_left(value: Any, threshold: Any, missing_left: Any, comparison: Any) -> Any:
    """Tell whether a numerical split sends a value left."""
    if value != value:
        return missing_left
    if comparison == BELOW:
        return value < threshold
    if comparison == AT_MOST_IN_JAVA and value == threshold:
        return np.signbit(value) or not np.signbit(threshold)
    return value <= threshold


@inner
def category_goes_left(value: Any, trees: Any, node: Any) -> Any:
    """Tell whether a split on categories sends a value left: it does if the value, without its decimals, is its own."""
    if value != value:
        return trees.missing_left[node]
    if not trees.min_category < value < 2147483648.0:
        return False
    category = np.int64(value)
    low, high = trees.category_first[node], trees.category_first[node + 1]
    while low < high:
        middle = (low + high) // 2
        if trees.category[middle] < category:
            low = middle + 1
        else:
            high = middle
    return low < trees.category_first[node + 1] and trees.category[low] == category


@inner
def _leaf_of(x, trees, t, comparison):
    """Return the leaf, counted through all trees, that a document reaches in tree t."""
    if trees.first_node[t] == trees.first_node[t + 1]:
        return trees.first_leaf[t]
    node = trees.first_node[t]
    while node >= 0:
        value = x[trees.feature[node]]
        if trees.categorical[node]:
            left = category_goes_left(value, trees, node)
        else:
            left = goes_left(value, trees.threshold[node], trees.missing_left[node], comparison)
        node = np.int64(trees.left[node] if left else trees.right[node])
    return ~node


@jit
def _fill_leaves(X, trees, comparison, out):
    for t in range(trees.first_node.size - 1):
        for d in range(X.shape[0]):
            out[d, t] = _leaf_of(X[d], trees, t, comparison) - trees.first_leaf[t]


@jit
def _add_scores(X, trees, out):
    for d in range(X.shape[0]):
        total = out[d]
        for t in range(trees.first_node.size - 1):
            value = trees.leaf_value[_leaf_of(X[d], trees, t, AT_MOST)]
            total += as_type_of(total, value)
        out[d] = total
