"""A tree as a picture: the root on top, missing values named where they go."""

from typing import TYPE_CHECKING, Any, NamedTuple

from rankwood._util import checks
from rankwood.render import plots
from rankwood.render.marks import Mark, Plaque, Strokes
from rankwood.render.plots import Panel, PlotAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankwood.forest.record import Forest

_BOX = ("#e8f1f8", "#0072B2")  # inside, and edge
_LEAF = ("#fdf1e3", "#E69F00")
_MOST_CATEGORIES = 4


class TreeBox(NamedTuple):
    """A box of the picture: its text, its place, and the place of its parent; a root has none."""

    text: str
    x: float
    level: int
    parent: tuple[float, int] | None
    is_leaf: bool


def draw_tree(forest: "Forest", tree: int, depth: int | None, ax: Any) -> "Axes":
    """Draw a tree; see `Forest.plot_tree`."""
    number = checks.at_least(tree, 0, "tree")
    if number >= forest.n_trees:
        raise checks.InputError(
            f"tree must be below {forest.n_trees}, the number of trees, got {number}."
        )
    levels = None if depth is None else checks.at_least(depth, 1, "depth")
    boxes = tree_boxes(forest, number, levels)
    deepest = max(box.level for box in boxes)
    if ax is None:
        widest = max(sum(box.level == level for box in boxes) for level in range(deepest + 1))
        ax = plots.window_axes(max(4.0, 1.5 * widest), 1.2 * (deepest + 1) + 0.5)
    plots.check_installed()
    edges = [
        ((box.parent[0], -box.parent[1]), (box.x, -box.level))
        for box in boxes
        if box.parent is not None
    ]
    marks: list[Mark] = [Strokes(edges, width=1.5, order=1)]
    marks += [
        Plaque(box.text, (box.x, -box.level), *(_LEAF if box.is_leaf else _BOX)) for box in boxes
    ]
    panel = Panel(
        marks,
        PlotAxis(ends=(-0.05, 1.05)),
        PlotAxis(ends=(-deepest - 0.6, 0.6)),
        f"tree {number} of {forest.n_trees}",
        {},
        hidden=True,
    )
    plots.fill_axes(ax, panel)
    return ax


def tree_boxes(forest: "Forest", tree: int, levels: int | None) -> list[TreeBox]:
    """Return the boxes of a tree's first levels; the width is 1, and each subtree has half of its parent's."""
    if forest.first_node[tree] == forest.first_node[tree + 1]:
        return [TreeBox(_leaf_text(forest, int(forest.first_leaf[tree])), 0.5, 0, None, True)]
    boxes: list[TreeBox] = []
    stack: list[tuple[int, float, float, int, tuple[float, int] | None]] = [
        (int(forest.first_node[tree]), 0.0, 1.0, 0, None)
    ]
    while stack:
        node, low, high, level, parent = stack.pop()
        x = (low + high) / 2
        if node < 0:
            boxes.append(TreeBox(_leaf_text(forest, ~node), x, level, parent, True))
        elif levels is not None and level >= levels:
            boxes.append(TreeBox("...", x, level, parent, False))
        else:
            boxes.append(TreeBox(_node_text(forest, node), x, level, parent, False))
            stack.append((int(forest.right[node]), x, high, level + 1, (x, level)))
            stack.append((int(forest.left[node]), low, x, level + 1, (x, level)))
    return boxes


def _node_text(forest: "Forest", node: int) -> str:
    """Return the question that a node asks; yes is left."""
    name = forest.names[forest.feature[node]]
    side = "left" if forest.missing_left[node] else "right"
    if not forest.categorical[node]:
        return f"{name} ≤ {forest.threshold[node]:.4g}\nmissing: {side}"
    categories = [str(category) for category in forest.arrays.categories(node)]
    more = ["…"] if len(categories) > _MOST_CATEGORIES else []
    shown = ", ".join([*categories[:_MOST_CATEGORIES], *more])
    return f"{name} in {{{shown}}}\nmissing: {side}"


def _leaf_text(forest: "Forest", leaf: int) -> str:
    return f"{forest.leaf_value[leaf]:.4g}"
