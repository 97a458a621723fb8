"""The pictures of a page: findings drawn with matplotlib, in the colours that the style sheet knows."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core.text import shortened
from rankwood.report import _drawing
from rankwood.report.model_plots import visible_range
from rankwood.report.page.breakdown import Bin, ByLabel
from rankwood.report.page.outcome import PageOutcome, Pair
from rankwood.report.page.training import Importance, StageCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 2000  # of a scatter
_ALL_POINTS = 6000  # of all scatters together
_WIDTH, _HEIGHT = 3.3, 2.7  # three fit side by side, and one on a telephone
_DIM = "#888888"
_LONGEST = 28  # characters of a name in a picture


def colour(model: int) -> str:
    """Return the colour of a model."""
    return _drawing.COLOURS[model % len(_drawing.COLOURS)]


def curves(name: str, found: Sequence[StageCurve]) -> "Figure":
    """Draw a metric or a record by round: a line per ranker, and a point at the round that was kept."""
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, _WIDTH, _HEIGHT)
        for one in found:
            rounds = np.arange(1, len(one.values) + 1)
            several = len(one.stage.rankers) > 1
            look: dict[str, Any] = {
                "linewidth": 0.8 if several else 1.6,
                "alpha": 0.6 if several else 1.0,
            }
            line = "--" if one.stage.first else "-"
            shade = colour(one.stage.model)
            ax.plot(rounds, one.values, line, color=shade, **look)
            if one.best is not None and one.best <= len(one.values) and not several:
                ax.plot([one.best], [one.values[one.best - 1]], "o", color=shade, markersize=5)
        ax.set_xlabel("round")
        ax.set_title(short(_drawing.TITLES.get(name, name), 50), loc="left", fontsize=10)
        ax.locator_params(axis="x", integer=True)
        if name not in _drawing.TITLES:  # a metric
            ax.set_ylim(*visible_range(found[0].metric, [one.values for one in found]))
        if name in _drawing.SHARES:
            ax.set_ylim(bottom=0)
            _drawing.show_percent(ax)
    return figure


def scatter(pair: Pair, metric: str, links: Mapping[int, str], shown: np.ndarray) -> "Figure":
    """Draw a model against another query by query; points of queries with a link are links."""
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, _WIDTH, 3.7)
        low, high = _limits(np.append(pair.values[shown], pair.others[shown]))
        ax.plot([low, high], [low, high], color=_DIM, linewidth=0.8, linestyle=":")
        linked = np.array([q for q in shown.tolist() if q in links], np.int64)
        rest = np.setdiff1d(shown, linked)
        look: dict[str, Any] = {
            "s": 22,
            "clip_on": False,
            "color": colour(pair.model),
            "alpha": 0.55,
            "linewidths": 0,
        }
        ax.scatter(pair.others[rest], pair.values[rest], **look)
        points = ax.scatter(pair.others[linked], pair.values[linked], **look)
        points.set_urls([f"#{links[q]}" for q in linked.tolist()])
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        ax.set_aspect("equal")
        ax.set_xlabel(short(f"{metric}, {pair.against}", 44))
        ax.set_ylabel(short(f"{metric}, {pair.name}", 44))
    return figure


def points_of(pair: Pair, n_pictures: int) -> np.ndarray:
    """Return the queries to draw: all, or if there are too many, some that are evenly spread from loss to gain."""
    most = min(MOST_POINTS, _ALL_POINTS // n_pictures)
    known = np.flatnonzero(~np.isnan(pair.values + pair.others))
    if known.size <= most:
        return known
    order = known[np.argsort(pair.gain[known], kind="stable")]
    return np.sort(order[np.linspace(0, order.size - 1, most).astype(np.int64)])


def bars_by_label(found: ByLabel) -> "Figure":
    """Draw what each label adds to NDCG, for all models side by side; a line shows the ideal."""
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, _WIDTH, _HEIGHT)
        width = 0.8 / max(len(found.models), 1)
        places = np.arange(len(found.rows))
        for j, model in enumerate(found.models):
            heights = [row.parts[j] for row in found.rows]
            ax.bar(places - 0.4 + (j + 0.5) * width, heights, width * 0.9, color=colour(model))
        ideal = [row.ideal for row in found.rows]
        ax.hlines(ideal, places - 0.42, places + 0.42, color=_DIM, linewidth=1.5)
        ax.set_xticks(places, [row.label for row in found.rows])
        ax.set_xlabel("label")
        ax.set_title(f"part of the mean NDCG@{found.k}", loc="left")
    return figure


def intervals(title: str, axis: str, bins: Sequence[Bin], outcome: PageOutcome) -> "Figure":
    """Draw the mean difference of each pair by kind of query, with intervals."""
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, _WIDTH, _HEIGHT)
        ax.axhline(0.0, color=_DIM, linewidth=0.8, linestyle=":")
        places = np.arange(len(bins), dtype=float)
        step = 0.5 / max(len(outcome.pairs), 1)
        for j, pair in enumerate(outcome.pairs):
            at = places + (j - (len(outcome.pairs) - 1) / 2) * step
            _draw_intervals(ax, at, [one.differences[j] for one in bins], colour(pair.model))
        ax.set_xticks(places, [one.label for one in bins], fontsize=9)
        ax.set_xlabel(axis)
        ax.set_title(short(title, 48), loc="left")
    return figure


def _draw_intervals(
    ax: "Axes", places: np.ndarray, differences: Sequence[tuple[float, float, float]], shade: str
) -> None:
    for x, (point, low, high) in zip(places.tolist(), differences, strict=True):
        ax.plot([x], [point], "o", color=shade, markersize=5)
        if not math.isnan(low + high):
            ax.plot([x, x], [low, high], color=shade, linewidth=1.6)


def importance(found: Importance) -> "Figure":
    """Draw the shares of the most important features, all stages side by side."""
    n_stages = len(found.stages)
    rows = np.nan_to_num(found.shares[: max(5, 12 - n_stages)])
    with _drawing.style():
        height = 0.7 + len(rows) * max(0.24, 0.13 * n_stages)
        figure, (ax,) = _drawing.new_figure(1, 1, _WIDTH, height)
        width = 0.8 / n_stages
        places = np.arange(len(rows))
        for j, model in enumerate(found.models):
            at = places - 0.4 + (j + 0.5) * width
            first = j + 1 < n_stages and found.models[j + 1] == model
            ax.barh(at, rows[:, j], width * 0.9, color=colour(model), alpha=0.5 if first else 1.0)
        ax.set_yticks(places, [short(name) for name in found.features[: len(rows)]], fontsize=9)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.set_title(f"share of {found.what}", loc="left")
    return figure


def short(text: str, longest: int = _LONGEST) -> str:
    """Return a text that fits into a picture, on one line."""
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return shortened(text, longest)


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis with some space around all values."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:
        low, high = (low - 0.5, low + 0.5) if math.isfinite(low) else (0.0, 1.0)
    space = 0.04 * (high - low)
    return low - space, high + space
