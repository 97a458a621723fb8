"""Symmetric trees with their levels turned round.

All nodes of a level have the same split, so the levels of a tree can be in any order, and scores stay the same. SHAP
values don't: the mean of what is unknown goes by the weights below a node. CatBoost's own take the last split as the
root, and ours follow them.
"""

from dataclasses import replace

import numpy as np

from rankwood.forest import Forest

_SPLITS = ("feature", "threshold", "missing_left")


def last_split_first(forest: Forest) -> Forest:
    """Return the same symmetric trees, as `forest_of` numbers them, with the last split as the root of each."""
    splits = {name: getattr(forest, name).copy() for name in _SPLITS}
    values, covers = forest.leaf_value.copy(), forest.leaf_cover.copy()
    cover = forest.cover.copy()
    for t in range(forest.n_trees):
        node, end = forest.first_node[t], forest.first_node[t + 1]
        leaves = slice(forest.first_leaf[t], forest.first_leaf[t + 1])
        depth = int(end - node + 1).bit_length() - 1
        level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
        for name, own in splits.items():
            own[node:end] = getattr(forest, name)[node + 2 ** (depth - 1 - level) - 1]
        turned = _reversed_bits(depth)
        values[leaves] = forest.leaf_value[leaves][turned]
        covers[leaves] = forest.leaf_cover[leaves][turned]
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
