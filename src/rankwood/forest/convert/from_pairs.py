"""Models of pairs as trees whose splits look at one document, the other, or their difference."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.engines.model_trees.arrays import TreeArrays


class PairTrees(NamedTuple):
    """Trees on pairs of documents.

    `trees.feature` counts the columns of the first document, then those of the second one, then their differences.
    """

    trees: TreeArrays
    #: Number of features of a document.
    n_features: int


def pair_trees(model: Any, n_features: int) -> PairTrees:
    """Return the trees of a model of pairs.

    Parameters
    ----------
    model : model of an engine
        That of the engine pairtree.
    n_features : int
        Number of features of a document.

    Returns
    -------
    PairTrees
        The trees.
    """
    if type(model).__name__ != "PairTreeModel":
        raise checks.InputError(
            "a model of pairs that LightGBM trained (Rankwood 0.1 to 0.4) scores, but can't be exported: train it "
            "again with engine='pairtree'."
        )
    return PairTrees(_of_pairtree(model.booster), n_features)


def _of_pairtree(forest: Any) -> TreeArrays:
    """Return the trees of our own engine, with numbers of nodes and leaves that count through all trees."""
    nodes = np.cumsum([0, *(tree.left.size for tree in forest.trees)])
    leaves = np.cumsum([0, *(tree.value.size for tree in forest.trees)])

    def joined(name: str, kind: type) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(getattr(t, name) for t in forest.trees)]).astype(kind)

    def children(name: str) -> np.ndarray:
        child = joined(name, np.int64)
        tree = np.repeat(np.arange(len(forest.trees)), np.diff(nodes))
        return np.where(child >= 0, child + nodes[tree], ~(~child + leaves[tree])).astype(np.int32)

    side, column = joined("side", np.int64), joined("column", np.int64)
    return without_categories(
        feature=(side * forest.n_features + column).astype(np.int32),
        threshold=joined("threshold", np.float64),
        missing_left=joined("missing_left", bool),
        left=children("left"),
        right=children("right"),
        leaf_value=joined("value", np.float64),
        first_node=nodes,
        first_leaf=leaves,
    )


def without_categories(**arrays: Any) -> TreeArrays:
    """Return trees without splits on categories."""
    count = arrays["feature"].size
    categories: dict[str, Any] = {
        "category_first": np.zeros(count + 1, np.int64),
        "category": np.zeros(0, np.int64),
        "categorical": np.zeros(count, bool),
    }
    return TreeArrays(**arrays, **categories)
