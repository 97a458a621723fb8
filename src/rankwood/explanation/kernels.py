"""Compiled TreeSHAP: exact Shapley values of trees, by an integral that a few points give exactly.

A tree is a sum over its leaves. To a leaf with value v belongs a game among the features on its path: a feature that is
known contributes 1 or 0, whether or not the document takes the path at its splits, and one that is unknown contributes
the share of training weight that does. The game is v times a product, and the Shapley value of feature i in it is

    v (o_i - z_i) * integral from 0 to 1 over t of the product of (t o_j + (1 - t) z_j) over all other features j

where o is 1 or 0 and z is that share. The integrand is a polynomial, so Gauss-Legendre quadrature is exact. Products
are built up on the way down, and sums over the leaves below on the way up, once for each edge [yu2022].

Vocabulary: node i has edges 2 i (left) and 2 i + 1 (right), with i counted within the tree, parents before children.
The edge *above* is the next one towards the root whose split is on the same feature; -1 if there is none. An edge is
*open* if the document takes it, and the edges above it, at their splits. A *factor* is t o + (1 - t) z.
"""

from typing import Any

import numpy as np

from rankwood._core.compile import inner, jit

#: What an edge is to a document: open; closed, with an open edge above or none; closed like the edge above.
OPEN, CLOSED_HERE, CLOSED_ABOVE = 0, 1, 2


@jit
def lay_out(forest: Any, first_node: Any, stack: Any, paths: Any, depth: Any) -> None:
    """Order the nodes of each tree, and fill `paths` with what holds for all documents.

    `depth` becomes the largest number of different features on a path, for each tree.
    """
    for t in range(first_node.size - 1):
        start, count = first_node[t], 0
        top = 0
        if first_node[t + 1] > start:
            stack[0, 0], stack[0, 1], top = start, -1, 1
        while top:
            top -= 1
            node, parent = stack[top, 0], stack[top, 1]
            place = start + count
            paths.node[place], paths.parent[place] = node, parent
            edge, features = parent, 1
            while edge >= 0 and forest.feature[paths.node[start + edge // 2]] != forest.feature[node]:
                edge = paths.parent[start + edge // 2]
            paths.above[place] = edge
            if parent >= 0:
                features = paths.features[start + parent // 2] + (1 if edge < 0 else 0)
            paths.features[place] = features
            depth[t] = max(depth[t], features)
            chance = 1.0 if edge < 0 else paths.chance[start + edge // 2, edge % 2]
            for side in range(2):
                share = _share(forest, node, side)
                paths.share[place, side] = share
                paths.chance[place, side] = chance * share
            for side in range(1, -1, -1):  # the left child is taken off the stack first
                child = forest.left[node] if side == 0 else forest.right[node]
                paths.child[place, side] = child
                if child >= 0:
                    stack[top, 0], stack[top, 1] = child, 2 * count + side
                    top += 1
            count += 1


@inner
def _share(forest: Any, node: Any, side: Any) -> Any:
    """Return the share of the training weight of a node that goes to one side; a half if there is none at all."""
    left = _cover(forest, forest.left[node])
    right = _cover(forest, forest.right[node])
    if not left + right > 0.0:
        return 0.5
    return (left if side == 0 else right) / (left + right)


@inner
def _cover(forest: Any, child: Any) -> Any:
    return forest.cover[child] if child >= 0 else forest.leaf_cover[~child]


@jit
def expected_values(leaf: Any, first_node: Any, first_leaf: Any, paths: Any, out: Any) -> None:
    """Add the mean of the leaves of each tree, by training weight, to `out`."""
    reached = np.ones(paths.node.size)
    for t in range(first_node.size - 1):
        start = first_node[t]
        if first_node[t + 1] == start:
            out[0] += leaf[first_leaf[t]]
        for i in range(start, first_node[t + 1]):
            edge = paths.parent[i]
            if edge >= 0:
                above = start + edge // 2
                reached[i] = reached[above] * paths.share[above, edge % 2]
            for side in range(2):
                if paths.child[i, side] < 0:
                    out[0] += reached[i] * paths.share[i, side] * leaf[~paths.child[i, side]]


@jit
def add_contributions(
    forest: Any, first_node: Any, paths: Any, rules: Any, X: Any, out: Any, first: Any, last: Any
) -> None:
    """Add the Shapley values of the documents `first` to `last` to the rows of `out`, tree by tree."""
    most = 0
    for t in range(first_node.size - 1):
        most = max(most, first_node[t + 1] - first_node[t])
    width = rules.point.shape[1]
    ratio = np.empty((2 * most, 2, width))
    slope = np.empty((2 * most, 2, width))
    product = np.empty((2 * most, width))
    kind = np.empty(2 * most, np.int8)
    ones = np.ones(width)
    for t in range(first_node.size - 1):
        start, count = first_node[t], first_node[t + 1] - first_node[t]
        if count == 0:
            continue
        size, rule = rules.size[t], rules.size[t] // 4 - 1
        point, weight = rules.point[rule, :size], rules.weight[rule, :size]
        _fill_tables(paths, start, count, point, weight, ratio, slope)
        for row in range(first, last):
            x = X[row]
            for i in range(count):
                place = start + i
                left = goes_left(forest, paths.node[place], x)
                above, parent = paths.above[place], paths.parent[place]
                below_open = above < 0 or kind[above] == OPEN
                before = ones if parent < 0 else product[parent]
                for side in range(2):
                    edge = 2 * i + side
                    child = paths.child[place, side]
                    value = 1.0 if child >= 0 else forest.leaf[~child]
                    if below_open:
                        k = OPEN if left == (side == 0) else CLOSED_HERE
                        kind[edge] = k
                        for q in range(size):
                            product[edge, q] = before[q] * ratio[edge, k, q] * value
                    else:
                        kind[edge] = CLOSED_ABOVE
                        share = paths.share[place, side] * value
                        for q in range(size):
                            product[edge, q] = before[q] * share
            for i in range(count - 1, -1, -1):
                # The product of an edge is not needed below any more: it becomes the sum over the leaves below it.
                place = start + i
                parent, total = paths.parent[place], 0.0
                left_sum, right_sum = product[2 * i], product[2 * i + 1]
                if kind[2 * i] != CLOSED_ABOVE:
                    left_slope = slope[2 * i, kind[2 * i]]
                    right_slope = slope[2 * i + 1, kind[2 * i + 1]]
                    for q in range(size):
                        total += left_sum[q] * left_slope[q] + right_sum[q] * right_slope[q]
                    out[row, forest.feature[paths.node[place]]] += total
                if parent >= 0:
                    up = product[parent]
                    for q in range(size):
                        up[q] = left_sum[q] + right_sum[q]


@inner
def _fill_tables(
    paths: Any, start: Any, count: Any, point: Any, weight: Any, ratio: Any, slope: Any
) -> None:
    """Fill in what an edge multiplies a product by, and what turns sums over leaves into Shapley values.

    The first table has the factor of the edge over that of the edge above. The second one has (o - z) over the factor,
    less the same of the edge above, which would count these leaves again. If o is 0, that is -1 / (1 - t).
    """
    for i in range(count):
        above = paths.above[start + i]
        z = 1.0 if above < 0 else paths.chance[start + above // 2, above % 2]
        for side in range(2):
            own = paths.chance[start + i, side]
            for q in range(point.size):
                t = point[q]
                below, closed = t + (1.0 - t) * z, (1.0 - t) * own
                former = (1.0 - z) / below
                ratio[2 * i + side, OPEN, q] = (t + closed) / below
                ratio[2 * i + side, CLOSED_HERE, q] = closed / below
                slope[2 * i + side, OPEN, q] = weight[q] * ((1.0 - own) / (t + closed) - former)
                slope[2 * i + side, CLOSED_HERE, q] = weight[q] * (-1.0 / (1.0 - t) - former)


@inner
def goes_left(forest: Any, node: Any, x: Any) -> Any:
    """Return whether a document goes left at a node; values are rounded as the engine does before."""
    value = x[forest.feature[node]]
    if np.isnan(value):
        return forest.missing_left[node]
    if not forest.categorical[node]:
        return value <= forest.threshold[node]
    for i in range(forest.category_first[node], forest.category_first[node + 1]):
        if forest.category[i] == value:
            return True
    return False
