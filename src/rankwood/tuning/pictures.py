"""Pictures of a study."""

from typing import TYPE_CHECKING

import numpy as np

from rankwood._util import checks
from rankwood.render import plots as _plots
from rankwood.render.curve import Curve
from rankwood.render.marks import COLOURS, DIM, Bars, Line, Mark, Points, Reach
from rankwood.render.plots import LEGEND, Panel, PanelGrid, PlotAxis
from rankwood.tuning.spaces.dimensions import Choice, Dimension

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankwood.tuning.result import Tuning

#: Colour, marker and label of each state; failed trials have no value to draw.
_LOOK = {
    "complete": (COLOURS[0], "o", "complete"),
    "pruned": (DIM, "x", "stopped early, best value so far"),
}
_SLICES = PanelGrid(
    3.1, 2.7, 3, ("y",), legend={"loc": "outside upper left", "ncols": 2, "fontsize": 9}
)


def history(tuning: "Tuning") -> "Figure":
    """Draw the value of each trial, and the best so far."""
    table = _drawn(tuning)
    marks = _points(table, table["number"])
    complete = table[table["state"] == "complete"]
    if complete.size:
        running = np.maximum if tuning.higher_is_better else np.minimum
        best = running.accumulate(complete["value"])
        numbers = np.append(complete["number"], tuning.records[-1].number)
        curve = Curve("best", numbers, np.append(best, best[-1]))
        marks.append(Line(curve, COLOURS[1], width=1.5, step=True))
    x, y = PlotAxis("trial", whole=True), PlotAxis(_value_label(tuning))
    return _plots.draw_panels([Panel(marks, x, y, legend=LEGEND)], PanelGrid(5.6, 3.4))


def importance(tuning: "Tuning") -> "Figure":
    """Draw the share of the variance of the metric that each parameter explains."""
    shares = tuning.importance()
    if not shares:
        raise checks.InputError(
            "there are too few complete trials with different values to tell what matters."
        )
    bars = Bars(list(shares)[::-1], list(shares.values())[::-1], 0.8, sideways=True)
    label = f"share of the variance of {tuning.metric} (fANOVA)"
    panel = Panel([bars], PlotAxis(label, ends=(0, 1), format="{x:.0%}"))
    return _plots.draw_panels([panel], PanelGrid(5.6, 0.8 + 0.32 * len(shares)))


def slices(tuning: "Tuning") -> "Figure":
    """Draw the value of each trial against each parameter."""
    table, free = _drawn(tuning), tuning.space.free
    if not free:
        raise checks.InputError("no parameter of the space has more than one value.")
    columns = min(_SLICES.columns, len(free))
    panels = [
        _slice(table, name, dimension, PlotAxis(_value_label(tuning) if i % columns == 0 else ""))
        for i, (name, dimension) in enumerate(free.items())
    ]
    return _plots.draw_panels(panels, _SLICES)


def single_slices(tuning: "Tuning") -> "dict[str, Figure]":
    """Draw what `slices` draws, a figure for each parameter: pages place them side by side where there is space."""
    table = _drawn(tuning)
    low, high = float(table["value"].min()), float(table["value"].max())
    edge = 0.06 * (high - low) or 0.01
    y = PlotAxis(_value_label(tuning), ends=(low - edge, high + edge))
    return {
        name: _plots.draw_panels([_slice(table, name, dimension, y)], PanelGrid(3.1, 2.7))
        for name, dimension in tuning.space.free.items()
    }


def _slice(table: np.ndarray, name: str, dimension: Dimension, y: PlotAxis) -> Panel:
    """Return a panel of values against one parameter; choices are places on the axis."""
    if isinstance(dimension, Choice):
        texts = [str(value) for value in dimension.values]
        places = np.array([texts.index(str(value)) for value in table[name].tolist()])
        names = {float(i): text for i, text in enumerate(texts)}
        return Panel(_points(table, places), PlotAxis(name, (-0.5, len(texts) - 0.5), names), y)
    ends = float(dimension.low), float(dimension.high)
    ticks = None
    if dimension.log:
        ticks = {x: f"{x:.3g}" for x in (ends[0], float(np.sqrt(ends[0] * ends[1])), ends[1])}
    mean = float(table["value"].mean())
    marks: list[Mark] = [Reach([(end, mean) for end in ends]), *_points(table, table[name])]
    return Panel(marks, PlotAxis(name, ticks=ticks, log=dimension.log, margin=0.06), y)


def _points(table: np.ndarray, places: np.ndarray) -> list[Mark]:
    """Return the values of trials, by state."""
    marks: list[Mark] = []
    for state, (colour, marker, label) in _LOOK.items():
        chosen = table["state"] == state
        if chosen.any():
            at, values = places[chosen], table["value"][chosen]
            marks.append(Points(at, values, colour, 22, None, marker, label, edges=True))
    return marks


def _drawn(tuning: "Tuning") -> np.ndarray:
    """Return the trials that have a value; raise if none has."""
    table = tuning.trials
    table = table[np.isfinite(table["value"])]
    if not table.size:
        raise checks.InputError("no trial has a value, so there is nothing to draw.")
    return table


def _value_label(tuning: "Tuning") -> str:
    """Return the name of the metric, and on what it was measured."""
    return f"{tuning.metric}, " + ("mean over folds" if tuning.folds else "validation")
