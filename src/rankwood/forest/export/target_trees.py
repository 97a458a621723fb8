"""Trees as a target has them: made from a forest to be written, read back from a file, and walked."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest import Forest
from rankwood.forest.export.cuts import Cuts

#: Nested objects that readers of JSON accept; a split takes up to two levels.
_DEEPEST = 450


def trees_of(forest: Forest, cuts: Cuts) -> TreeArrays:
    """Return the trees of a forest with thresholds of a target; nodes that are swapped exchange their children."""
    swapped = cuts.swapped & ~forest.categorical
    return forest.arrays._replace(
        threshold=cuts.threshold,
        missing_left=forest.missing_left ^ swapped,
        left=np.where(swapped, forest.right, forest.left),
        right=np.where(swapped, forest.left, forest.right),
    )


class FileNode(NamedTuple):
    """A node as a reader finds it: a leaf has a value, a split has the rest."""

    value: float = 0.0
    feature: int = -1
    threshold: float = 0.0
    missing_left: bool = False
    categories: tuple[int, ...] | None = None
    #: Left and right child, as the reader has them.
    children: tuple[Any, Any] | None = None


def read_trees(
    roots: Iterable[Any], describe: Callable[[Any], FileNode], real: type[Any] = np.float64
) -> TreeArrays:
    """Return flat trees in the order of a file, with thresholds and leaves of the target's width.

    Parameters
    ----------
    roots : iterable
        The root of each tree, in whatever form the file has.
    describe : callable
        Makes a `FileNode` of such an object.
    real : type
        The width in which the target keeps thresholds and leaves.

    Returns
    -------
    TreeArrays
        Nodes and leaves in the order in which a walk that goes left first meets them.
    """
    nodes: list[FileNode] = []
    links: list[list[int]] = []
    leaves: list[float] = []
    first_node, first_leaf = [0], [0]
    for root in roots:
        stack: list[tuple[Any, int, int]] = [(root, -1, 0)]
        while stack:
            item, parent, side = stack.pop()
            node = describe(item)
            if node.children is None:
                number = ~len(leaves)
                leaves.append(node.value)
            else:
                number = len(nodes)
                nodes.append(node._replace(children=None))
                links.append([0, 0])
                stack += [(node.children[1], number, 1), (node.children[0], number, 0)]
            if parent >= 0:
                links[parent][side] = number
        first_node.append(len(nodes))
        first_leaf.append(len(leaves))
    return _flat(nodes, links, leaves, (first_node, first_leaf), real)


def _flat(
    nodes: list[FileNode],
    links: list[list[int]],
    leaves: list[float],
    firsts: tuple[list[int], list[int]],
    real: type[Any],
) -> TreeArrays:
    """Return arrays of what `read_trees` has collected."""
    children = np.array(links, np.int32).reshape(-1, 2)
    sets = [node.categories or () for node in nodes]
    return TreeArrays(
        feature=np.array([node.feature for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes], real),
        missing_left=np.array([node.missing_left for node in nodes], bool),
        left=children[:, 0],
        right=children[:, 1],
        leaf_value=np.array(leaves, real),
        first_node=np.array(firsts[0], np.int64),
        first_leaf=np.array(firsts[1], np.int64),
        category_first=np.cumsum([0, *map(len, sets)]),
        category=np.array([category for categories in sets for category in categories], np.int64),
        categorical=np.array([node.categories is not None for node in nodes], bool),
    )


def places_of_leaves(trees: TreeArrays) -> np.ndarray:
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


def depth_of(trees: TreeArrays) -> int:
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


def check_nesting(trees: TreeArrays) -> None:
    """Raise if trees are too deep for formats that nest them."""
    depth = depth_of(trees)
    if depth > _DEEPEST:
        raise checks.InputError(
            f"a tree has {depth} splits on a path, and readers of nested JSON stop at 1,000 levels, which is "
            f"{_DEEPEST} splits here; train with max_depth={_DEEPEST} or less, or export to onnx, c or json."
        )


def nested_text(
    trees: TreeArrays,
    tree: int,
    opening: Callable[[int], str],
    leaf: Callable[[int], str],
    between: str,
    closing: str,
) -> Iterator[str]:
    """Yield the text of a tree whose children are nested in their parents, without a limit on its depth.

    Parameters
    ----------
    trees, tree : TreeArrays, int
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
