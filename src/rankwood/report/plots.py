"""Figures: pair weights and pair counts of objectives, curves and importances of models, models query by query.

Every function returns a matplotlib `Figure` that belongs to no window; `save` writes it to a file. The user's
matplotlib settings and backend are neither read nor changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._kernels.parts import is_part
from rankwood._util import checks
from rankwood.diagnostics import heat, pair_counts
from rankwood.render import plots as _plots
from rankwood.render.curve import Curve, by_round
from rankwood.render.marks import COLOURS, HeatMap, Line, Rule
from rankwood.render.plots import FORMATS, LEGEND, Panel, PanelGrid, PlotAxis, save
from rankwood.report.comparison.align import check_name
from rankwood.report.model_plots import importance, learning_curve, per_query

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAPS = PanelGrid(3.1, 3.3, 4, colour_bar="weight of the pair (grey: not used)")
_MARKERS = "osD^vPX"
_CENTRED: Mapping[str, Any] = MappingProxyType({})
#: Titles of the curves that `Ranker(record=...)` records.
TITLES = {
    "effective_pairs": "effective pairs, share of all pairs",
    "incoherent": "queries with an incoherent pair",
    "false_over_missed": "queries with a false document over a missed one",
    "seconds_gradients": "seconds for gradients",
    "seconds_trees": "seconds for trees",
    "seconds_evaluation": "seconds for evaluation",
}
#: The curves among them that are shares, from 0 to 1.
SHARES = ("effective_pairs", "incoherent", "false_over_missed")
__all__ = [
    "FORMATS",
    "curve",
    "heat_map",
    "importance",
    "learning_curve",
    "overview",
    "pair_curves",
    "per_query",
    "save",
]


def heat_map(*objectives: Any, n: int = 10) -> "Figure":
    """Draw the weight of each pair of positions, on one scale for all objectives [lambdagap2025, Figure 1].

    The row is the position of the relevant document, the column that of the other one; unused pairs are grey.
    `rankwood.diagnostics.heat` explains the numbers.

    Parameters
    ----------
    *objectives : str or part
        Names such as ``"lambdagap-x@3"``, or compositions.
    n : int
        Number of documents in the list.

    Returns
    -------
    matplotlib.figure.Figure
        One map per objective, and the colour scale.

    Raises
    ------
    InputError
        If there is no objective, or one has no pairs; or if matplotlib is not installed.

    Examples
    --------
    >>> from rankwood.report.plots import heat_map
    >>> figure = heat_map("lambdarank-p@3", "lambdagap-x@3")
    >>> len(figure.axes)  # two maps and the scale
    3
    """
    maps = [heat(objective, n) for objective in objectives]
    return draw_maps(_titles(objectives), maps)


def draw_maps(titles: Sequence[str], maps: Sequence[np.ndarray]) -> "Figure":
    """Draw weights of pairs of positions as heat maps on one colour scale."""
    return _plots.draw_panels(_map_panels(titles, maps), _MAPS)


def _map_panels(titles: Sequence[str], maps: Sequence[np.ndarray]) -> list[Panel]:
    """Return a panel per map; only those at the left and at the lower edge have labels."""
    top = max(float(weights.max()) for weights in maps)
    columns, last = _MAPS.columns, len(maps) - _MAPS.columns
    panels = []
    for i, (title, weights) in enumerate(zip(titles, maps, strict=True)):
        x = PlotAxis("position of the other document") if i >= last else PlotAxis()
        y = PlotAxis("position of the relevant document") if i % columns == 0 else PlotAxis()
        panels.append(Panel([HeatMap(weights, top)], x, y, title, _CENTRED))
    return panels


def pair_curves(*objectives: Any, n: int = 10, ks: Iterable[int] | None = None) -> "Figure":
    """Draw how many pairs of positions have a weight, against the cutoff [lambdagap2025, Figure 2].

    Parameters
    ----------
    *objectives : str or part
        Names, with or without ``@k``, or compositions.
    n : int
        Number of documents in the list.
    ks : iterable of int, optional
        Cutoffs; 1 to n by default.

    Returns
    -------
    matplotlib.figure.Figure
        One line per objective.

    Raises
    ------
    InputError
        As in `heat_map`, or if a cutoff is below 1.

    Examples
    --------
    >>> from rankwood.report.plots import pair_curves
    >>> figure = pair_curves("lambdarank-p", "lambdagap-x", n=6)
    >>> figure.axes[0].get_xlabel()
    'cutoff k'
    """
    ks = list(range(1, n + 1) if ks is None else ks)
    counts = [pair_counts(objective, n, ks) for objective in objectives]
    return draw_counts(_titles(objectives), counts, ks, n)


def draw_counts(
    names: Sequence[str], counts: Sequence[np.ndarray], ks: Sequence[int], n: int
) -> "Figure":
    """Draw numbers of pairs against the cutoff, one line per name."""
    return _plots.draw_panels([_count_panel(names, counts, ks, n)], PanelGrid(5.6, 3.6))


def _count_panel(
    names: Sequence[str], counts: Sequence[np.ndarray], ks: Sequence[int], n: int
) -> Panel:
    """Return a panel of numbers of pairs, with a rule at the number of all pairs."""
    all_pairs = n * (n - 1) // 2
    looks = zip(cycle(COLOURS), cycle(_MARKERS), strict=False)
    lines = [
        Line(Curve(name, np.asarray(ks), values), colour, marker=marker)
        for name, values, (colour, marker) in zip(names, counts, looks, strict=False)
    ]
    ticks = {float(k): str(k) for k in ks} if len(ks) <= 15 else None
    beside = {**LEGEND, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    return Panel(
        [*lines, Rule(all_pairs, dash=":", text=f"all {all_pairs:,}")],
        PlotAxis("cutoff k", ticks=ticks),
        PlotAxis(f"pairs of positions, n = {n}", ends=(0, all_pairs * 1.08 or 1)),
        legend=beside if len(names) > 1 else None,
    )


def overview(objective: Any, n: int = 10) -> "Figure":
    """Draw the heat map of one objective, with its pair counts beside it.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdagap-x@3"``, or a composition.
    n : int
        Number of documents in the list.

    Returns
    -------
    matplotlib.figure.Figure
        The map, the counts, and the colour scale.

    Raises
    ------
    InputError
        If the objective has no pairs, or matplotlib is not installed.

    Examples
    --------
    >>> from rankwood.report.plots import overview
    >>> len(overview("lambdagap-x@3", n=5).axes)
    3
    """
    (name,) = _titles([objective])
    (weights,) = _map_panels([name], [heat(objective, n)])
    counts = _count_panel([name], [pair_counts(objective, n)], range(1, n + 1), n)
    counts = replace(counts, title="pairs with a weight", title_look=_CENTRED)
    return _plots.draw_panels([weights, counts], replace(_MAPS, width=4.2, height=3.8, columns=2))


def curve(records: Mapping[str, Any], name: str | None = None) -> "Figure":
    """Draw what was recorded during training, round by round.

    Parameters
    ----------
    records : dict
        `Ranker.record_`, or several of them by the name of their model.
    name : str, optional
        The curve to draw, such as ``"effective_pairs"``. By default all curves, one below the other.

    Returns
    -------
    matplotlib.figure.Figure
        One plot per curve, with one line per model.

    Raises
    ------
    InputError
        If nothing was recorded, or there is no such curve; or if matplotlib is not installed.

    Examples
    --------
    >>> from rankwood.report.plots import curve
    >>> figure = curve({"effective_pairs": [0.4, 0.3, 0.3]})
    >>> figure.axes[0].get_xlabel()
    'round'
    """
    several = all(isinstance(value, Mapping) for value in records.values())
    models = dict(records) if several else {"": records}
    names = list(dict.fromkeys(key for record in models.values() for key in record))
    if not names:
        raise checks.InputError('nothing was recorded; give Ranker(record=["effective_pairs"]).')
    shown = names if name is None else [check_name("curve", name, names)]
    panels = []
    for key in shown:
        curves = [by_round(model, r[key], key) for model, r in models.items() if key in r]
        lines = [Line(one, colour) for one, colour in zip(curves, cycle(COLOURS), strict=False)]
        x = PlotAxis("round") if key == shown[-1] else PlotAxis()
        y = PlotAxis(ends=(0, None), percent=key in SHARES)
        legend = LEGEND if several and key == shown[0] else None
        panels.append(Panel(lines, x, y, TITLES.get(key, key), legend=legend))
    return _plots.draw_panels(panels, PanelGrid(5.6, 2.4 if len(shown) > 1 else 3.4, share=("x",)))


def _titles(objectives: Iterable[Any]) -> list[str]:
    """Return a short title for each objective; raise if there is none."""
    objectives = list(objectives)
    if not objectives:
        raise checks.InputError("there is nothing to draw: give at least one objective.")
    texts = [repr(part) if is_part(part) else str(part) for part in objectives]
    return [text if len(text) <= 32 else text[:29] + "..." for text in texts]
