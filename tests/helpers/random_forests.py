"""Small random forests."""

from itertools import pairwise

import numpy as np

from rankwood.forest import Forest


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


def forest_with_covers(rng, n_features=4, trees=3, leaves=6, empty=0.0, categories=False):
    """Return trees with repeated features, missing values, leaves nobody reached, and categorical splits."""
    columns = {name: [] for name in ("feature", "threshold", "missing_left", "left", "right")}
    columns |= {name: [] for name in ("leaf_value", "leaf_cover", "categorical", "category")}
    first_node, first_leaf, category_first = [0], [0], [0]
    for _ in range(trees):
        count = int(rng.integers(1, leaves + 1))
        offset, start = first_node[-1], first_leaf[-1]
        nodes = []  # left, right; open leaves are (node, side)
        place = [None]
        for k in range(count - 1):
            at = place.pop(int(rng.integers(len(place))))
            nodes.append([None, None])
            if at is not None:
                nodes[at[0]][at[1]] = offset + k
            place += [(k, 0), (k, 1)]
        for number, at in enumerate(place):
            if at is not None:
                nodes[at[0]][at[1]] = ~(start + number)
        for left, right in nodes:
            columns["left"].append(left)
            columns["right"].append(right)
            columns["feature"].append(int(rng.integers(n_features)))
            columns["threshold"].append(float(np.round(rng.normal(), 1)))
            columns["missing_left"].append(bool(rng.integers(2)))
            kind = bool(categories and rng.random() < 0.4)
            columns["categorical"].append(kind)
            chosen = [c for c in range(3) if rng.random() < 0.5] or [1] if kind else []
            columns["category"] += chosen
            category_first.append(len(columns["category"]))
        columns["leaf_value"] += rng.normal(size=count).tolist()
        covers = rng.integers(1, 30, count) * (rng.random(count) >= empty)
        columns["leaf_cover"] += covers.tolist()
        first_node.append(offset + count - 1)
        first_leaf.append(start + count)
    dtypes = {"feature": np.int32, "left": np.int32, "right": np.int32, "category": np.int64}
    dtypes |= {"missing_left": bool, "categorical": bool}
    made = {name: np.array(c, dtypes.get(name, np.float64)) for name, c in columns.items()}
    cover = np.zeros(len(columns["left"]))

    def fill(child):
        if child < 0:
            return made["leaf_cover"][~child]
        cover[child] = fill(made["left"][child]) + fill(made["right"][child])
        return cover[child]

    for a, b in pairwise(first_node):
        if b > a:
            fill(a)
    return Forest(
        engine="xgboost",
        **made,
        cover=cover,
        gain=cover,
        first_node=np.array(first_node),
        first_leaf=np.array(first_leaf),
        category_first=np.array(category_first),
        base=0.25,
        float32_input=False,
        float32_sum=False,
        n_features=n_features,
    )
