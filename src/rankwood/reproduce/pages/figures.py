"""Figures of items: panels of lines, and grouped bars."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwood.render import plots
from rankwood.render.curve import Curve
from rankwood.render.marks import Bars, Line, colour, look
from rankwood.render.plots import Panel, PanelGrid, PlotAxis, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 3200  # of all lines of a figure together, so that an SVG file stays small
_LAYOUT = PanelGrid(4.3, 3.2, 3, legend={"loc": "outside lower center", "fontsize": 8})


class CurvePanel(NamedTuple):
    """A title, curves, and the names of those that are levels for comparison."""

    title: str
    curves: Sequence[Curve]
    levels: frozenset[str] = frozenset()


class FigureAxis(NamedTuple):
    """The labels of both axes, and how lines are drawn along x."""

    x: str
    y: str
    log: bool = False
    #: Names of x values by their places.
    ticks: Mapping[float, str] = MappingProxyType({})
    markers: bool = False
    whole: bool = False


def lines_figure(panels: Sequence[CurvePanel], axis: FigureAxis) -> "Figure":
    """Draw panels of lines; a name has the same colour and dashes in all of them, and one legend is below."""
    names = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    columns = min(len(panels), _LAYOUT.columns)
    legend_rows = -(-len(names) // plots.legend_columns(names, 4.3 * columns + 0.6))
    height = _LAYOUT.height + 0.2 * legend_rows / -(-len(panels) // columns)
    x = PlotAxis(axis.x, ticks=axis.ticks or None, log=axis.log, whole=axis.whole)
    y = PlotAxis(wrapped(axis.y))
    drawn = [Panel(_lines(panel, names, axis.markers), x, y, panel.title) for panel in panels]
    return plots.draw_panels(drawn, replace(_LAYOUT, height=height))


def _lines(panel: CurvePanel, names: list[str], markers: bool) -> list[Line]:
    lines = []
    for curve in panel.curves:
        line = Line(curve, *look(names.index(curve.label)), width=1.3)
        if curve.label in panel.levels:
            line = replace(line, alpha=0.7)
        elif markers or curve.y.size == 1:  # a line needs two points
            line = replace(line, marker="o", size=3.5)
        lines.append(line)
    return lines


def thinned(length: int, lines: int, first: int = 0) -> np.ndarray:
    """Return which of many points to draw: evenly spread, the last one included."""
    points = int(np.clip(_POINTS // max(lines, 1), 25, 250))
    return np.unique(np.linspace(min(first, length - 1), length - 1, points).astype(np.int64))


def bars_figure(
    titles: Sequence[str],
    names: Sequence[str],
    groups: Sequence[str],
    heights: Sequence[np.ndarray],
    label: str,
) -> "Figure":
    """Draw a panel for each title: in each group a bar for each name, `heights[panel][name, group]`."""
    width = 0.8 / max(len(names), 1)
    x = PlotAxis(ticks={float(i): group for i, group in enumerate(groups)})
    panels = []
    for title, values in zip(titles, heights, strict=True):
        bars = [
            Bars(
                np.arange(len(groups)) + (i - (len(names) - 1) / 2) * width,
                values[i],
                width * 0.92,
                colour(i),
                label=name,
            )
            for i, name in enumerate(names)
        ]
        panels.append(Panel(bars, x, PlotAxis(wrapped(label), ends=_visible(values)), title))
    return plots.draw_panels(panels, replace(_LAYOUT, width=4.6, height=3.5))


def _visible(values: np.ndarray) -> tuple[float, float] | None:
    """Return ends near the bars if all of them are high, so that differences can be seen."""
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() > 0 and finite.max() < 2 * finite.min():
        low, high = float(finite.min()), float(finite.max())
        return low - 0.5 * (high - low or high), high + 0.1 * (high - low or high)
    return None
