"""Figures: pair weights and pair counts of objectives, curves and importances of models, models query by query.

Every function returns a matplotlib `Figure` that belongs to no window; `save` writes it to a file. The user's
matplotlib settings and backend are neither read nor changed.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood._core.parts import is_part
from rankwood.diagnostics import heat, pair_counts
from rankwood.report import _drawing
from rankwood.report.align import check_name
from rankwood.report.model_plots import importance, learning_curve, per_query

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Extensions of the files that `save` writes.
FORMATS = (".pdf", ".png", ".svg")
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
    names, maps = _titles(objectives), [heat(one, n) for one in objectives]
    with _drawing.style():
        columns = min(len(maps), _drawing.COLUMNS)
        figure, axes = _drawing.new_figure(columns, -(-len(maps) // columns), 3.1, 3.3)
        _drawing.draw_maps(figure, axes, names, maps)
    return figure


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
    names = _titles(objectives)
    with _drawing.style():
        figure, (axes,) = _drawing.new_figure(1, 1, 5.6, 3.6)
        counts = [pair_counts(one, n, ks) for one in objectives]
        _drawing.draw_counts(axes, names, counts, ks, n)
    return figure


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
    with _drawing.style():
        figure, (left, right) = _drawing.new_figure(2, 1, 4.2, 3.8)
        _drawing.draw_maps(figure, [left], [name], [heat(objective, n)])
        ks = list(range(1, n + 1))
        _drawing.draw_counts(right, [name], [pair_counts(objective, n)], ks, n)
        right.set_title("pairs with a weight")
    return figure


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
    known = list(dict.fromkeys(key for record in models.values() for key in record))
    if not known:
        raise checks.InputError('nothing was recorded; give Ranker(record=["effective_pairs"]).')
    shown = known if name is None else [check_name("curve", name, known)]
    with _drawing.style():
        height = 2.4 if len(shown) > 1 else 3.4
        figure, axes = _drawing.new_figure(1, len(shown), 5.6, height, sharex=True)
        for ax, key in zip(axes, shown, strict=True):
            lines = {model: record[key] for model, record in models.items() if key in record}
            _drawing.draw_curves(ax, key, lines)
        axes[-1].set_xlabel("round")
        if several:
            axes[0].legend(frameon=False, fontsize=9)
    return figure


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
    # None removes the date and matplotlib's version, which would make equal figures different files.
    without = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
    metadata: dict[str, Any] = without.get(extension, {"CreationDate": None, "Producer": None})
    with _drawing.style(), replacing(path) as file:
        figure.savefig(file, format=extension[1:], metadata=metadata)


def _titles(objectives: Iterable[Any]) -> list[str]:
    """Return a short title for each objective; raise if there is none."""
    objectives = list(objectives)
    if not objectives:
        raise checks.InputError("there is nothing to draw: give at least one objective.")
    texts = [repr(one) if is_part(one) else str(one) for one in objectives]
    return [text if len(text) <= 32 else text[:29] + "..." for text in texts]
