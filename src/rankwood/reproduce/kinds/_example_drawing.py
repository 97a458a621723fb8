"""A picture of worked examples: documents from the first rank down, and how far each is pushed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwood.render import plots
from rankwood.render.marks import COLOURS, Bars, Mark, Points, Rule
from rankwood.render.plots import Panel, PanelGrid, PlotAxis
from rankwood.reproduce.kinds._examples import Worked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UP, _DOWN, _WRONG = COLOURS[0], "#999999", COLOURS[1]


def draw(solved: Sequence[Worked]) -> "Figure":
    """Draw a panel for each example.

    Bars to the right push a document up. Those of an incoherent pair are orange, documents that meet every document
    of another label have a dot if the example is about them, and a line stands below the cutoff.
    """
    columns = 2 if len(solved) % 2 == 0 else 3
    height = 1.1 + 0.28 * max(len(worked.ranking) for worked in solved)
    return plots.draw_panels([_panel(worked) for worked in solved], PanelGrid(4.0, height, columns))


def _panel(worked: Worked) -> Panel:
    """Return the panel of one example."""
    example, ranking = worked.example, worked.ranking
    wrong = {row for pair in worked.incoherent for row in pair}
    reach = max(abs(worked.pushes).max(), 1e-12)
    pushes = [float(worked.pushes[row]) for row in ranking]
    colours = [
        _WRONG if row in wrong else _UP if push > 0 else _DOWN
        for row, push in zip(ranking, pushes, strict=True)
    ]
    marks: list[Mark] = [Bars(np.arange(len(ranking)), pushes, 0.62, colours, sideways=True)]
    full = [place for place, row in enumerate(ranking) if example.full and row in worked.full]
    if full:
        x = np.full(len(full), -1.3 * reach)
        marks.append(Points(x, np.array(full), "black", 25, clipped=False))
    if worked.k is not None and worked.k < len(ranking):
        marks.append(Rule(worked.k - 0.5, colour="#666666", dash="--"))
    marks.append(Rule(0.0, upright=True, colour="black"))
    names = [f"{example.documents[row]}, label {example.labels[row]:g}" for row in ranking]
    y = PlotAxis(
        ends=(len(names) - 0.4, -0.6),
        ticks={float(i): name for i, name in enumerate(names)},
        bare=True,
        pad=14 if example.full else 4,
    )
    x_scale = PlotAxis("push (to the right: up)", ends=(-1.2 * reach, 1.2 * reach))
    return Panel(marks, x_scale, y, example.name)
