"""Figures of items: panels of lines, and grouped bars, in the style of all our pictures."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood.report import _drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = ("-", "--", ":", "-.")
_COLUMNS = 3  # panels in a row
_LABEL = 34  # letters in a line of the label of y
_POINTS = 3200  # of all lines of a figure together, so that an SVG file stays small


class Line(NamedTuple):
    """A line of a panel; an array `x` and its values, and whether the line is a level for comparison."""

    name: str
    x: np.ndarray
    y: np.ndarray
    level: bool = False


class Panel(NamedTuple):
    """Axes with a title and lines."""

    title: str
    lines: Sequence[Line]


class FigureAxis(NamedTuple):
    """The labels of both axes, and how lines are drawn along x."""

    x: str
    y: str
    log: bool = False
    #: Names of x values by their places.
    ticks: Mapping[float, str] = MappingProxyType({})
    markers: bool = False


def lines_figure(panels: Sequence[Panel], axis: FigureAxis) -> "Figure":
    """Draw panels of lines; a name has the same colour and dashes in all of them, and one legend is below."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    looks = dict(zip(names, _looks(len(names)), strict=True))
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    with _drawing.style():
        width = 4.3 * columns + 0.6
        legend_height = 0.2 * -(-len(names) // _legend_columns(names, width))
        figure, axes = _drawing.new_figure(columns, rows, 4.3, 3.2 + legend_height / rows)
        for ax, panel in zip(axes, panels, strict=False):
            _draw_panel(ax, panel, looks, axis)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        _legend(figure, axes[: len(panels)])
    return figure


def _looks(count: int) -> list[tuple[str, str]]:
    """Return colours and dashes, all different as long as possible."""
    colours = _drawing.COLOURS
    dashes = [dash for dash in _DASHES for _ in colours]
    return [
        look
        for look, _ in zip(
            cycle(zip(colours * len(_DASHES), dashes, strict=True)), range(count), strict=False
        )
    ]


def _draw_panel(
    ax: "Axes", panel: Panel, looks: dict[str, tuple[str, str]], axis: FigureAxis
) -> None:
    for line in panel.lines:
        colour, dash = looks[line.name]
        style: dict[str, Any] = {"color": colour, "linestyle": dash, "linewidth": 1.3}
        if line.level:
            style["alpha"] = 0.7
        elif axis.markers:
            style |= {"marker": "o", "markersize": 3.5}
        ax.plot(line.x, line.y, label=line.name, **style)
    if axis.log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
    if axis.ticks:
        ax.set_xticks(list(axis.ticks), list(axis.ticks.values()))
    ax.set_title(panel.title, loc="left")
    ax.set_xlabel(axis.x)
    ax.set_ylabel(textwrap.fill(axis.y, _LABEL))


def _legend(figure: "Figure", axes: "Sequence[Axes]") -> None:
    """Draw one legend of all names below the panels, if there are several."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(name), handle)
    if len(handles) > 1:
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=_legend_columns(list(handles), figure.get_figwidth()),
            frameon=False,
            fontsize=8,
        )


def _legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of names fit into a figure that is so many inches wide."""
    longest = max(map(len, names), default=1)
    return int(np.clip(width / (0.075 * longest + 0.55), 1, 5))


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
    columns = min(len(titles), _COLUMNS)
    with _drawing.style():
        figure, axes = _drawing.new_figure(columns, -(-len(titles) // columns), 4.6, 3.5)
        for ax, title, values in zip(axes, titles, heights, strict=False):
            width = 0.8 / max(len(names), 1)
            for i, (name, (colour, _)) in enumerate(zip(names, _looks(len(names)), strict=True)):
                place = np.arange(len(groups)) + (i - (len(names) - 1) / 2) * width
                ax.bar(place, values[i], width * 0.92, color=colour, label=name)
            ax.set_xticks(range(len(groups)), list(groups))
            ax.set_title(title, loc="left")
            ax.set_ylabel(textwrap.fill(label, _LABEL))
            _cut(ax, values)
        for ax in axes[len(titles) :]:
            ax.set_axis_off()
        _legend(figure, axes[: len(titles)])
    return figure


def _cut(ax: "Axes", values: np.ndarray) -> None:
    """Begin the axis near the lowest bar if all bars are high, so that differences can be seen."""
    known = values[np.isfinite(values)]
    if known.size and known.min() > 0 and known.max() < 2 * known.min():
        low, high = known.min(), known.max()
        ax.set_ylim(low - 0.5 * (high - low or high), high + 0.1 * (high - low or high))
