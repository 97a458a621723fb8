"""Pictures: heat maps of pair weights, pair counts against the cutoff, curves of a training run.

Every function returns a matplotlib `Figure` that no window knows of; `save` writes it. The user's own settings and
backend of matplotlib are neither read nor changed.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core import checks
from rankwood._core.atomic import replacing
from rankwood._core.jit import is_part
from rankwood.diagnostics import heat, pair_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".pdf", ".png", ".svg")
_MAP = "viridis"  # even in brightness, and the same order for colour-blind eyes
_UNUSED = "#e4e4e4"
_ACROSS = 4  # maps in a row
# Okabe and Ito's colours, which colour-blind eyes tell apart; yellow is too light for a line.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = "osD^vPX"
_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",  # text stays text: small files that can be searched
    "svg.hashsalt": "rankwood",  # the same picture is the same file
}
#: What the curves of a record are, as `Ranker(record=...)` names them.
_TITLES = {
    "effective_pairs": "effective pairs, share of all pairs",
    "incoherent": "queries with an incoherent pair",
    "false_over_missed": "queries with a false document over a missed one",
    "seconds_gradients": "seconds for gradients",
    "seconds_trees": "seconds for trees",
    "seconds_evaluation": "seconds for evaluation",
}


def heat_map(*objectives: Any, n: int = 10) -> "Figure":
    """Draw the weight of each pair of positions, on one scale for all objectives [lambdagap2025, Figure 1].

    Rows are the position of the relevant document, columns that of the other one; grey pairs aren't used. See
    `rankwood.diagnostics.heat` for what the numbers are.

    Parameters
    ----------
    *objectives : str or part
        Names such as ``"lambdagap-x@3"``, or compositions.
    n : int
        Documents in the list.

    Examples
    --------
    >>> from rankwood.report.plots import heat_map
    >>> figure = heat_map("lambdarank-p@3", "lambdagap-x@3")
    >>> len(figure.axes)  # two maps and the scale
    3
    """
    names, maps = _titles(objectives), [heat(one, n) for one in objectives]
    with _style():
        across = min(len(maps), _ACROSS)
        figure, axes = _figure(across, -(-len(maps) // across), 3.1, 3.3)
        _draw_maps(figure, axes, names, maps)
    return figure


def pair_curves(*objectives: Any, n: int = 10, ks: Iterable[int] | None = None) -> "Figure":
    """Draw how many pairs of positions have a weight, against the cutoff [lambdagap2025, Figure 2].

    Parameters
    ----------
    *objectives : str or part
        Names, with or without ``@k``.
    n : int
        Documents in the list.
    ks : integers, optional
        Cutoffs; by default 1 to n.
    """
    ks = list(range(1, n + 1) if ks is None else ks)
    names = _titles(objectives)
    with _style():
        figure, (axes,) = _figure(1, 1, 5.6, 3.6)
        _draw_counts(axes, names, [pair_counts(one, n, ks) for one in objectives], ks, n)
    return figure


def overview(objective: Any, n: int = 10) -> "Figure":
    """Draw the heat map of one objective, and beside it its pair counts."""
    (name,) = _titles([objective])
    with _style():
        figure, (left, right) = _figure(2, 1, 4.2, 3.8)
        _draw_maps(figure, [left], [name], [heat(objective, n)])
        ks = list(range(1, n + 1))
        _draw_counts(right, [name], [pair_counts(objective, n)], ks, n)
        right.set_title("pairs with a weight")
    return figure


def curve(records: Mapping[str, Any], name: str | None = None) -> "Figure":
    """Draw what was recorded during training, round by round.

    Parameters
    ----------
    records : dict
        `Ranker.record_`, or several by the name of their model.
    name : str, optional
        Which curve, such as ``"effective_pairs"``. By default all curves of a record, one below the other.
    """
    several = all(isinstance(value, Mapping) for value in records.values())
    models = dict(records) if several else {"": records}
    known = list(dict.fromkeys(key for record in models.values() for key in record))
    if not known:
        raise checks.InputError('nothing was recorded; give Ranker(record=["effective_pairs"]).')
    if name is not None and name not in known:
        raise checks.InputError(f"there is no curve {name!r}{checks.nearest(name, known)}")
    shown = known if name is None else [name]
    with _style():
        figure, axes = _figure(1, len(shown), 5.6, 2.4 if len(shown) > 1 else 3.4, sharex=True)
        for ax, key in zip(axes, shown, strict=True):
            _draw_curves(ax, key, {m: r[key] for m, r in models.items() if key in r})
        axes[-1].set_xlabel("round")
        if several:
            axes[0].legend(frameon=False, fontsize=9)
    return figure


def save(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the name; the same figure gives the same bytes."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise checks.InputError(
            f"{os.fspath(path)} can't be written: expected a name that ends in {', '.join(FORMATS)}."
        )
    # Without the time, and without the version of matplotlib.
    nothing = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
    metadata: dict[str, Any] = nothing.get(ending, {"CreationDate": None, "Producer": None})
    with _style(), replacing(path) as file:
        figure.savefig(file, format=ending[1:], metadata=metadata)


@contextmanager
def _style() -> Iterator[None]:
    """Draw with our own settings, over matplotlib's defaults and not the user's."""
    try:
        import matplotlib
    except ImportError:
        raise checks.InputError(
            "pictures need matplotlib, which isn't installed; type: pip install 'rankwood[plots]'"
        ) from None
    own = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
    own.pop("date.epoch", None)
    with matplotlib.rc_context({**own, **_STYLE}):
        yield


def _figure(across: int, down: int, width: float, height: float, **share: Any) -> Any:
    """Return a figure and its axes, row by row; those that are too many are up to the caller."""
    from matplotlib.figure import Figure

    size = (width * across + 0.6, height * down)
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    return figure, list(np.ravel(figure.subplots(down, across, squeeze=False, **share)))


def _draw_maps(
    figure: "Figure", axes: "list[Axes]", names: Sequence[str], maps: list[np.ndarray]
) -> None:
    """Draw maps on one scale into the first axes, and leave the others empty."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    # White is the diagonal, below the scale: a document has no pair with itself.
    colours = colormaps[_MAP].with_extremes(bad=_UNUSED, under="white")
    scale = Normalize(0.0, max(weights.max() for weights in maps) or 1.0)
    for ax, name, weights in zip(axes, names, maps, strict=False):
        n = len(weights)
        edges = np.arange(n + 1) + 0.5
        shown = np.ma.masked_equal(weights - np.eye(n), 0.0)
        lines: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.8} if n <= 30 else {}
        mesh = ax.pcolormesh(edges, edges, shown, cmap=colours, norm=scale, clip_on=False, **lines)
        ax.set_title(name)
        ax.set_aspect("equal")
        ax.set_ylim(n + 0.5, 0.5)  # the first position on top
        ax.set_xticks(_ticks(n))
        ax.set_yticks(_ticks(n))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    for ax in axes[len(maps) :]:
        ax.set_axis_off()
    used = axes[: len(maps)]
    for ax in used[-_ACROSS:]:  # those with nothing below
        ax.set_xlabel("position of the other document")
    for ax in used[::_ACROSS]:
        ax.set_ylabel("position of the relevant document")
    bar = figure.colorbar(mesh, ax=used, shrink=0.8, pad=0.02)
    bar.set_label("weight of the pair (grey: not used)")
    bar.outline.set_visible(False)


def _draw_counts(
    ax: "Axes", names: Sequence[str], counts: list[np.ndarray], ks: list[int], n: int
) -> None:
    look = zip(cycle(_COLOURS), cycle(_MARKERS), strict=False)
    for name, values, (colour, marker) in zip(names, counts, look, strict=False):
        ax.plot(ks, values, color=colour, marker=marker, markersize=5, linewidth=1.6, label=name)
    every = n * (n - 1) // 2
    ax.axhline(every, color="#888888", linewidth=0.8, linestyle=":")
    ax.annotate(
        f"all {every:,}",
        (1.0, every),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        color="#666666",
        fontsize=8,
    )
    ax.set_ylim(0, every * 1.08 or 1)
    if len(ks) <= 15:
        ax.set_xticks(ks)
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(f"pairs of positions, n = {n}")
    if len(names) > 1:
        ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_curves(ax: "Axes", key: str, curves: Mapping[str, Sequence[float]]) -> None:
    for (model, values), colour in zip(curves.items(), cycle(_COLOURS), strict=False):
        rounds = np.arange(1, len(values) + 1)
        ax.plot(rounds, values, color=colour, linewidth=1.6, label=model or None)
    ax.set_ylim(bottom=0)
    ax.set_title(_TITLES.get(key, key), loc="left")
    if key in ("incoherent", "false_over_missed", "effective_pairs"):
        ax.yaxis.set_major_formatter("{x:.0%}" if ax.get_ylim()[1] > 0.05 else "{x:.1%}")


def _ticks(n: int) -> list[int]:
    """Return the positions to name: all of a short list, a few of a long one."""
    step = -(-n // 12)
    return list(range(1, n + 1)) if step == 1 else [1, *range(step, n + 1, step)]


def _titles(objectives: Iterable[Any]) -> list[str]:
    objectives = list(objectives)
    if not objectives:
        raise checks.InputError("there is nothing to draw: give at least one objective.")
    texts = [repr(one) if is_part(one) else str(one) for one in objectives]
    return [text if len(text) <= 32 else text[:29] + "..." for text in texts]
