"""Figures of trained models: feature importance, learning curves, and two models query by query."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood._core.text import printable, shortened
from rankwood.report import _drawing
from rankwood.report.align import better_sign, check_name
from rankwood.report.per_query import PerQuery, histogram, query_values
from rankwood.training.summary import curves_of, importances_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwood.report.comparison import Comparison

_LONGEST = 40  # characters of a name in a picture
_LINES = ("-", "--", ":", "-.")


class _Line(NamedTuple):
    """A validation curve, and the round that was kept."""

    label: str
    metric: str
    values: Sequence[float]
    kept: int | None


def importance(ranker: Any, top: int = 20) -> "Figure":
    """Draw the most important features of a model as bars.

    Parameters
    ----------
    ranker : Ranker or TwoStage
        A fitted model of trees; of two stages the second is drawn.
    top : int
        The largest number of features to draw.

    Returns
    -------
    matplotlib.figure.Figure
        A bar per feature: its share of the gain of all splits, the largest on top. CatBoost doesn't keep gains; its
        shares are those of the changes of predictions.

    Raises
    ------
    InputError
        If the model has no feature importances, or matplotlib is not installed.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import plots
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> len(plots.importance(ranker, top=5).axes[0].patches)
    5
    """
    top = checks.at_least(top, 1, "top")
    shares = importances_of(getattr(ranker, "second_", ranker))
    if shares is None:
        raise checks.InputError(
            f"{type(ranker).__name__} has no feature importances: give a fitted Ranker, whose model is of trees."
        )
    shown = shares[:top]
    with _drawing.style():
        figure, (ax,) = _drawing.new_figure(1, 1, 5.6, 0.9 + 0.26 * len(shown))
        places = np.arange(len(shown))
        ax.barh(places, [share for _, share in shown], 0.72, color=_drawing.COLOURS[0])
        ax.set_yticks(places, [_short(name) for name, _ in shown])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        for place, (_, share) in zip(places, shown, strict=True):
            ax.annotate(
                f"{share:.1%}",
                (share, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color="#666666",
            )
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.margins(x=0.1)
        used = sum(share > 0 for _, share in shares)
        ax.set_title(f"share of the importance, {used} of {len(shares)} features used", loc="left")
    return figure


def learning_curve(models: Any, metric: str | None = None) -> "Figure":
    """Draw the validation metrics of one model or several against the round.

    The vertical axis has the range of the later half of the rounds, and at most as much again for the first ones, so
    that models which end up at nearly the same value can be told apart.

    Parameters
    ----------
    models : Ranker, NeuralRanker, dict of them, or history
        A fitted model, several by name, or what their `history_` has.
    metric : str, optional
        The curve to draw; by default all, one below the other.

    Returns
    -------
    matplotlib.figure.Figure
        One plot per metric, with a line per model and validation set, and a point at the round that was kept.

    Raises
    ------
    InputError
        If no model was trained with validation data, or there is no such curve; or if matplotlib is not installed.

    Examples
    --------
    >>> from rankwood.report import plots
    >>> figure = plots.learning_curve({"ndcg@10": [0.60, 0.70, 0.71, 0.705]})
    >>> figure.axes[0].get_ylabel()
    'ndcg@10'
    """
    lines = _lines_of(models)
    known = list(dict.fromkeys(line.metric for line in lines))
    if not known:
        raise checks.InputError(
            "there is no learning curve: train with fit(..., valid=...), which evaluates each round."
        )
    shown = known if metric is None else [check_name("curve", metric, known)]
    with _drawing.style():
        height = 2.6 if len(shown) > 1 else 3.6
        figure, axes = _drawing.new_figure(1, len(shown), 6.2, height, sharex=True)
        labels = list(dict.fromkeys(line.label for line in lines))
        for ax, name in zip(axes, shown, strict=True):
            _draw_lines(ax, name, [line for line in lines if line.metric == name], labels)
        axes[-1].set_xlabel("round")
        axes[-1].locator_params(axis="x", integer=True)
    return figure


def _lines_of(models: Any) -> list[_Line]:
    """Return the curves of a model, of models by name, or of a history."""
    if not isinstance(models, Mapping):
        return _model_lines("", models)
    if all(_is_history(value) for value in models.values()):
        return [_Line(c.part, c.metric, c.values, None) for c in curves_of(models)]
    return [line for name, model in models.items() for line in _model_lines(str(name), model)]


def _is_history(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _model_lines(name: str, model: Any) -> list[_Line]:
    """Return the curves of one model; of two stages, those of both."""
    if hasattr(model, "second_"):
        stages = [(f"{name} first stage, fold {i}", m) for i, m in enumerate(model.first_, 1)]
        stages.append((f"{name} second stage", model.second_))
        return [line for label, m in stages for line in _model_lines(label.strip(), m)]
    kept = getattr(model, "best_iteration_", None)
    curves = curves_of(getattr(model, "history_", {}), getattr(model, "validation_sets_", ()))
    several = any(curve.part for curve in curves)
    lines = []
    for curve in curves:
        part = curve.part or ("first validation set" if several else "")
        label = ", ".join(word for word in (name, part) if word)
        lines.append(_Line(label, curve.metric, curve.values, kept))
    return lines


def _draw_lines(ax: "Axes", metric: str, lines: list[_Line], labels: list[str]) -> None:
    """Draw the curves of one metric; a label has the same colour in all plots."""
    colours = _drawing.COLOURS
    for line in lines:
        rounds, i = np.arange(1, len(line.values) + 1), labels.index(line.label)
        colour, look = colours[i % len(colours)], _LINES[i // len(colours) % len(_LINES)]
        label, kept = _short(line.label), line.kept
        if kept is not None and 1 <= kept <= len(line.values):
            value = line.values[kept - 1]
            ax.plot([kept], [value], "o", color=colour, markersize=6, zorder=3)
            label = f"{label + ': ' if label else ''}round {kept}, {value:.4f}"
        ax.plot(rounds, line.values, look, color=colour, linewidth=1.6, label=label or None)
    ax.set_ylabel(_short(metric))
    ax.set_ylim(*visible_range(metric, [line.values for line in lines]))
    if any(line.label or line.kept for line in lines):
        ax.legend(frameon=False, fontsize=9)


def visible_range(metric: str, curves: list[Sequence[float]]) -> tuple[float, float]:
    """Return the ends of the axis: the later half of the rounds, and at most as much again for the first ones."""
    sign = better_sign(metric)
    values = [sign * np.asarray(curve, np.float64) for curve in curves]
    late = np.concatenate([v[v.size // 2 :] for v in values])
    best = max(float(v.max()) for v in values)
    worst = min(float(v.min()) for v in values)
    usual = best - float(late.min())
    low = max(worst, best - 2 * usual) if usual > 0 else worst
    space = 0.06 * (best - low) or 0.01 * (abs(best) or 1.0)
    low, high = sorted((sign * (low - space), sign * (best + space)))
    return low, high


def per_query(
    comparison: "Comparison",
    model: str | None = None,
    against: str | None = None,
    metric: str | None = None,
) -> "Figure":
    """Draw two models of a comparison query by query: a scatter, and a histogram of the differences.

    Parameters
    ----------
    comparison : Comparison
        The result of `compare`.
    model, against : str, optional
        The two models; by default the first one that isn't the baseline, and the baseline.
    metric : str, optional
        The first metric by default.

    Returns
    -------
    matplotlib.figure.Figure
        On the left a point per query and the diagonal, on the right the number of queries by their difference. Queries
        without a difference are in no bar; the title counts those won, tied and lost.

    Raises
    ------
    InputError
        If a name is unknown, or matplotlib is not installed.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import plots
    >>> y, qid = [1, 0, 0, 1], [1, 1, 2, 2]
    >>> evs = {n: rw.evaluate("dcg", y, s, qid=qid) for n, s in (("a", [2, 1, 2, 1]), ("b", [2, 1, 1, 2]))}
    >>> plots.per_query(rw.compare(evs)).axes[1].get_title(loc="left")
    '1 won, 1 tied, 0 lost'
    """
    against = check_name("model", against or comparison.rules["baseline"], comparison.models)
    model = model or next((name for name in comparison.models if name != against), against)
    model = check_name("model", model, comparison.models)
    if len(comparison.models) < 2:
        raise checks.InputError(f"two models are needed, and {model!r} is the only one.")
    if model == against:
        raise checks.InputError(f"two models are needed, got {model!r} twice.")
    metric = check_name("metric", metric or comparison.metrics[0], comparison.metrics)
    found = query_values(comparison, model, against, metric)
    with _drawing.style():
        figure, (left, right) = _drawing.new_figure(2, 1, 4.0, 3.9)
        _draw_scatter(left, found)
        _draw_histogram(right, found)
    return figure


def _draw_scatter(ax: "Axes", found: PerQuery) -> None:
    both = np.append(found.values, found.others)
    low, high = float(both.min(initial=0.0)), float(both.max(initial=0.0))
    space = 0.04 * (high - low) or 0.5
    ends = (low - space, high + space)
    ax.plot(ends, ends, color="#888888", linewidth=0.8, linestyle=":")
    colours = _side_colours(found.differences * found.better)
    ax.scatter(found.others, found.values, s=20, c=colours, alpha=0.55, linewidths=0)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_aspect("equal")
    ax.set_xlabel(_short(f"{found.metric}, {found.against}"))
    ax.set_ylabel(_short(f"{found.metric}, {found.model}"))
    ax.set_title("a point per query", loc="left")


def _draw_histogram(ax: "Axes", found: PerQuery) -> None:
    made = histogram(found.differences)
    middle = (made.edges[:-1] + made.edges[1:]) / 2
    width = 0.92 * (made.edges[1] - made.edges[0])
    ax.bar(middle, made.counts, width, color=_side_colours(middle * found.better))
    ax.axvline(0.0, color="#888888", linewidth=0.8)
    ax.locator_params(axis="y", integer=True)
    ax.set_xlabel(_short(f"{found.metric}, {found.model} − {found.against}", 52))
    ax.set_ylabel("queries")
    ax.set_title(found.text, loc="left")


def _side_colours(gains: np.ndarray) -> list[str]:
    """Return the colour of each gain: that of models that win, of ones that lose, or of ties."""
    better, worse = _drawing.COLOURS[2], _drawing.COLOURS[1]
    return ["#888888" if x == 0 else better if x > 0 else worse for x in gains.tolist()]


def _short(text: str, longest: int = _LONGEST) -> str:
    return shortened(printable(text), longest)
