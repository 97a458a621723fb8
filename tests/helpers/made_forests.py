"""Forests made by hand: every size of tree, every kind of threshold, missing values on either side."""

from dataclasses import replace

import numpy as np

from rankwood.forest import Forest
from tests.helpers.hard_rows import hard_rows

FLT_MAX = float(np.finfo(np.float32).max)
NEARLY_ZERO = float(np.float32(1e-35))
SIZES = (1, 2, 3, 17, 64, 255, 1, 5)
WIDTH = 7
ODD = (
    *(np.inf, -np.inf, FLT_MAX, -FLT_MAX, np.nextafter(FLT_MAX, 0), 1e300, -1e300, 3.5e38),
    *(NEARLY_ZERO, np.nextafter(-NEARLY_ZERO, -1), 0.0, -0.0, 1e-45, -1e-45, 5e-324, -5e-324),
    *(2.0**24 + 1, 1.7e9 + 0.5, 0.1, 1 / 3),
)


def tree_shape(size, rng):
    """Return children of a random tree: a node comes after its parent, leaves are numbered at random."""
    left, right, open_ends = [], [], []
    names = rng.permutation(size).tolist()
    for node in range(size - 1):
        if node:
            sides, parent = open_ends.pop(int(rng.integers(len(open_ends))))
            sides[parent] = node
        left.append(None)
        right.append(None)
        open_ends += [(left, node), (right, node)]
    for sides, parent in open_ends:
        sides[parent] = ~names.pop()
    return left, right


def made_forest(seed=0, float32=False, odd=0.4, sizes=SIZES, base=0.25):
    """Return a forest of trees with these numbers of leaves; a part of the thresholds is `ODD`."""
    rng = np.random.default_rng(seed)
    left, right, first_node, first_leaf = [], [], [0], [0]
    for size in sizes:
        own = tree_shape(size, rng)
        for sides, mine in zip((left, right), own, strict=True):
            sides += [
                child + first_node[-1] if child >= 0 else ~(~child + first_leaf[-1])
                for child in mine
            ]
        first_node.append(len(left))
        first_leaf.append(first_leaf[-1] + size)
    nodes, leaves = first_node[-1], first_leaf[-1]
    threshold = rng.standard_normal(nodes) * rng.choice([1e-3, 1.0, 1e6], nodes)
    threshold = np.where(rng.random(nodes) < odd, rng.choice(ODD, nodes), threshold)
    if float32:
        with np.errstate(over="ignore", under="ignore"):
            threshold = threshold.astype(np.float32).astype(np.float64)
    value = rng.standard_normal(leaves)
    return Forest(
        engine="xgboost" if float32 else "lightgbm",
        feature=rng.integers(0, WIDTH, nodes),
        threshold=threshold,
        missing_left=rng.random(nodes) < 0.5,
        left=left,
        right=right,
        leaf_value=value.astype(np.float32).astype(np.float64) if float32 else value,
        first_node=first_node,
        first_leaf=first_leaf,
        cover=np.ones(nodes),
        leaf_cover=np.ones(leaves),
        gain=np.zeros(nodes),
        category_first=np.zeros(nodes + 1, int),
        category=np.zeros(0, int),
        categorical=np.zeros(nodes, bool),
        base=base,
        float32_input=float32,
        float32_sum=float32,
        n_features=WIDTH,
        feature_names=tuple(f"attribute({c})" for c in "abcdefg"),
    )


def labelled(forest):
    """Return a forest whose leaves have their own numbers for values, so that a file tells which leaf it is."""
    return replace(forest, leaf_value=np.arange(forest.leaf_value.size, dtype=float), base=0.0)


def documents(rows=40, seed=0):
    """Return rows of normal numbers with some missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, WIDTH)) * rng.choice([1e-3, 1.0, 1e6], (rows, WIDTH))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def finite(X):
    """Return the rows without infinities."""
    return X[~np.isinf(X).any(axis=1)]


def narrow(X):
    """Return features as float32 numbers, without rows that are infinite then."""
    with np.errstate(over="ignore", under="ignore"):
        return finite(X.astype(np.float32).astype(np.float64))


def hard(forest, splits, seed=0):
    """Return hard rows; thresholds at the end of the range overflow on the way."""
    with np.errstate(all="ignore"):
        return hard_rows(forest, documents(), splits, seed)
