"""Pictures of explanations: bars, waterfalls, curves of partial dependence, and library shap's beeswarm."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core.text import plural, printable, shortened
from rankwood.report import _drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwood.explanation.contributions import Contributions
    from rankwood.explanation.dependence import PartialDependence
    from rankwood.explanation.permutation import PermutationImportance
    from rankwood.explanation.record import Explanation

_LONGEST = 40  # characters of a name
_DIM = "#666666"
UP, DOWN = _drawing.COLOURS[2], _drawing.COLOURS[1]


def bars(explanation: "Explanation", top: int) -> "Figure":
    """Draw the mean size of contributions within queries."""
    sizes = explanation.importances
    order = np.argsort(-sizes, kind="stable")[:top]
    names = [explanation.feature_names[i] for i in order]
    with _drawing.style():
        figure, ax = _bar_figure(names)
        ax.barh(np.arange(order.size), sizes[order], 0.72, color=_drawing.COLOURS[0])
        _label_bars(ax, sizes[order], [f"{x:.{_decimals(sizes)}f}" for x in sizes[order]])
        used = int(np.count_nonzero(sizes))
        ax.set_title(f"mean size within a query, {used} of {sizes.size} features used", loc="left")
        ax.set_xlabel("score")
    return figure


def permuted_bars(found: "PermutationImportance", top: int) -> "Figure":
    """Draw what a metric loses when a feature is permuted, with the spread over the repeats."""
    order = np.argsort(-found.mean, kind="stable")[:top]
    mean, spread = found.mean[order], found.spread[order]
    with _drawing.style():
        figure, ax = _bar_figure([found.feature_names[i] for i in order])
        look: dict[str, Any] = {"ecolor": "#333333", "capsize": 2.5, "error_kw": {"linewidth": 1.0}}
        ax.barh(np.arange(order.size), mean, 0.72, xerr=spread, color=_drawing.COLOURS[0], **look)
        ax.axvline(0.0, color="#888888", linewidth=0.8)
        ax.set_title(f"loss of {found.metric}, {found.value:.4f} without permuting", loc="left")
        ax.set_xlabel(
            f"mean of {plural(found.losses.shape[1], 'repeat')}, lines: ± 1 standard deviation"
        )
    return figure


def waterfall(found: "Contributions", top: int) -> "Figure":
    """Draw the way from one score to another, the first below and the second above."""
    order = found.order[: min(top, int(np.count_nonzero(found.values)))]
    steps = found.values[order].tolist()
    names = [_with_values(found, i) for i in order]
    rest = int(np.count_nonzero(found.values)) - order.size
    if rest:
        names.append(plural(rest, "other feature"))
        steps.append(float(found.values.sum() - found.values[order].sum()))
    ends = found.end[1] - np.cumsum([0.0, *steps])  # from the top down to the first score
    with _drawing.style():
        figure, ax = _bar_figure(names, longest=60)
        for place, step in enumerate(steps):
            colour = UP if step >= 0 else DOWN
            ax.barh(place, step, 0.72, left=ends[place + 1], color=colour)
            if place:
                ax.plot(
                    [ends[place]] * 2, [place - 1.36, place + 0.36], color="#aaaaaa", linewidth=0.8
                )
            text = f"{step:+.{_decimals(found.values)}f}"
            _step_text(ax, (ends[place], ends[place + 1]), place, text)
        ax.axvline(found.start[1], color="#888888", linewidth=0.8, linestyle=":")
        ax.axvline(found.end[1], color="#888888", linewidth=0.8, linestyle=":")
        ax.set_xlabel("score")
        ax.set_title(shortened(printable(found.title), 70), loc="left", pad=22)
        _end_texts(ax, found)
        space = 0.16 * float(np.ptp(ends)) or 0.5
        ax.set_xlim(ends.min() - space, ends.max() + space)
    return figure


def curves(found: "PartialDependence") -> "Figure":
    """Draw the mean score against the value of a feature, with the middle half of the documents as a band."""
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, 5.6, 3.6)
        colour = _drawing.COLOURS[0]
        if found.labels is None:
            x: Any = found.grid
            ax.plot(
                found.data_marks,
                np.zeros(found.data_marks.size),
                "|",
                color=_DIM,
                markersize=7,
                transform=ax.get_xaxis_transform(),
                clip_on=False,
            )
            ax.fill_between(x, found.low, found.high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(x, found.mean, color=colour, linewidth=1.8)
        else:
            x = np.arange(len(found.labels))
            errors = np.vstack([found.mean - found.low, found.high - found.mean])
            ax.errorbar(x, found.mean, np.maximum(errors, 0.0), fmt="o", color=colour, capsize=3)
            ax.set_xticks(x, [_short(label, 14) for label in found.labels])
        ax.set_xlabel(_short(found.feature))
        ax.set_ylabel("score")
        ax.set_title("mean score; band: the middle half of the documents", loc="left", fontsize=10)
    return figure


def beeswarm(explanation: "Explanation", top: int) -> "Figure":
    """Draw contributions within queries by library shap, as points coloured by the value of the feature."""
    made = explanation.to_shap(centred=True)
    with _drawing.style():
        from shap import plots

        figure, (ax,) = _drawing.new_figure(1, 1, 6.6, 1.2 + 0.36 * min(top, made.values.shape[1]))
        # Other features are no row of their own: their sum has no value to colour it by.
        plots.beeswarm(
            made, max_display=top, ax=ax, show=False, plot_size=None, group_remaining_features=False
        )
        ax.set_xlabel("contribution within the query")
    return figure


def _bar_figure(names: Sequence[str], longest: int = _LONGEST) -> "tuple[Figure, Axes]":
    """Return a figure for horizontal bars, the first name on top."""
    figure, (ax,) = _drawing.new_figure(1, 1, 6.2, 1.2 + 0.28 * max(len(names), 1))
    ax.set_yticks(np.arange(len(names)), [_short(name, longest) for name in names])
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    return figure, ax


def _label_bars(ax: "Axes", ends: np.ndarray, texts: Sequence[str]) -> None:
    for place, (end, text) in enumerate(zip(ends, texts, strict=True)):
        ax.annotate(
            text,
            (end, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=_DIM,
        )
    ax.margins(x=0.1)


def _decimals(values: np.ndarray) -> int:
    """Return how many decimals show three digits of the largest value."""
    largest = float(np.abs(values).max(initial=0.0))
    return max(0, 2 - int(np.floor(np.log10(largest)))) if largest > 0 else 2


def _step_text(ax: "Axes", ends: tuple[float, float], place: int, text: str) -> None:
    """Write a step beside its bar, on the side to which it leads."""
    right = not text.startswith("-")
    ax.annotate(
        text,
        (max(ends) if right else min(ends), place),
        xytext=(3 if right else -3, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=8,
        color=_DIM,
    )


def _end_texts(ax: "Axes", found: "Contributions") -> None:
    """Name the two scores above the picture, each beside its line, the lower one on the left."""
    ends = sorted((found.start, found.end), key=lambda end: end[1])
    for (name, score), side in zip(ends, ("right", "left"), strict=True):
        ax.annotate(
            f"{_short(name, 24)} {score:.3f}",
            (score, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3 if side == "right" else -3, 4),
            textcoords="offset points",
            ha="right" if side == "right" else "left",
            fontsize=8,
            color=_DIM,
        )


def _with_values(found: "Contributions", i: int) -> str:
    """Return a feature with its values, of both documents in a pair."""
    return f"{found.features[i]}: " + " against ".join(texts[i] for texts in found.given.values())


def _short(text: str, longest: int = _LONGEST) -> str:
    return shortened(printable(text), longest)
