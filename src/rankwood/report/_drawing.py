"""Figures and axes for `rankwood.report.plots`: one style, whatever the user's matplotlib settings are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4  # maps in a row
_COLOUR_MAP = "viridis"  # even in brightness, and readable for colour-blind people
_UNUSED = "#e4e4e4"
# Okabe and Ito's palette, which colour-blind people can tell apart; its yellow is too light for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
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
    "svg.fonttype": "none",  # text stays text: files are small and can be searched
    "text.parse_math": False,  # a name may have dollar signs
    "svg.hashsalt": "rankwood",  # the same figure gives the same file
}
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


@contextmanager
def style() -> Iterator[None]:
    """Draw with our own settings on top of matplotlib's defaults instead of the user's."""
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


def new_figure(
    columns: int, rows: int, width: float, height: float, **share: Any
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with a grid of axes, row by row; `width` and `height` are those of one of them."""
    from matplotlib.figure import Figure

    size = (width * columns + 0.6, height * rows)
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False, **share)))


def draw_maps(
    figure: "Figure", axes: "list[Axes]", names: Sequence[str], maps: list[np.ndarray]
) -> None:
    """Draw heat maps on one colour scale into the first axes, and leave the others empty."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    # The diagonal is white, a value below the scale: a document has no pair with itself.
    colours = colormaps[_COLOUR_MAP].with_extremes(bad=_UNUSED, under="white")
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
    for ax in used[-COLUMNS:]:  # those with no map below
        ax.set_xlabel("position of the other document")
    for ax in used[::COLUMNS]:
        ax.set_ylabel("position of the relevant document")
    bar = figure.colorbar(mesh, ax=used, shrink=0.8, pad=0.02)
    bar.set_label("weight of the pair (grey: not used)")
    bar.outline.set_visible(False)


def draw_counts(
    ax: "Axes", names: Sequence[str], counts: list[np.ndarray], ks: list[int], n: int
) -> None:
    """Draw the number of pairs against the cutoff, one line per objective."""
    look = zip(cycle(COLOURS), cycle(_MARKERS), strict=False)
    for name, values, (colour, marker) in zip(names, counts, look, strict=False):
        ax.plot(ks, values, color=colour, marker=marker, markersize=5, linewidth=1.6, label=name)
    all_pairs = n * (n - 1) // 2
    ax.axhline(all_pairs, color="#888888", linewidth=0.8, linestyle=":")
    ax.annotate(
        f"all {all_pairs:,}",
        (1.0, all_pairs),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        color="#666666",
        fontsize=8,
    )
    ax.set_ylim(0, all_pairs * 1.08 or 1)
    if len(ks) <= 15:
        ax.set_xticks(ks)
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(f"pairs of positions, n = {n}")
    if len(names) > 1:
        ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_curves(ax: "Axes", key: str, curves: Mapping[str, Sequence[float]]) -> None:
    """Draw one recorded curve against the round, one line per model."""
    for (model, values), colour in zip(curves.items(), cycle(COLOURS), strict=False):
        rounds = np.arange(1, len(values) + 1)
        ax.plot(rounds, values, color=colour, linewidth=1.6, label=model or None)
    ax.set_ylim(bottom=0)
    ax.set_title(TITLES.get(key, key), loc="left")
    if key in SHARES:
        show_percent(ax)


def show_percent(ax: "Axes") -> None:
    """Label the vertical axis in percent, with a decimal if all values are small."""
    ax.yaxis.set_major_formatter("{x:.0%}" if ax.get_ylim()[1] > 0.05 else "{x:.1%}")


def _ticks(n: int) -> list[int]:
    """Return the positions with a tick: all of a short list, a few of a long one."""
    step = -(-n // 12)
    return list(range(1, n + 1)) if step == 1 else [1, *range(step, n + 1, step)]
