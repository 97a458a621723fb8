"""Shapley values by their definition, in plain loops. Imports nothing from the package."""

from itertools import combinations
from math import factorial, isnan

import numpy as np


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
