"""Compiled TreeSHAP: exact Shapley values of trees, by an integral that a few points give exactly.

A tree is a sum over its leaves. To a leaf with value v belongs a game among the features on its path: a feature that is
known contributes 1 or 0, whether or not the document takes the path at its splits, and one that is unknown contributes
the share of the training weight that does. The game is v times a product, and the Shapley value of feature i in it is

    v (o_i - z_i) * integral from 0 to 1 over t of the product of (t o_j + (1 - t) z_j) over all other features j

where o is 1 or 0 and z is that share. The integrand is a polynomial, so Gauss-Legendre quadrature is exact. Products
are built up on the way down, and sums over the leaves below on the way up, once for each edge [yu2022].

Vocabulary: node i has edges 2 i (left) and 2 i + 1 (right), with i counted within the tree, parents before children.
The edge *above* is the next one towards the root whose split is on the same feature; -1 if there is none. An edge is
*open* if the document takes it, and the edges above it, at their splits. A *factor* is t o + (1 - t) z.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood.engines.model_trees.walking import AT_MOST, category_goes_left, goes_left

#: What an edge is to a document: open; closed below an open edge, or below none; closed like the edge above.
OPEN, CLOSED_HERE, CLOSED_ABOVE = 0, 1, 2


class Covers(NamedTuple):
    """Weight of the training documents that reached each node and each leaf."""

    node: np.ndarray
    leaf: np.ndarray


class ShapPaths(NamedTuple):
    """What belongs to a node and its two edges for all documents."""

    parent: np.ndarray  # the edge that leads to the node, -1 for a root
    above: np.ndarray  # the edge on the same feature above its own two edges, or -1
    features: np.ndarray  # the number of different features from the root to the node
    share: np.ndarray  # by side: of the training weight of the node
    chance: np.ndarray  # by side: product of the shares of this edge and those above it


class Quadrature(NamedTuple):
    """Gauss-Legendre quadrature on [0, 1] with 4, 8, 12, ... points, and how many points each tree needs."""

    size: np.ndarray
    point: np.ndarray
    weight: np.ndarray


class Room(NamedTuple):
    """Memory for one tree: two tables by edge, `OPEN` or `CLOSED_HERE`, and point; products and kinds of the edges."""

    ratio: np.ndarray
    slope: np.ndarray
    product: np.ndarray
    kind: np.ndarray


@jit
def lay_out(trees: Any, covers: Any, paths: Any, depth: Any) -> None:
    """Fill `paths` with what holds for all documents, and `depth` with the most features on a path of each tree."""
    for t in range(depth.size):
        start = trees.first_node[t]
        for i in range(start, trees.first_node[t + 1]):
            if i == start:
                paths.parent[i] = -1
            parent = paths.parent[i]
            edge = parent
            while edge >= 0 and trees.feature[start + edge // 2] != trees.feature[i]:
                edge = paths.parent[start + edge // 2]
            paths.above[i] = edge
            before = 0 if parent < 0 else paths.features[start + parent // 2]
            paths.features[i] = before + (1 if edge < 0 else 0)
            depth[t] = max(depth[t], paths.features[i])
            chance = 1.0 if edge < 0 else paths.chance[start + edge // 2, edge % 2]
            left, right = _cover(covers, trees.left[i]), _cover(covers, trees.right[i])
            # A node that no training document has reached has two halves.
            share = left / (left + right) if left + right > 0.0 else 0.5
            for side in range(2):
                part = share if side == 0 else 1.0 - share
                paths.share[i, side], paths.chance[i, side] = part, chance * part
                child = trees.left[i] if side == 0 else trees.right[i]
                if child >= 0:
                    paths.parent[child] = 2 * (i - start) + side


@inner
def _cover(covers: Any, child: Any) -> Any:
    return covers.node[child] if child >= 0 else covers.leaf[~child]


@jit
def expected_score(trees: Any, paths: Any, base: Any) -> Any:
    """Return the base and the mean of the leaves of each tree, by training weight."""
    total = base
    reached = np.ones(paths.parent.size)
    for t in range(trees.first_node.size - 1):
        start = trees.first_node[t]
        if trees.first_node[t + 1] == start:
            total += trees.leaf_value[trees.first_leaf[t]]
        for i in range(start, trees.first_node[t + 1]):
            edge = paths.parent[i]
            if edge >= 0:
                above = start + edge // 2
                reached[i] = reached[above] * paths.share[above, edge % 2]
            for side in range(2):
                child = trees.left[i] if side == 0 else trees.right[i]
                if child < 0:
                    total += reached[i] * paths.share[i, side] * trees.leaf_value[~child]
    return total


@jit
def add_contributions(
    trees: Any, paths: Any, quadrature: Any, X: Any, out: Any, first: Any, last: Any
) -> None:
    """Add the Shapley values of the documents `first` to `last` to the rows of `out`, tree by tree."""
    most = 0
    for t in range(quadrature.size.size):
        most = max(most, trees.first_node[t + 1] - trees.first_node[t])
    width = quadrature.point.shape[1]
    ratio, slope = np.empty((2 * most, 2, width)), np.empty((2 * most, 2, width))
    product, kind = np.ones((2 * most + 1, width)), np.empty(2 * most, np.int8)
    room, root = Room(ratio, slope, product, kind), 2 * most  # above a root is a row of ones
    for t in range(quadrature.size.size):
        start, count = trees.first_node[t], trees.first_node[t + 1] - trees.first_node[t]
        size = quadrature.size[t]
        point, weight = (
            quadrature.point[size // 4 - 1, :size],
            quadrature.weight[size // 4 - 1, :size],
        )
        _fill_tables(paths, start, count, point, weight, room)
        for row in range(first, last):
            for i in range(count):
                node = start + i
                value = X[row, trees.feature[node]]
                if trees.categorical[node]:
                    left = category_goes_left(value, trees, node)
                else:
                    left = goes_left(
                        value, trees.threshold[node], trees.missing_left[node], AT_MOST
                    )
                above, parent = paths.above[start + i], paths.parent[start + i]
                below_open = above < 0 or kind[above] == OPEN
                before = root if parent < 0 else parent
                for side in range(2):
                    edge, child = 2 * i + side, trees.left[start + i]
                    if side == 1:
                        child = trees.right[start + i]
                    leaf = 1.0 if child >= 0 else trees.leaf_value[~child]
                    if below_open:
                        k = OPEN if left == (side == 0) else CLOSED_HERE
                        kind[edge] = k
                        for q in range(size):
                            product[edge, q] = product[before, q] * ratio[edge, k, q] * leaf
                    else:
                        kind[edge] = CLOSED_ABOVE
                        share = paths.share[start + i, side] * leaf
                        for q in range(size):
                            product[edge, q] = product[before, q] * share
            _add_sums(trees, paths, start, count, size, room, out, row)


@inner
def _add_sums(
    trees: Any, paths: Any, start: Any, count: Any, size: Any, room: Any, out: Any, row: Any
) -> None:
    """Go up a tree: the product of an edge becomes the sum over the leaves below it, and features get their values."""
    kind, product, slope = room.kind, room.product, room.slope
    for i in range(count - 1, -1, -1):
        left, right, total = 2 * i, 2 * i + 1, 0.0
        if kind[left] != CLOSED_ABOVE:
            a, b = kind[left], kind[right]
            for q in range(size):
                total += (
                    product[left, q] * slope[left, a, q] + product[right, q] * slope[right, b, q]
                )
            out[row, trees.feature[start + i]] += total
        parent = paths.parent[start + i]
        if parent >= 0:
            for q in range(size):
                product[parent, q] = product[left, q] + product[right, q]


@inner
def _fill_tables(paths: Any, start: Any, count: Any, point: Any, weight: Any, room: Any) -> None:
    """Fill in what an edge multiplies a product by, and what turns sums over leaves into Shapley values.

    The first table has the factor of the edge over that of the edge above. The second one has (o - z) over the factor,
    less the same of the edge above, which would count these leaves again. If o is 0, that is -1 / (1 - t).
    """
    ratio, slope = room.ratio, room.slope
    for i in range(count):
        above = paths.above[start + i]
        z = 1.0 if above < 0 else paths.chance[start + above // 2, above % 2]
        for side in range(2):
            chance = paths.chance[start + i, side]
            for q in range(point.size):
                t = point[q]
                before, closed = t + (1.0 - t) * z, (1.0 - t) * chance
                former = (1.0 - z) / before
                ratio[2 * i + side, OPEN, q] = (t + closed) / before
                ratio[2 * i + side, CLOSED_HERE, q] = closed / before
                slope[2 * i + side, OPEN, q] = weight[q] * ((1.0 - chance) / (t + closed) - former)
                slope[2 * i + side, CLOSED_HERE, q] = weight[q] * (-1.0 / (1.0 - t) - former)
