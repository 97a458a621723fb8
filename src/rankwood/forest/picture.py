"""A tree as a picture: the root on top, missing values named where they go."""

from typing import TYPE_CHECKING, Any, NamedTuple

from rankwood._core import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankwood.forest.record import Forest

_BOX = {"boxstyle": "round,pad=0.35", "facecolor": "#e8f1f8", "edgecolor": "#0072B2"}
_LEAF = {"boxstyle": "round,pad=0.35", "facecolor": "#fdf1e3", "edgecolor": "#E69F00"}
_MOST_CATEGORIES = 4


class Placed(NamedTuple):
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
    boxes = placed(forest, number, levels)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise checks.InputError(
            "pictures need matplotlib, which isn't installed; type: pip install 'rankwood[plots]'"
        ) from None
    deepest = max(box.level for box in boxes)
    if ax is None:
        widest = max(sum(box.level == level for box in boxes) for level in range(deepest + 1))
        _, ax = plt.subplots(
            figsize=(max(4.0, 1.5 * widest), 1.2 * (deepest + 1) + 0.5), layout="constrained"
        )
    for box in boxes:
        if box.parent is not None:
            ax.plot([box.parent[0], box.x], [-box.parent[1], -box.level], color="#888888", zorder=1)
        ax.text(
            *(box.x, -box.level, box.text),
            ha="center",
            va="center",
            fontsize=8,
            bbox=_LEAF if box.is_leaf else _BOX,
            zorder=2,
            parse_math=False,
        )
    ax.set_title(f"tree {number} of {forest.n_trees}")
    ax.set_xlim(-0.05, 1.05)
    ax.set_ylim(-deepest - 0.6, 0.6)
    ax.set_axis_off()
    return ax


def placed(forest: "Forest", tree: int, levels: int | None) -> list[Placed]:
    """Return the boxes of a tree's first levels; the width is 1, and each subtree has half of its parent's."""
    if forest.first_node[tree] == forest.first_node[tree + 1]:
        return [Placed(_leaf_text(forest, int(forest.first_leaf[tree])), 0.5, 0, None, True)]
    found: list[Placed] = []
    stack: list[tuple[int, float, float, int, tuple[float, int] | None]] = [
        (int(forest.first_node[tree]), 0.0, 1.0, 0, None)
    ]
    while stack:
        node, low, high, level, parent = stack.pop()
        x = (low + high) / 2
        if node < 0:
            found.append(Placed(_leaf_text(forest, ~node), x, level, parent, True))
        elif levels is not None and level >= levels:
            found.append(Placed("...", x, level, parent, False))
        else:
            found.append(Placed(_node_text(forest, node), x, level, parent, False))
            stack.append((int(forest.right[node]), x, high, level + 1, (x, level)))
            stack.append((int(forest.left[node]), low, x, level + 1, (x, level)))
    return found


def _node_text(forest: "Forest", node: int) -> str:
    """Return the question that a node asks; yes is left."""
    name = forest.names[forest.feature[node]]
    side = "left" if forest.missing_left[node] else "right"
    if not forest.categorical[node]:
        return f"{name} ≤ {forest.threshold[node]:.4g}\nmissing: {side}"
    own = forest.category[forest.category_first[node] : forest.category_first[node + 1]].tolist()
    shown = ", ".join(map(str, own[:_MOST_CATEGORIES])) + ", …" * (len(own) > _MOST_CATEGORIES)
    return f"{name} in {{{shown}}}\nmissing: {side}"


def _leaf_text(forest: "Forest", leaf: int) -> str:
    return f"{forest.leaf_value[leaf]:.4g}"
