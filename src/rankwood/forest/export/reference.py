"""Reference scorers: files are scored as their target would, by its own comparison, widths and missing-value rule."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankwood.engines.model_trees import walking
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest import Forest


def in_float32(values: np.ndarray) -> np.ndarray:
    """Return values as float32."""
    return values.astype(np.float32)


def in_float64(values: np.ndarray) -> np.ndarray:
    """Return values as float64."""
    return np.asarray(values, np.float64)


def sum_in_order(leaves: np.ndarray) -> np.ndarray:
    """Return sums over trees, added one after the other in the width of the leaves."""
    total = np.zeros(leaves.shape[0], leaves.dtype)
    for tree in range(leaves.shape[1]):
        total += leaves[:, tree]
    return total.astype(np.float64)


class Semantics(NamedTuple):
    """How a target scores; `read` gives the trees in the widths in which the target keeps them."""

    #: Name of the evaluator, for a target that has several.
    name: str
    #: The features as the target has them, given float64; NaN where they take the side of missing ones.
    features: Callable[[np.ndarray], np.ndarray] = in_float64
    #: Which values go to the left of a threshold: a constant of `walking`.
    comparison: int = walking.AT_MOST
    #: The scores, given the value of each row's leaf in each tree.
    total: Callable[[np.ndarray], np.ndarray] = sum_in_order
    #: Thresholds as the target compares them.
    thresholds: Callable[[np.ndarray], np.ndarray] = in_float64


class ReferenceScores(NamedTuple):
    """Rows as a target scores them."""

    #: Number of the leaf, among all leaves, by row and tree.
    leaf: np.ndarray
    score: np.ndarray


def reference_scores(trees: TreeArrays, X: np.ndarray, semantics: Semantics) -> ReferenceScores:
    """Return leaves and scores of rows.

    Parameters
    ----------
    trees : TreeArrays
        Trees as they were read from a file.
    X : array of float64
        Features by the columns that the trees name.
    semantics : Semantics
        How the target scores.

    Returns
    -------
    ReferenceScores
        What the target would compute.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        compared = trees._replace(threshold=semantics.thresholds(trees.threshold))
        leaf = leaf_numbers(compared, semantics.features(X), semantics.comparison)
        return ReferenceScores(leaf, semantics.total(trees.leaf_value[leaf]))


def leaf_numbers(trees: TreeArrays, X: np.ndarray, comparison: int = walking.AT_MOST) -> np.ndarray:
    """Return the leaf of each row in each tree, numbered among all leaves."""
    # A float32 is a float64 too, so comparisons come out as in the target's own width.
    wide = np.array(X, np.float64, order="C")
    return walking.leaves(trees.for_kernels(), wide, comparison) + trees.first_leaf[:-1]


def engine_semantics(forest: Forest) -> tuple[Semantics, ...]:
    """Return the engine's own comparison and sum; the last tree has the constant, from which the sum starts."""

    def features(X: np.ndarray) -> np.ndarray:
        return in_float32(X) if forest.float32_input else in_float64(X)

    def total(leaves: np.ndarray) -> np.ndarray:
        real = np.float32 if forest.float32_sum else np.float64
        return sum_in_order(np.roll(leaves, 1, axis=1).astype(real))

    return (Semantics("engine's own", features, total=total),)
