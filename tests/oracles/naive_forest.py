"""A plain walk down the trees of a forest, in Python's own numbers. Imports nothing from the package."""

import numpy as np


def walk(forest, row):
    """Return the leaf of a document in each tree, counted within the tree."""
    found = []
    for t in range(forest.n_trees):
        node = int(forest.first_node[t])
        if node == forest.first_node[t + 1]:
            found.append(0)
            continue
        while node >= 0:
            x = (
                np.float32(row[forest.feature[node]])
                if forest.float32_input
                else row[forest.feature[node]]
            )
            left = (
                bool(forest.missing_left[node])
                if np.isnan(x)
                else float(x) <= forest.threshold[node]
            )
            node = int(forest.left[node] if left else forest.right[node])
        found.append(~node - int(forest.first_leaf[t]))
    return found


def score(forest, row):
    """Return the sum of a document's leaves, in the order of trees."""
    real = np.float32 if forest.float32_sum else np.float64
    total = real(forest.base)
    for t, leaf in enumerate(walk(forest, row)):
        total = real(total + real(forest.leaf_value[forest.first_leaf[t] + leaf]))
    return float(total)
