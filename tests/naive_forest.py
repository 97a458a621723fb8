"""A plain walk down the trees of a forest, in Python's own numbers, and small random forests."""

import numpy as np

from rankwood.forest import Forest


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


def random_forest(rng, engine, trees, most_leaves, features, thresholds):
    """A forest with trees of 1 to `most_leaves` leaves, of any shape; for CatBoost symmetric ones."""
    shapes = [
        symmetric(rng, most_leaves) if engine == "catboost" else any_shape(rng, most_leaves)
        for _ in range(trees)
    ]
    first_node = np.cumsum([0, *(len(left) for left, _, _ in shapes)])
    first_leaf = np.cumsum([0, *(len(left) + 1 for left, _, _ in shapes)])
    left, right, question = [], [], []
    for t, (a, b, level) in enumerate(shapes):
        for out, own in ((left, a), (right, b)):
            out += [c + first_node[t] if c >= 0 else ~(~c + first_leaf[t]) for c in own]
        question += [(t, k) for k in level]
    drawn = {}
    for key in question:  # nodes with the same key ask the same
        drawn.setdefault(key, (rng.integers(features), rng.choice(thresholds), rng.random() < 0.5))
    feature, threshold, missing = (np.array([drawn[key][i] for key in question]) for i in range(3))
    if engine == "catboost":  # missing values of a feature go one way
        missing = feature % 2 == 0
    nodes, leaves = int(first_node[-1]), int(first_leaf[-1])
    narrow = engine != "lightgbm"
    value = rng.standard_normal(leaves)
    return Forest(
        engine=engine,
        feature=feature.astype(np.int64),
        threshold=threshold.astype(np.float32).astype(np.float64)
        if narrow
        else threshold.astype(np.float64),
        missing_left=missing.astype(bool),
        left=np.array(left, np.int64),
        right=np.array(right, np.int64),
        leaf_value=value.astype(np.float32).astype(np.float64) if engine == "xgboost" else value,
        first_node=first_node,
        first_leaf=first_leaf,
        cover=np.ones(nodes),
        leaf_cover=np.ones(leaves),
        gain=np.zeros(nodes),
        category_first=np.zeros(nodes + 1, np.int64),
        category=np.zeros(0, np.int64),
        categorical=np.zeros(nodes, bool),
        base=0.25 if engine == "xgboost" else 0.0,
        float32_input=narrow,
        float32_sum=engine == "xgboost",
        n_features=features,
    )


def any_shape(rng, most_leaves):
    """Children of a tree that grows by splitting a random leaf; every node asks its own question."""
    nodes = int(rng.integers(0, most_leaves))
    left, right, open_leaves = [], [], [(None, None)]
    for node in range(nodes):
        parent, side = open_leaves.pop(int(rng.integers(len(open_leaves))))
        if parent is not None:
            (left, right)[side][parent] = node
        left.append(None)
        right.append(None)
        open_leaves += [(node, 0), (node, 1)]
    for leaf, (parent, side) in enumerate(open_leaves if nodes else []):
        (left, right)[side][parent] = ~leaf
    return left, right, range(nodes)


def symmetric(rng, most_leaves):
    """Children of a tree whose levels each ask one question; bit i of a leaf is the answer of level i."""
    depth = int(rng.integers(0, int(np.log2(most_leaves)) + 1))
    left, right, level = [], [], []
    for d in range(depth):
        for bits in range(2**d):
            below = [2 ** (d + 1) - 1 + b if d + 1 < depth else ~b for b in (bits, bits | 1 << d)]
            left.append(below[0])
            right.append(below[1])
            level.append(d)
    return left, right, level
