"""Pictures of a study."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core import checks
from rankwood.report import _drawing
from rankwood.tuning.dimensions import Choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwood.tuning.result import Tuning

_COLUMNS = 3
#: Colour, marker and label of each state; failed trials have no value to draw.
_LOOK = {
    "complete": ("#0072B2", "o", "complete"),
    "pruned": ("#888888", "x", "stopped early, best value so far"),
}
_BEST = "#D55E00"


def history(tuning: "Tuning") -> "Figure":
    """Draw the value of each trial, and the best so far."""
    table = _drawn(tuning)
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, 5.6, 3.4)
        _scatter(ax, table, table["number"])
        complete = table[table["state"] == "complete"]
        if complete.size:
            running = np.maximum if tuning.higher_is_better else np.minimum
            best = running.accumulate(complete["value"])
            numbers = np.append(complete["number"], tuning.records[-1].number)
            ax.step(numbers, np.append(best, best[-1]), where="post", color=_BEST, label="best")
        ax.set_xlabel("trial")
        ax.locator_params(axis="x", integer=True)
        ax.set_ylabel(_value_label(tuning))
        ax.legend(frameon=False, fontsize=9)
    return figure


def importance(tuning: "Tuning") -> "Figure":
    """Draw the share of the variance of the metric that each parameter explains."""
    shares = tuning.importance()
    if not shares:
        raise checks.InputError(
            "there are too few complete trials with different values to tell what matters."
        )
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, 5.6, 0.8 + 0.32 * len(shares))
        ax.barh(list(shares)[::-1], list(shares.values())[::-1], color=_LOOK["complete"][0])
        ax.set_xlim(0, 1)
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.set_xlabel(f"share of the variance of {tuning.metric} (fANOVA)")
    return figure


def slices(tuning: "Tuning") -> "Figure":
    """Draw the value of each trial against each parameter."""
    table, free = _drawn(tuning), tuning.space.free
    if not free:
        raise checks.InputError("no parameter of the space has more than one value.")
    columns = min(_COLUMNS, len(free))
    with _drawing.style():
        figure, axes = _drawing.new_figure(columns, -(-len(free) // columns), 3.1, 2.7, sharey=True)
        for ax, (name, dimension) in zip(axes, free.items(), strict=False):
            _slice(ax, table, name, dimension)
        for ax in axes[len(free) :]:
            ax.set_axis_off()
        for ax in axes[::columns]:
            ax.set_ylabel(_value_label(tuning))
        marks, labels = axes[0].get_legend_handles_labels()
        figure.legend(marks, labels, loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    return figure


def single_slices(tuning: "Tuning") -> "dict[str, Figure]":
    """Draw what `slices` draws, a figure for each parameter: pages place them side by side where there is space."""
    table, free = _drawn(tuning), tuning.space.free
    low, high = float(table["value"].min()), float(table["value"].max())
    edge = 0.06 * (high - low) or 0.01
    made = {}
    with _drawing.style():
        for name, dimension in free.items():
            figure, (ax,) = _drawing.new_figure(1, 1, 3.1, 2.7)
            _slice(ax, table, name, dimension)
            ax.set_ylim(low - edge, high + edge)
            ax.set_ylabel(_value_label(tuning))
            made[name] = figure
    return made


def _slice(ax: "Axes", table: np.ndarray, name: str, dimension: Any) -> None:
    """Draw values against one parameter; choices are places on the axis."""
    if isinstance(dimension, Choice):
        texts = [str(value) for value in dimension.values]
        places = np.array([texts.index(str(value)) for value in table[name].tolist()])
        ax.set_xticks(range(len(texts)), texts)
        ax.set_xlim(-0.5, len(texts) - 0.5)
    else:
        places, ends = table[name], (dimension.low, dimension.high)
        if dimension.log:
            ax.set_xscale("log")
            middle = float(np.sqrt(ends[0] * ends[1]))
            ax.set_xticks(
                [ends[0], middle, ends[1]], [f"{x:.3g}" for x in (ends[0], middle, ends[1])]
            )
            ax.minorticks_off()
        ax.margins(x=0.06)
        ax.update_datalim([(end, table["value"].mean()) for end in ends])
        ax.autoscale_view()
    _scatter(ax, table, places)
    ax.set_xlabel(name)


def _scatter(ax: "Axes", table: np.ndarray, places: np.ndarray) -> None:
    """Draw the values of trials, by state."""
    for state, (colour, marker, label) in _LOOK.items():
        chosen = table["state"] == state
        if chosen.any():
            at, values = places[chosen], table["value"][chosen]
            ax.scatter(at, values, s=22, c=colour, marker=marker, label=label)


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
