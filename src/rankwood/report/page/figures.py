"""The pictures of a page, in the colours that the style sheet knows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankwood.render import plots as _plots
from rankwood.render.marks import DIM, Bars, Intervals, Line, Mark, Points, Rule, Strokes, colour
from rankwood.render.plots import Panel, PanelGrid, PlotAxis, bar_names, short
from rankwood.report.model_plots import visible_range
from rankwood.report.page.breakdown import Bin, ByLabel
from rankwood.report.page.outcome import PageOutcome, Pair
from rankwood.report.page.training import Importance, StageCurve
from rankwood.report.plots import SHARES, TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 2000  # of a scatter
_ALL_POINTS = 6000  # of all scatters together
_WIDTH, _HEIGHT = 3.3, 2.7  # three fit side by side, and one on a telephone
_LONGEST = 28  # characters of a name in a picture


def curve_figure(name: str, drawn: Sequence[StageCurve]) -> "Figure":
    """Draw a metric or a record by round: a line per ranker, and a point at the round that was kept."""
    lines = []
    for stage, curve in drawn:
        several = len(stage.results) > 1
        line = Line(curve, colour(stage.model), "--" if stage.first else "-", named=False)
        thin = replace(line, width=0.8, alpha=0.6)
        lines.append(thin if several else replace(line, alpha=1.0, kept_size=5))
    y = PlotAxis()
    if name not in TITLES:  # a metric
        y = PlotAxis(ends=visible_range(drawn[0][1].quantity, [curve.y for _, curve in drawn]))
    elif name in SHARES:
        y = PlotAxis(ends=(0, None), percent=True)
    title, look = short(TITLES.get(name, name), 50), {"loc": "left", "fontsize": 10}
    panel = Panel(lines, PlotAxis("round", whole=True), y, title, look)
    return _plots.draw_panels([panel], PanelGrid(_WIDTH, _HEIGHT))


def scatter(pair: Pair, metric: str, links: Mapping[int, str], shown: np.ndarray) -> "Figure":
    """Draw a model against another query by query; points of queries with a link are links."""
    low, high = _limits(np.append(pair.values[shown], pair.others[shown]))
    linked = np.array([q for q in shown.tolist() if q in links], np.int64)
    marks: list[Mark] = [Strokes([((low, low), (high, high))], dash=":")]
    for queries in (np.setdiff1d(shown, linked), linked):
        targets = [links[q] for q in queries.tolist() if q in links]
        shade, places = colour(pair.model), (pair.others[queries], pair.values[queries])
        marks.append(Points(*places, shade, 22, 0.55, links=targets, clipped=False))
    x = PlotAxis(short(f"{metric}, {pair.against}", 44), ends=(low, high))
    y = PlotAxis(short(f"{metric}, {pair.name}", 44), ends=(low, high))
    return _plots.draw_panels([Panel(marks, x, y, square=True)], PanelGrid(_WIDTH, 3.7))


def points_of(pair: Pair, n_pictures: int) -> np.ndarray:
    """Return the queries to draw: all, or if there are too many, some that are evenly spread from loss to gain."""
    most = min(MOST_POINTS, _ALL_POINTS // n_pictures)
    measured = np.flatnonzero(~np.isnan(pair.values + pair.others))
    if measured.size <= most:
        return measured
    order = measured[np.argsort(pair.gain[measured], kind="stable")]
    return np.sort(order[np.linspace(0, order.size - 1, most).astype(np.int64)])


def bars_by_label(by_label: ByLabel) -> "Figure":
    """Draw what each label adds to NDCG, for all models side by side; a line shows the ideal."""
    rows, width = by_label.rows, 0.8 / max(len(by_label.models), 1)
    places = np.arange(len(rows))
    marks: list[Mark] = []
    for j, model in enumerate(by_label.models):
        at = places - 0.4 + (j + 0.5) * width
        marks.append(Bars(at, [row.parts[j] for row in rows], width * 0.9, colour(model)))
    ideal = [((i - 0.42, row.ideal), (i + 0.42, row.ideal)) for i, row in enumerate(rows)]
    marks.append(Strokes(ideal, DIM, 1.5))
    x = PlotAxis("label", ticks={float(i): row.label for i, row in enumerate(rows)})
    panel = Panel(marks, x, title=f"part of the mean NDCG@{by_label.k}")
    return _plots.draw_panels([panel], PanelGrid(_WIDTH, _HEIGHT))


def intervals(title: str, axis: str, bins: Sequence[Bin], outcome: PageOutcome) -> "Figure":
    """Draw the mean difference of each pair by kind of query, with intervals."""
    marks: list[Mark] = [Rule(0.0, dash=":")]
    step = 0.5 / max(len(outcome.pairs), 1)
    for j, pair in enumerate(outcome.pairs):
        places = np.arange(len(bins)) + (j - (len(outcome.pairs) - 1) / 2) * step
        differences = np.array([one.differences[j] for one in bins]).reshape(len(bins), 3)
        middle, low, high = differences.T
        marks.append(Intervals(places, middle, low, high, colour(pair.model)))
    ticks = {float(i): one.label for i, one in enumerate(bins)}
    panel = Panel(marks, PlotAxis(axis, ticks=ticks, tick_size=9), title=short(title, 48))
    return _plots.draw_panels([panel], PanelGrid(_WIDTH, _HEIGHT))


def importance(features: Importance) -> "Figure":
    """Draw the shares of the most important features, all stages side by side."""
    n_stages = len(features.stages)
    rows = np.nan_to_num(features.shares[: max(5, 12 - n_stages)])
    width, marks = 0.8 / n_stages, []
    for j, model in enumerate(features.models):
        at = np.arange(len(rows)) - 0.4 + (j + 0.5) * width
        first = j + 1 < n_stages and features.models[j + 1] == model
        bars = Bars(at, rows[:, j], width * 0.9, colour(model), sideways=True)
        marks.append(replace(bars, alpha=0.5 if first else 1.0))
    names = replace(bar_names(features.features[: len(rows)], _LONGEST), tick_size=9)
    panel = Panel(marks, PlotAxis(format="{x:.0%}"), names, f"share of {features.what}")
    return _plots.draw_panels(
        [panel], PanelGrid(_WIDTH, 0.7 + len(rows) * max(0.24, 0.13 * n_stages))
    )


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis with some space around all values."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:
        low, high = (low - 0.5, low + 0.5) if math.isfinite(low) else (0.0, 1.0)
    space = 0.04 * (high - low)
    return low - space, high + space
