"""The arrays of trees: one record for a forest, for trees as another program has them, and for kernels."""

from typing import Any, NamedTuple

import numpy as np

#: All arrays of a forest, in the order of its file, and their types.
ARRAYS: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "leaf_value": np.float64,
    "first_node": np.int64,
    "first_leaf": np.int64,
    "cover": np.float64,
    "leaf_cover": np.float64,
    "gain": np.float64,
    "category_first": np.int64,
    "category": np.int64,
    "categorical": np.bool_,
}


class TreeArrays(NamedTuple):
    """What a walk down the trees reads; `Forest` explains the arrays.

    Trees that were read from the file of another program may have thresholds and leaves in float32.
    """

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
    categorical: np.ndarray
    #: Values above it are read as categories, without their decimals.
    min_category: float = -1.0

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return int(self.first_node.size) - 1

    def root(self, tree: int) -> int:
        """Return the root of a tree: a node, or the complement of a leaf if the tree has no split."""
        start, stop = int(self.first_node[tree]), int(self.first_node[tree + 1])
        return start if stop > start else ~int(self.first_leaf[tree])

    def categories(self, node: int) -> list[int]:
        """Return the categories that a node sends to the left."""
        return self.category[self.category_first[node] : self.category_first[node + 1]].tolist()

    def for_kernels(self) -> "TreeArrays":
        """Return the same numbers in the types of a forest's arrays, which kernels are compiled for."""
        arrays = [np.array(getattr(self, name), ARRAYS[name]) for name in WALKED]
        for array in arrays:
            array.setflags(write=False)
        return TreeArrays._make([*arrays, self.min_category])


#: The fields that are arrays.
WALKED = TreeArrays._fields[:-1]


def min_category(engine: str) -> float:
    """Return the number above which an engine reads values as categories: -0.5 is category 0 for LightGBM alone."""
    # LightGBM drops the decimals and then looks for a sign, XGBoost does so the other way round.
    return -1.0 if engine in ("lightgbm", "rankwood") else float(np.nextafter(0.0, -1.0))
