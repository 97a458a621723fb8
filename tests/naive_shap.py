"""Shapley values by their definition, in plain loops, and forests to try them on."""

from itertools import combinations, pairwise
from math import factorial, isnan

import numpy as np

import rankwood as rw


def goes_left(forest, node, x):
    value = x[forest.feature[node]]
    if forest.float32_input:
        value = float(np.float32(value))
    if isnan(value):
        return bool(forest.missing_left[node])
    if forest.categorical[node]:
        a, b = forest.category_first[node], forest.category_first[node + 1]
        return value >= 0 and int(value) in forest.category[a:b].tolist()
    return bool(value <= forest.threshold[node])


def weight(forest, child):
    return float(forest.cover[child] if child >= 0 else forest.leaf_cover[~child])


def expectation(forest, child, x, known):
    """The mean of a subtree if only the features in `known` are known; others are split as in training."""
    if child < 0:
        return float(forest.leaf_value[~child])
    left, right = int(forest.left[child]), int(forest.right[child])
    if forest.feature[child] in known:
        return expectation(forest, left if goes_left(forest, child, x) else right, x, known)
    a, b = weight(forest, left), weight(forest, right)
    a, b = (a / (a + b), b / (a + b)) if a + b > 0 else (0.5, 0.5)
    return a * expectation(forest, left, x, known) + b * expectation(forest, right, x, known)


def value_of(forest, x, known):
    total = float(forest.base)
    for t in range(len(forest.first_node) - 1):
        a, b = forest.first_node[t], forest.first_node[t + 1]
        root = int(a) if b > a else ~int(forest.first_leaf[t])
        total += expectation(forest, root, x, known)
    return total


def shapley(forest, x):
    """All Shapley values of a document: the mean gain of a feature over all orders of the features."""
    n = forest.n_features
    out = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        total = 0.0
        for size in range(n):
            share = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in combinations(others, size):
                known = set(chosen)
                gain = value_of(forest, x, known | {i}) - value_of(forest, x, known)
                total += share * gain
        out.append(total)
    return np.array(out)


def random_forest(rng, n_features=4, trees=3, leaves=6, empty=0.0, categories=False):
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
    return rw.Forest(
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
