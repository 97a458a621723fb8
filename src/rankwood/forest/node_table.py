"""A forest as a table: a row for each node and each leaf."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from rankwood.forest.record import Forest


def frame_of(forest: "Forest") -> "pd.DataFrame":
    """Return the nodes of each tree, and then its leaves."""
    import pandas as pd

    nodes, leaves = _nodes(forest), _leaves(forest)
    both = pd.concat([nodes, leaves], ignore_index=True)
    # A stable sort keeps the nodes of a tree before its leaves.
    return both.sort_values("tree", kind="stable", ignore_index=True)


def _nodes(forest: "Forest") -> "pd.DataFrame":
    import pandas as pd

    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.first_node))
    names = np.array(forest.names, dtype=object)
    ends = forest.category_first
    sets = [
        tuple(forest.category[a:b].tolist()) if b > a else None
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    inner = {
        name: np.where(
            child >= 0, child - forest.first_node[tree], ~(~child - forest.first_leaf[tree])
        )
        for name, child in (("left", forest.left), ("right", forest.right))
    }
    return pd.DataFrame(
        {
            "tree": tree,
            "node": np.arange(tree.size) - forest.first_node[tree],
            "leaf": np.zeros(tree.size, np.bool_),
            "feature": pd.Series(names[forest.feature], dtype=object),
            "threshold": np.where(forest.categorical, np.nan, forest.threshold),
            "categories": pd.Series(sets, dtype=object),
            "missing_left": pd.array(forest.missing_left, dtype="boolean"),
            "left": pd.array(inner["left"], dtype="Int64"),
            "right": pd.array(inner["right"], dtype="Int64"),
            "value": np.full(tree.size, np.nan),
            "gain": forest.gain,
            "cover": forest.cover,
        }
    )


def _leaves(forest: "Forest") -> "pd.DataFrame":
    import pandas as pd

    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.first_leaf))
    nothing = pd.array([pd.NA] * tree.size, dtype="Int64")
    return pd.DataFrame(
        {
            "tree": tree,
            "node": np.arange(tree.size) - forest.first_leaf[tree],
            "leaf": np.ones(tree.size, np.bool_),
            "feature": pd.Series([None] * tree.size, dtype=object),
            "threshold": np.full(tree.size, np.nan),
            "categories": pd.Series([None] * tree.size, dtype=object),
            "missing_left": pd.array([pd.NA] * tree.size, dtype="boolean"),
            "left": nothing,
            "right": nothing,
            "value": forest.leaf_value,
            "gain": np.full(tree.size, np.nan),
            "cover": forest.leaf_cover,
        }
    )
