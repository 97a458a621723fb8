"""Reference scorers: files are scored as their target would, by its own comparison, widths and missing-value rule."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankwood.export.trees import Trees


class Semantics(NamedTuple):
    """How a target scores; `read` gives the trees in the widths in which the target keeps them."""

    #: Name of the evaluator, for a target that has several.
    name: str
    #: The features as the target has them, given float64.
    features: Callable[[np.ndarray], np.ndarray]
    #: Whether values go to the left of thresholds; for values that aren't missing.
    left: Callable[[np.ndarray, np.ndarray], np.ndarray]
    #: Which values take the side of missing ones.
    missing: Callable[[np.ndarray], np.ndarray]
    #: The scores, given the value of each row's leaf in each tree.
    total: Callable[[np.ndarray], np.ndarray]


class Scored(NamedTuple):
    """Rows as a target scores them."""

    #: Number of the leaf, among all leaves, by row and tree.
    leaf: np.ndarray
    score: np.ndarray


def score(trees: Trees, X: np.ndarray, semantics: Semantics) -> Scored:
    """Return leaves and scores of rows.

    Parameters
    ----------
    trees : Trees
        Trees as they were read from a file.
    X : array of float64
        Features by the columns that the trees name.
    semantics : Semantics
        The rules of the target.

    Returns
    -------
    Scored
        What the target would compute.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values = semantics.features(X)
        leaf = walk(trees, values, semantics)
        return Scored(leaf, semantics.total(trees.leaf_value[leaf]))


def walk(trees: Trees, values: np.ndarray, semantics: Semantics) -> np.ndarray:
    """Return the leaf of each row in each tree, numbered among all leaves."""
    out = np.empty((values.shape[0], trees.n_trees), np.int64)
    members = _members(trees)
    for tree in range(trees.n_trees):
        at = np.full(values.shape[0], trees.root(tree), np.int64)
        rows = np.arange(values.shape[0])[at >= 0]
        while rows.size:
            node = at[rows]
            x = values[rows, trees.feature[node]]
            go = semantics.left(x, trees.threshold[node])
            if members is not None:
                go = np.where(trees.categorical[node], members(node, x), go)
            go = np.where(semantics.missing(x), trees.missing_left[node], go)
            at[rows] = np.where(go, trees.left[node], trees.right[node])
            rows = rows[at[rows] >= 0]
        out[:, tree] = ~at
    return out


def _members(trees: Trees) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """Return what says whether values are among the categories of nodes; None if no split is categorical."""
    if not trees.categorical.any():
        return None
    span = int(trees.category.max(initial=0)) + 2
    owner = np.repeat(np.arange(trees.feature.size), np.diff(trees.category_first))
    keys = np.sort(owner * span + trees.category)

    def member(node: np.ndarray, x: np.ndarray) -> np.ndarray:
        inside = (x > trees.above) & (x < span - 1)
        wanted = node * span + np.where(inside, x, 0).astype(np.int64)
        return inside & np.isin(wanted, keys)

    return member


def as_float32(X: np.ndarray) -> np.ndarray:
    """Return features as float32."""
    return X.astype(np.float32)


def as_they_are(X: np.ndarray) -> np.ndarray:
    """Return features as float64."""
    return np.asarray(X, np.float64)


def sum_in_order(leaves: np.ndarray) -> np.ndarray:
    """Return sums over trees, added one after the other in the width of the leaves."""
    total = np.zeros(leaves.shape[0], leaves.dtype)
    for tree in range(leaves.shape[1]):
        total += leaves[:, tree]
    return total.astype(np.float64)


def at_most(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return ``x <= t``."""
    return np.asarray(x <= t)


def below(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return ``x < t``."""
    return np.asarray(x < t)


def is_nan(x: Any) -> np.ndarray:
    """Return which values are NaN."""
    return np.isnan(x)
