"""A picture of worked examples: documents from the first rank down, and how far each is pushed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankwood.report import _drawing
from rankwood.reproduce.kinds._examples import Worked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_UP, _DOWN, _WRONG = "#0072B2", "#999999", "#D55E00"


def draw(solved: Sequence[Worked]) -> "Figure":
    """Draw a panel for each example.

    Bars to the right push a document up. Those of an incoherent pair are orange, documents that meet every document
    of another label have a dot if the example is about them, and a line stands below the cutoff.
    """
    with _drawing.style():
        columns = min(len(solved), 2 if len(solved) % 2 == 0 else 3)
        longest = max(len(one.ranking) for one in solved)
        height = 1.1 + 0.28 * longest
        figure, axes = _drawing.new_figure(columns, -(-len(solved) // columns), 4.0, height)
        for ax, one in zip(axes, solved, strict=False):
            _draw_example(ax, one)
        for ax in axes[len(solved) :]:
            ax.set_axis_off()
    return figure


def _draw_example(ax: "Axes", one: Worked) -> None:
    """Draw one example."""
    example = one.example
    wrong = {row for pair in one.incoherent for row in pair}
    reach = max(abs(one.pushes).max(), 1e-12)
    for place, row in enumerate(one.ranking):
        push = float(one.pushes[row])
        colour = _WRONG if row in wrong else _UP if push > 0 else _DOWN
        ax.barh(place, push, color=colour, height=0.62)
        if example.full and row in one.full:
            ax.plot(-1.3 * reach, place, marker="o", color="black", markersize=5, clip_on=False)
    if one.k is not None and one.k < len(one.ranking):
        ax.axhline(one.k - 0.5, color="#666666", linewidth=0.8, linestyle="--")
    names = [f"{example.documents[row]}, label {example.labels[row]:g}" for row in one.ranking]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(-1.2 * reach, 1.2 * reach)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.tick_params(axis="y", length=0, pad=14 if example.full else 4)
    ax.set_title(example.name, loc="left")
    ax.set_xlabel("push (to the right: up)")
