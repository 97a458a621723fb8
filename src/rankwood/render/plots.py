"""Figures of panels of marks, in one style whatever the user's matplotlib settings are. Nothing else draws.

Marks are in `rankwood.render.marks`; `draw_panels` makes a figure that belongs to no window of panels that show them.
"""

import io
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.atomic import replacing
from rankwood._util.text import printable, shortened
from rankwood.render.marks import HeatMap, Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Extensions of the files that `save` writes.
FORMATS = (".pdf", ".png", ".svg")
_LONGEST = 40  # characters of a name in a picture
_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",  # text stays text: files are small and can be searched
    "text.parse_math": False,  # a name may have dollar signs
    "svg.hashsalt": "rankwood",  # the same figure gives the same file
}


@dataclass(frozen=True)
class PlotAxis:
    """An axis of a panel: its label, its ends, its ticks and how numbers are written."""

    label: str = ""
    ends: tuple[float | None, float | None] | None = None
    #: Texts by place.
    ticks: Mapping[float, str] | None = None
    log: bool = False
    format: str | None = None
    percent: bool = False  # as percent, with a decimal if all values are small
    whole: bool = False  # ticks at whole numbers only
    bare: bool = False  # no tick marks
    pad: float | None = None  # points between ticks and their texts
    margin: float | None = None  # space beyond the data, as a share of them
    tick_size: float | None = None


@dataclass(frozen=True)
class Panel:
    """Axes with marks; `legend` has matplotlib's options, None is no legend."""

    marks: Sequence[Mark]
    x: PlotAxis = field(default_factory=PlotAxis)
    y: PlotAxis = field(default_factory=PlotAxis)
    title: str = ""
    title_look: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({"loc": "left"}))
    legend: Mapping[str, Any] | None = None
    square: bool = False  # a unit is as long on both axes
    hidden: bool = False  # no axes around the marks


LEGEND: Mapping[str, Any] = MappingProxyType({"frameon": False, "fontsize": 9})


@dataclass(frozen=True)
class PanelGrid:
    """How panels make a figure: inches of one of them, panels in a row, shared axes, one legend, one colour bar."""

    width: float
    height: float
    columns: int = 1
    share: tuple[str, ...] = ()  # "x", "y"
    legend: Mapping[str, Any] | None = None
    colour_bar: str = ""  # its label
    title: str = ""


def draw_panels(panels: Sequence[Panel], layout: PanelGrid) -> "Figure":
    """Return a figure with panels, row by row."""
    columns = min(max(len(panels), 1), layout.columns)
    rows = max(-(-len(panels) // columns), 1)
    with style():
        shared = {f"share{axis}": True for axis in layout.share}
        figure, axes = _new_figure(columns, rows, layout, shared)
        meshes = [
            mesh for ax, panel in zip(axes, panels, strict=False) for mesh in fill_axes(ax, panel)
        ]
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        drawn = axes[: len(panels)]
        if layout.legend is not None:
            _common_legend(figure, drawn, layout.legend)
        if layout.colour_bar:
            on_maps = [
                ax
                for ax, panel in zip(axes, panels, strict=False)
                if any(isinstance(mark, HeatMap) for mark in panel.marks)
            ]
            bar = figure.colorbar(meshes[-1], ax=on_maps, shrink=0.8, pad=0.02)
            bar.set_label(layout.colour_bar)
            bar.outline.set_visible(False)
        if layout.title:
            figure.suptitle(layout.title, fontsize=10)
    return figure


def fill_axes(ax: "Axes", panel: Panel) -> list[Any]:
    """Draw a panel into axes; return what a colour bar can explain."""
    results = [mark.draw(ax) for mark in panel.marks]
    if panel.title:
        ax.set_title(panel.title, **panel.title_look)
    if panel.square:
        ax.set_aspect("equal")
    _set_axis(ax, "x", panel.x)
    _set_axis(ax, "y", panel.y)
    if panel.legend is not None:
        ax.legend(**panel.legend)
    if panel.hidden:
        ax.set_axis_off()
    return [mesh for mesh in results if mesh is not None]


def _set_axis(ax: "Axes", name: str, scale: PlotAxis) -> None:
    """Apply what a panel says about one of its axes."""
    axis = getattr(ax, f"{name}axis")

    def change(what: str, *values: Any, **options: Any) -> None:
        getattr(ax, f"set_{name}{what}")(*values, **options)

    if scale.log:
        change("scale", "log")
        _set_log_ticks(axis)
    if scale.margin is not None:
        ax.margins(**{name: scale.margin})  # type: ignore[arg-type]
    if scale.ticks is not None:
        size = {} if scale.tick_size is None else {"fontsize": scale.tick_size}
        change("ticks", list(scale.ticks), list(scale.ticks.values()), **size)
        if scale.log:
            ax.minorticks_off()
    if scale.ends is not None:
        change("lim", *scale.ends)
    if scale.whole:
        ax.locator_params(axis=name, integer=True)  # type: ignore[arg-type]
    if scale.format is not None:
        axis.set_major_formatter(scale.format)
    if scale.percent:
        _, high = axis.get_view_interval() if name == "x" else ax.get_ylim()
        axis.set_major_formatter("{x:.0%}" if high > 0.05 else "{x:.1%}")
    if scale.bare:
        ax.tick_params(axis=name, length=0)  # type: ignore[arg-type]
    if scale.pad is not None:
        ax.tick_params(axis=name, pad=scale.pad)  # type: ignore[arg-type]
    if scale.label:
        change("label", scale.label)


def _set_log_ticks(axis: Any) -> None:
    """Write numbers at powers of 10, and at 2 and 5 times them if there are few powers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_data_interval()
    few = 0 < low < high < 100 * low
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _common_legend(figure: "Figure", axes: "Sequence[Axes]", options: Mapping[str, Any]) -> None:
    """Draw one legend of all names outside the panels, if there are several names."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(name), handle)
    if len(handles) > 1 or options.get("ncols"):
        known = {"ncols": legend_columns(list(handles), figure.get_figwidth()), "frameon": False}
        figure.legend(list(handles.values()), list(handles), **{**known, **options})


def legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of names fit into a figure of a width in inches."""
    longest = max(map(len, names), default=1)
    return int(np.clip(width / (0.075 * longest + 0.55), 1, 5))


def bar_names(names: Sequence[str], longest: int = _LONGEST) -> PlotAxis:
    """Return the vertical axis of bars that lie one below the other, the first on top."""
    count = max(len(names), 1)
    texts = {float(i): short(name, longest) for i, name in enumerate(names)}
    return PlotAxis(ends=(count - 0.4, -0.6), ticks=texts, bare=True)


def short(text: str, longest: int = _LONGEST) -> str:
    """Return a text that fits into a picture, on one line."""
    return shortened(" ".join(printable(text).split()), longest)


def wrapped(text: str, longest: int = 34) -> str:
    """Return the label of an axis on as many lines as it needs."""
    return textwrap.fill(text, longest)


def save(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : path
        The file to write; its extension chooses the format.

    Raises
    ------
    InputError
        If the extension is not .pdf, .png or .svg.

    Examples
    --------
    >>> from rankwood.report import plots
    >>> plots.save(plots.overview("lambdagap-x@3"), "weights.svg")
    """
    extension = Path(path).suffix.lower()
    if extension not in FORMATS:
        raise checks.InputError(
            f"{os.fspath(path)} can't be written: expected a name that ends in {', '.join(FORMATS)}."
        )
    with replacing(path) as file:
        file.write(picture(figure, extension[1:]))


def picture(figure: "Figure", ending: str, **options: Any) -> bytes:
    """Return a figure as a file of a format; the same figure gives the same bytes."""
    # None removes the date and matplotlib's version, which would make equal figures different files.
    without = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    metadata: dict[str, Any] = without.get(ending, {"CreationDate": None, "Producer": None})
    out = io.BytesIO()
    with style():
        figure.savefig(out, format=ending, metadata=metadata, **options)
    return out.getvalue()


@contextmanager
def style() -> Iterator[None]:
    """Use our own settings on top of matplotlib's defaults instead of the user's."""
    try:
        import matplotlib
    except ImportError:
        raise checks.InputError(
            "pictures need matplotlib, which isn't installed; type: pip install 'rankwood[plots]'"
        ) from None
    defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
    defaults.pop("date.epoch", None)
    with matplotlib.rc_context({**defaults, **_STYLE}):
        yield


def check_installed() -> None:
    """Raise if matplotlib isn't installed: better before long work than after it."""
    with style():
        pass


def window_axes(width: float, height: float) -> "Axes":
    """Return new axes in the user's own style, which a notebook shows by itself."""
    check_installed()
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def _new_figure(
    columns: int, rows: int, layout: PanelGrid, shared: dict[str, bool]
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with a grid of axes, row by row."""
    from matplotlib.figure import Figure

    size = (layout.width * columns + 0.6, layout.height * rows)
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False, **shared)))  # type: ignore[call-overload]
