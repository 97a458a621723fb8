"""Pictures of explanations: bars, waterfalls, curves of partial dependence, and library shap's beeswarm."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util.text import plural
from rankwood.render import plots
from rankwood.render.curve import Curve
from rankwood.render.marks import (
    Band,
    Bars,
    DrawnBy,
    Intervals,
    Line,
    Mark,
    Note,
    Rule,
    Ticks,
    Waterfall,
)
from rankwood.render.plots import Panel, PanelGrid, PlotAxis, bar_names, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwood.forest.explain.contributions import Contributions
    from rankwood.forest.explain.dependence import PartialDependence
    from rankwood.forest.explain.explanation import Explanation
    from rankwood.forest.explain.permutation import PermutationImportance


def _bar_figure(panel: Panel, count: int) -> "Figure":
    """Return a figure of horizontal bars, as high as their number needs."""
    return plots.draw_panels([panel], PanelGrid(6.2, 1.2 + 0.28 * max(count, 1)))


def bars(explanation: "Explanation", top: int) -> "Figure":
    """Draw the mean size of contributions within queries."""
    sizes = explanation.importances
    order = np.argsort(-sizes, kind="stable")[:top]
    texts = [f"{x:.{_decimals(sizes)}f}" for x in sizes[order]]
    used = int(np.count_nonzero(sizes))
    panel = Panel(
        [Bars(np.arange(order.size), sizes[order], sideways=True, texts=texts)],
        PlotAxis("score", margin=0.1),
        bar_names([explanation.feature_names[i] for i in order]),
        f"mean size within a query, {used} of {sizes.size} features used",
    )
    return _bar_figure(panel, order.size)


def permuted_bars(importance: "PermutationImportance", top: int) -> "Figure":
    """Draw what a metric loses when a feature is permuted, with the spread over the repeats."""
    order = np.argsort(-importance.mean, kind="stable")[:top]
    mean, spread = importance.mean[order], importance.spread[order]
    repeats = plural(importance.losses.shape[1], "repeat")
    panel = Panel(
        [
            Bars(np.arange(order.size), mean, sideways=True, errors=spread),
            Rule(0.0, upright=True),
        ],
        PlotAxis(f"mean of {repeats}, lines: ± 1 standard deviation"),
        bar_names([importance.feature_names[i] for i in order]),
        f"loss of {importance.metric}, {importance.value:.4f} without permuting",
    )
    return _bar_figure(panel, order.size)


def waterfall(contributions: "Contributions", top: int) -> "Figure":
    """Draw the way from one score to another, the first below and the second above."""
    values = contributions.values
    used = int(np.count_nonzero(values))
    order = contributions.order[: min(top, used)]
    steps = values[order].tolist()
    names = [_with_values(contributions, i) for i in order]
    if used > order.size:
        names.append(plural(used - order.size, "other feature"))
        steps.append(float(values.sum() - values[order].sum()))
    ends = contributions.end[1] - np.cumsum([0.0, *steps])  # from the top down to the first score
    space = 0.16 * float(np.ptp(ends)) or 0.5
    texts = [f"{step:+.{_decimals(values)}f}" for step in steps]
    scores = (contributions.start[1], contributions.end[1])
    rules = [Rule(score, upright=True, dash=":") for score in scores]
    panel = Panel(
        [Waterfall(ends, texts), *rules, *_end_notes(contributions)],
        PlotAxis("score", ends=(ends.min() - space, ends.max() + space)),
        bar_names(names, 60),
        short(contributions.title, 70),
        {"loc": "left", "pad": 22},
    )
    return _bar_figure(panel, len(names))


def dependence_curve(dependence: "PartialDependence") -> "Figure":
    """Draw the mean score against the value of a feature, with the middle half of the documents as a band."""
    mean, low, high = dependence.mean, dependence.low, dependence.high
    x, name = dependence.grid, short(dependence.feature)
    if dependence.labels is None:
        lines = Line(Curve("", x, mean), width=1.8)
        marks: list[Mark] = [Ticks(dependence.data_marks), Band(x, low, high), lines]
        axis = PlotAxis(name)
    else:
        texts = {float(i): short(label, 14) for i, label in enumerate(dependence.labels)}
        marks = [Intervals(np.arange(len(texts)), mean, low, high, cap=3)]
        axis = PlotAxis(name, ticks=texts)
    title = "mean score; band: the middle half of the documents"
    panel = Panel(marks, axis, PlotAxis("score"), title, {"loc": "left", "fontsize": 10})
    return plots.draw_panels([panel], PanelGrid(5.6, 3.6))


def beeswarm(explanation: "Explanation", top: int) -> "Figure":
    """Draw contributions within queries by library shap, as points coloured by the value of the feature."""
    values = explanation.to_shap(centred=True)

    def draw(ax: "Axes") -> None:
        from shap import plots as shap_plots

        # Other features are no row of their own: their sum has no value to colour it by.
        look: dict[str, Any] = {"show": False, "plot_size": None}
        shap_plots.beeswarm(values, max_display=top, ax=ax, group_remaining_features=False, **look)

    panel = Panel([DrawnBy(draw)], PlotAxis("contribution within the query"))
    height = 1.2 + 0.36 * min(top, values.values.shape[1])
    return plots.draw_panels([panel], PanelGrid(6.6, height))


def _decimals(values: np.ndarray) -> int:
    """Return how many decimals show three digits of the largest value."""
    largest = float(np.abs(values).max(initial=0.0))
    return max(0, 2 - int(np.floor(np.log10(largest)))) if largest > 0 else 2


def _end_notes(contributions: "Contributions") -> list[Note]:
    """Return the names of the two scores above the picture, each beside its line, the lower one on the left."""
    ends = sorted((contributions.start, contributions.end), key=lambda end: end[1])
    return [
        Note(f"{short(name, 24)} {score:.3f}", (score, 1.0), (shift, 4), side, above=True)
        for (name, score), side, shift in zip(ends, ("right", "left"), (3, -3), strict=True)
    ]


def _with_values(contributions: "Contributions", i: int) -> str:
    """Return a feature with its values, of both documents in a pair."""
    texts = " against ".join(values[i] for values in contributions.given.values())
    return f"{contributions.features[i]}: {texts}"
