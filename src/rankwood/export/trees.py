"""Trees as a target has them: made from a forest to be written, read back from a file, and walked."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood.export.rules import Cuts

#: Nested objects that readers of JSON accept; a split takes up to two levels.
_DEEPEST = 450


class Trees(NamedTuple):
    """Flat arrays of all trees; the fields are those of a `Forest`."""

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_value: np.ndarray
    first_node: np.ndarray
    first_leaf: np.ndarray
    categorical: np.ndarray
    category_first: np.ndarray
    category: np.ndarray
    #: Values above it are read as categories, without their decimals.
    above: float = -1.0

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return int(self.first_node.size) - 1

    def root(self, tree: int) -> int:
        """Return the root of a tree: a node, or the complement of a leaf if the tree has no split."""
        start, stop = int(self.first_node[tree]), int(self.first_node[tree + 1])
        return start if stop > start else ~int(self.first_leaf[tree])

    def categories(self, node: int) -> list[int]:
        """Return the categories that a node sends to the left."""
        return self.category[self.category_first[node] : self.category_first[node + 1]].tolist()


def trees_of(forest: Any, cuts: Cuts) -> Trees:
    """Return the trees of a forest with thresholds of a target; nodes that are swapped exchange their children."""
    swapped = cuts.swapped & ~forest.categorical
    return Trees(
        forest.feature,
        cuts.threshold,
        forest.missing_left ^ swapped,
        np.where(swapped, forest.right, forest.left),
        np.where(swapped, forest.left, forest.right),
        forest.leaf_value,
        forest.first_node,
        forest.first_leaf,
        forest.categorical,
        forest.category_first,
        forest.category,
        lowest_category(forest),
    )


def lowest_category(forest: Any) -> float:
    """Return the number above which an engine reads values as categories: -0.5 is category 0 for LightGBM alone."""
    return -1.0 if forest.engine == "lightgbm" else float(np.nextafter(0.0, -1.0))


class Node(NamedTuple):
    """A node as a reader finds it: a leaf has a value, a split has the rest."""

    value: float = 0.0
    feature: int = -1
    threshold: float = 0.0
    missing_left: bool = False
    categories: tuple[int, ...] | None = None
    #: Left and right child, as the reader has them.
    children: tuple[Any, Any] | None = None


def read_trees(
    roots: Iterable[Any], describe: Callable[[Any], Node], real: type[Any] = np.float64
) -> Trees:
    """Return flat trees in the order of a file, with thresholds and leaves of the target's width.

    Parameters
    ----------
    roots : iterable
        The root of each tree, in whatever form the file has.
    describe : callable
        Makes a `Node` of such an object.
    real : type
        The width in which the target keeps thresholds and leaves.

    Returns
    -------
    Trees
        Nodes and leaves in the order in which a walk that goes left first meets them.
    """
    nodes: list[Node] = []
    links: list[list[int]] = []
    leaves: list[float] = []
    first_node, first_leaf = [0], [0]
    for root in roots:
        stack: list[tuple[Any, int, int]] = [(root, -1, 0)]
        while stack:
            item, parent, side = stack.pop()
            found = describe(item)
            if found.children is None:
                own = ~len(leaves)
                leaves.append(found.value)
            else:
                own = len(nodes)
                nodes.append(found._replace(children=None))
                links.append([0, 0])
                stack += [(found.children[1], own, 1), (found.children[0], own, 0)]
            if parent >= 0:
                links[parent][side] = own
        first_node.append(len(nodes))
        first_leaf.append(len(leaves))
    return _flat(nodes, links, leaves, (first_node, first_leaf), real)


def _flat(
    nodes: list[Node],
    links: list[list[int]],
    leaves: list[float],
    firsts: tuple[list[int], list[int]],
    real: type[Any],
) -> Trees:
    """Return arrays of what `read_trees` has collected."""
    children = np.array(links, np.int32).reshape(-1, 2)
    sets = [node.categories or () for node in nodes]
    return Trees(
        np.array([node.feature for node in nodes], np.int32),
        np.array([node.threshold for node in nodes], real),
        np.array([node.missing_left for node in nodes], bool),
        children[:, 0],
        children[:, 1],
        np.array(leaves, real),
        np.array(firsts[0], np.int64),
        np.array(firsts[1], np.int64),
        np.array([node.categories is not None for node in nodes], bool),
        np.cumsum([0, *map(len, sets)]),
        np.array([c for found in sets for c in found], np.int64),
    )


def places_of_leaves(trees: Trees) -> np.ndarray:
    """Return the place of each leaf in its tree, in the order in which a walk that goes left first meets them."""
    places = np.zeros(trees.leaf_value.size, np.int64)
    left, right = trees.left.tolist(), trees.right.tolist()
    for tree in range(trees.n_trees):
        met, stack = 0, [trees.root(tree)]
        while stack:
            node = stack.pop()
            if node < 0:
                places[~node] = met
                met += 1
            else:
                stack += [right[node], left[node]]
    return places


def depth_of(trees: Trees) -> int:
    """Return the largest number of splits on a path."""
    deepest = 0
    left, right = trees.left.tolist(), trees.right.tolist()
    for tree in range(trees.n_trees):
        stack = [(trees.root(tree), 0)]
        while stack:
            node, depth = stack.pop()
            if node < 0:
                deepest = max(deepest, depth)
            else:
                stack += [(left[node], depth + 1), (right[node], depth + 1)]
    return deepest


def check_depth(trees: Trees) -> None:
    """Raise if trees are too deep for formats that nest them."""
    depth = depth_of(trees)
    if depth > _DEEPEST:
        raise checks.InputError(
            f"a tree has {depth} splits on a path, and readers of nested JSON stop at 1,000 levels, which is "
            f"{_DEEPEST} splits here; train with max_depth={_DEEPEST} or less, or export to onnx, c or json."
        )


def nested(
    trees: Trees,
    tree: int,
    opening: Callable[[int], str],
    leaf: Callable[[int], str],
    between: str,
    closing: str,
) -> Iterator[str]:
    """Yield the text of a tree whose children are nested in their parents, without a limit on its depth.

    Parameters
    ----------
    trees, tree : Trees, int
        The trees, and the number of the one to write.
    opening : callable
        Returns what comes before the left child of a node.
    leaf : callable
        Returns the text of a leaf.
    between, closing : str
        What comes between the two children, and after the right one.

    Yields
    ------
    str
        Pieces of the text, in order.
    """
    stack: list[int | str] = [trees.root(tree)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif item < 0:
            yield leaf(~item)
        else:
            yield opening(item)
            stack += [closing, int(trees.right[item]), between, int(trees.left[item])]
