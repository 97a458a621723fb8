"""Figures of trained models: feature importance, learning curves, and two models query by query."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood.fit.result import Result, StagesResult, nested_history
from rankwood.render import plots as _plots
from rankwood.render.curve import Curve, by_round
from rankwood.render.marks import Bars, Line, Points, Rule, Strokes, look, side_colours
from rankwood.render.plots import LEGEND, Panel, PanelGrid, PlotAxis, bar_names, short
from rankwood.report.comparison.align import better_sign, check_name
from rankwood.report.comparison.per_query import PerQuery, histogram, query_values
from rankwood.report.fitted import FittedRanker, fit_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankwood.report.comparison.comparison import Comparison


def importance(ranker: FittedRanker, top: int = 20) -> "Figure":
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
    result = fit_result(ranker)
    if isinstance(result, StagesResult):
        result = result.second
    shares = None if result is None else result.ranked_importances()
    if shares is None:
        raise checks.InputError(
            f"{type(ranker).__name__} has no feature importances: give a fitted Ranker, whose model is of trees."
        )
    shown = shares[:top]
    used = sum(share > 0 for _, share in shares)
    texts = [f"{share:.1%}" for _, share in shown]
    lengths = [share for _, share in shown]
    panel = Panel(
        [Bars(np.arange(len(shown)), lengths, sideways=True, texts=texts)],
        PlotAxis(format="{x:.0%}", margin=0.1),
        bar_names([name for name, _ in shown]),
        f"share of the importance, {used} of {len(shares)} features used",
    )
    return _plots.draw_panels([panel], PanelGrid(5.6, 0.9 + 0.26 * len(shown)))


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
    curves = _curves_of(models)
    metrics = list(dict.fromkeys(curve.quantity for curve in curves))
    if not metrics:
        raise checks.InputError(
            "there is no learning curve: train with fit(..., valid=...), which evaluates each round."
        )
    shown = metrics if metric is None else [check_name("curve", metric, metrics)]
    labels = list(dict.fromkeys(curve.label for curve in curves))
    panels = []
    for name in shown:
        x = PlotAxis("round", whole=True) if name == shown[-1] else PlotAxis()
        panels.append(_metric_panel(name, [c for c in curves if c.quantity == name], labels, x))
    return _plots.draw_panels(panels, PanelGrid(6.2, 2.6 if len(shown) > 1 else 3.6, share=("x",)))


def _curves_of(models: Any) -> list[Curve]:
    """Return the curves of a model, of models by name, or of a history."""
    if not isinstance(models, Mapping):
        return _result_curves("", fit_result(models))
    if all(_is_history(value) for value in models.values()):
        history = nested_history({str(key): values for key, values in models.items()}, None)
        return [
            by_round(part, values, metric)
            for part, metrics in history.items()
            for metric, values in metrics.items()
        ]
    named = {str(name): fit_result(model) for name, model in models.items()}
    return [curve for name, result in named.items() for curve in _result_curves(name, result)]


def _is_history(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _result_curves(name: str, result: Result | None) -> list[Curve]:
    """Return the curves of one model; of two stages, those of both."""
    if result is None:
        return []
    if isinstance(result, StagesResult):
        stages = {f"{name} first stage, fold {i}": one for i, one in enumerate(result.first, 1)}
        stages[f"{name} second stage"] = result.second
        return [
            curve for label, one in stages.items() for curve in _result_curves(label.strip(), one)
        ]
    several = len(result.sets) > 1
    return [
        by_round(
            ", ".join(word for word in (name, _set_label(part) if several else "") if word),
            values,
            metric,
            result.rounds,
        )
        for part, metrics in result.history.items()
        for metric, values in metrics.items()
    ]


def _set_label(part: str) -> str:
    """Return the name of one validation set of several; old files don't have that of the first."""
    return part or "first validation set"


def _metric_panel(metric: str, curves: list[Curve], labels: list[str], x: PlotAxis) -> Panel:
    """Return a panel with the curves of one metric; a label has the same colour in all panels."""
    lines = []
    for curve in curves:
        text, value = short(curve.label), curve.kept_value
        if value is not None:
            text = f"{text + ': ' if text else ''}round {curve.kept}, {value:.4f}"
        style = look(labels.index(curve.label))
        lines.append(Line(curve._replace(label=text), *style, kept_size=6))
    ends = visible_range(metric, [curve.y for curve in curves])
    legend = LEGEND if any(curve.label or curve.kept for curve in curves) else None
    return Panel(lines, x, PlotAxis(short(metric), ends=ends), legend=legend)


def visible_range(metric: str, curves: Sequence[np.ndarray]) -> tuple[float, float]:
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
    queries = query_values(comparison, model, against, metric)
    return _plots.draw_panels([_scatter(queries), _histogram(queries)], PanelGrid(4.0, 3.9, 2))


def _scatter(queries: PerQuery) -> Panel:
    """Return a panel with a point per query."""
    both = np.append(queries.values, queries.others)
    low, high = float(both.min(initial=0.0)), float(both.max(initial=0.0))
    space = 0.04 * (high - low) or 0.5
    low, high = low - space, high + space
    colours = side_colours(queries.differences * queries.better)
    return Panel(
        [
            Strokes([((low, low), (high, high))], dash=":"),
            Points(queries.others, queries.values, colours, alpha=0.55),
        ],
        PlotAxis(short(f"{queries.metric}, {queries.against}"), ends=(low, high)),
        PlotAxis(short(f"{queries.metric}, {queries.model}"), ends=(low, high)),
        "a point per query",
        square=True,
    )


def _histogram(queries: PerQuery) -> Panel:
    """Return a panel with the number of queries by their difference."""
    bins = histogram(queries.differences)
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    width = 0.92 * (bins.edges[1] - bins.edges[0])
    return Panel(
        [
            Bars(middle, bins.counts, width, side_colours(middle * queries.better)),
            Rule(0.0, upright=True),
        ],
        PlotAxis(short(f"{queries.metric}, {queries.model} − {queries.against}", 52)),
        PlotAxis("queries", whole=True),
        queries.text,
    )
