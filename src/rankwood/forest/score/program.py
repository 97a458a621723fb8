"""Trees as programs: one select a node, from the leaves up.

The rows 0 to L - 1 of a table hold the numbers of the L leaves, for each of some documents. A node is an operation
`row[to] = row[a] where code[column] <= limit, else row[b]`; after the root's, its row has the leaf of each document.
A tree's operations are in post-order, the child that needs more rows first, so that few rows are enough [sethi1970].

A symmetric tree needs no program: the answer of level i is bit i of the leaf's number.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel, jit
from rankwood.forest.score.score_kernels import TOGETHER

if TYPE_CHECKING:
    from rankwood.forest.record import Forest
    from rankwood.forest.score.codes import Codes

MOST_LEAVES = 256  # numbers of leaves are bytes
MOST_COLUMNS = 1 << 16
#: An operation is one word: 16 bits for the column, 8 for the limit, 12 each for the rows a, b and to.
_SHIFTS = (0, 16, 24, 36, 48)


class Program(NamedTuple):
    """Operations of all trees: those of tree t are `first[t]` to `first[t + 1]`, and its result is row `result[t]`."""

    operations: np.ndarray
    first: np.ndarray
    result: np.ndarray
    leaves: int  # rows that hold numbers of leaves
    rows: int  # all rows


class Levels(NamedTuple):
    """Levels of symmetric trees: those of tree t are `first[t]` to `first[t + 1]`."""

    first: np.ndarray
    column: np.ndarray
    limit: np.ndarray


class Paths(NamedTuple):
    """Trees to walk down: the nodes of tree t and then its leaves are `first[t]` to `first[t + 1]`.

    A node is one word: 16 bits for the column, 8 for the limit, 16 each for the places of its children within the tree.
    """

    nodes: np.ndarray
    first: np.ndarray
    depth: np.ndarray


def levels_of(forest: "Forest", codes: "Codes") -> Levels:
    """Return the levels of symmetric trees: all nodes of a level ask the same, so its first one tells."""
    depth = _depth_of_full(np.diff(forest.first_leaf))
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(depth)])
    level = np.arange(first[-1]) - np.repeat(first[:-1], depth)
    node = np.repeat(forest.first_node[:-1], depth) + 2**level - 1
    return Levels(first, codes.column[node], codes.limit[node].astype(np.uint8))


def _depth_of_full(leaves: np.ndarray) -> np.ndarray:
    return np.frexp(leaves)[1].astype(np.int64) - 1  # a full tree has a power of two of leaves


def paths_of(forest: "Forest", codes: "Codes") -> Paths:
    """Return the trees of a forest to walk down."""
    sizes, leaves = np.diff(forest.first_node), np.diff(forest.first_leaf)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes + leaves)])
    tree = np.repeat(np.arange(sizes.size), sizes)
    own_node, own_leaf = forest.first_node[tree], forest.first_leaf[tree] - sizes[tree]
    left, right = (
        np.where(child >= 0, child - own_node, ~child - own_leaf)
        for child in (forest.left.astype(np.int64), forest.right.astype(np.int64))
    )
    at = np.arange(first[-1]) - np.repeat(first[:-1], sizes + leaves)
    nodes = _packed((np.zeros_like(at), np.full_like(at, 255), at, at), (0, 16, 24, 40))
    place = np.arange(tree.size) - own_node + first[tree]
    nodes[place] = _packed((codes.column, codes.limit, left, right), (0, 16, 24, 40))
    depth = np.zeros(tree.size, np.int64)
    callable_kernel(_fill_depths)(forest.left, forest.right, depth)
    deepest = np.zeros(sizes.size, np.int64)
    deepest[sizes > 0] = depth[forest.first_node[:-1][sizes > 0]]
    return Paths(nodes, first, deepest)


def _packed(parts: tuple[np.ndarray, ...], shifts: tuple[int, ...]) -> np.ndarray:
    """Return numbers as bits of words."""
    words = np.zeros(parts[0].size, np.uint64)
    for part, shift in zip(parts, shifts, strict=True):
        words |= part.astype(np.uint64) << np.uint64(shift)
    return words


@jit
def _fill_depths(left, right, depth):
    """Fill the number of nodes on the longest way down from each node."""
    for node in range(left.size - 1, -1, -1):
        a, b = left[node], right[node]
        depth[node] = 1 + max(depth[a] if a >= 0 else 0, depth[b] if b >= 0 else 0)


def program_of(forest: "Forest", codes: "Codes") -> Program:
    """Return the program of a forest."""
    leaves = int(np.diff(forest.first_leaf).max(initial=1))
    size = forest.feature.size
    place, row, need = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    callable_kernel(_arrange)(
        forest.left, forest.right, forest.first_node, need, np.empty(size, np.int64), place, row
    )
    sizes = np.diff(forest.first_node)
    own_leaf = np.repeat(forest.first_leaf[:-1], sizes)
    a, b = (
        np.where(child >= 0, leaves + row[np.maximum(child, 0)], ~child - own_leaf)
        for child in (forest.left.astype(np.int64), forest.right.astype(np.int64))
    )
    # A root's row stays until the leaves of some trees are added; a tree of one leaf has row 0, which is leaf 0.
    below = leaves + int(need.max(initial=0))
    result = np.where(sizes > 0, below + np.arange(sizes.size) % TOGETHER, 0)
    to = leaves + row
    to[forest.first_node[:-1][sizes > 0]] = result[sizes > 0]
    words = _packed((codes.column, codes.limit, a, b, to), _SHIFTS)
    operations = np.empty(size, np.uint64)
    operations[place] = words
    return Program(operations, forest.first_node, result, leaves, below + TOGETHER)


@jit
def _arrange(left, right, first, need, size, place, row):
    """Fill the place and the row of each node's operation; children come after their parents.

    `need` is the number of rows that a node takes, and `size` the number of nodes from it down.
    """
    for node in range(left.size - 1, -1, -1):
        a, b = left[node], right[node]
        x, y = need[a] if a >= 0 else 0, need[b] if b >= 0 else 0
        need[node] = max(x, y, 1) if x != y else x + 1
        size[node] = 1 + (size[a] if a >= 0 else 0) + (size[b] if b >= 0 else 0)
    for t in range(first.size - 1):
        if first[t + 1] > first[t]:
            place[first[t]], row[first[t]] = first[t + 1] - 1, 0
    for node in range(left.size):
        a, b = left[node], right[node]
        if (need[b] if b >= 0 else 0) > (need[a] if a >= 0 else 0):
            a, b = b, a  # a is evaluated first, and may use the rows that b needs afterwards
        end = place[node] - 1
        if b >= 0:
            place[b], row[b] = end, row[node] + (1 if a >= 0 else 0)
            end -= size[b]
        if a >= 0:
            place[a], row[a] = end, row[node]
