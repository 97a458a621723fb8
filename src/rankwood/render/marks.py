"""What a panel of a figure can show: lines, points, bars, rules, maps, boxes. A mark draws itself into axes.

Marks are data, so that those who know what a picture is about need no plotting library; `rankwood.render.plots` makes
figures of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rankwood.render.curve import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

# Okabe and Ito's palette, which colour-blind people can tell apart; its yellow is too light for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
#: Solid, dashed, dotted, dashes and dots; then dashes far apart, dashes with two dots, and dots far apart, as lengths.
DASHES: tuple[Any, ...] = (
    "-",
    "--",
    ":",
    "-.",
    (0, (3, 4)),
    (0, (5, 1.5, 1, 1.5, 1, 1.5)),
    (0, (1, 4)),
)
#: Of rules, ties and whatever else should not draw attention; and of small texts.
DIM, DIM_TEXT = "#888888", "#666666"
#: Of gains, of losses, and of neither.
BETTER, WORSE, EVEN = COLOURS[2], COLOURS[1], DIM
_COLOUR_MAP = "viridis"  # even in brightness, and readable for colour-blind people
_UNUSED = "#e4e4e4"


def colour(i: int) -> str:
    """Return the i-th colour; colours begin again after the last one."""
    return COLOURS[i % len(COLOURS)]


def look(i: int) -> tuple[str, Any]:
    """Return colour and dashes of the i-th line: all different as long as possible."""
    return colour(i), DASHES[i // len(COLOURS) % len(DASHES)]


def side_colours(gains: np.ndarray) -> list[str]:
    """Return a colour for each number: that of gains, of losses, or of zero."""
    return [EVEN if x == 0 else BETTER if x > 0 else WORSE for x in gains.tolist()]


class Mark(Protocol):
    """Anything that draws itself into axes."""

    def draw(self, ax: "Axes") -> Any:
        """Draw it."""
        ...


@dataclass(frozen=True)
class Line:
    """A curve; the place that was kept has a point if `kept_size` is positive."""

    curve: Curve
    colour: str = COLOURS[0]
    dash: Any = "-"
    width: float = 1.6
    alpha: float | None = None
    marker: str = ""
    size: float = 5.0
    step: bool = False
    kept_size: float = 0.0
    named: bool = True  # whether the legend has its label

    def draw(self, ax: "Axes") -> None:
        """Draw the line, and the point above all lines."""
        x, y, value = self.curve.x, self.curve.y, self.curve.kept_value
        if self.kept_size and value is not None:
            at = {"color": self.colour, "markersize": self.kept_size, "zorder": 3}
            ax.plot([self.curve.kept], [value], "o", **at)  # type: ignore[list-item, arg-type]
        style: dict[str, Any] = {"drawstyle": "steps-post"} if self.step else {}
        if self.marker:
            style |= {"marker": self.marker, "markersize": self.size}
        ax.plot(
            x,
            y,
            linestyle=self.dash,
            color=self.colour,
            linewidth=self.width,
            alpha=self.alpha,
            label=(self.curve.label or None) if self.named else None,
            **style,
        )


@dataclass(frozen=True)
class Strokes:
    """Straight pieces, each from a place to another."""

    pieces: Sequence[tuple[tuple[float, float], tuple[float, float]]]
    colour: str = DIM
    width: float = 0.8
    dash: str = "-"
    order: float = 2.0  # those with higher numbers are drawn above

    def draw(self, ax: "Axes") -> None:
        """Draw a line for each piece."""
        style: dict[str, Any] = {"linewidth": self.width, "linestyle": self.dash}
        for (x, y), (to_x, to_y) in self.pieces:
            ax.plot([x, to_x], [y, to_y], color=self.colour, zorder=self.order, **style)


@dataclass(frozen=True)
class Rule:
    """A line across the whole panel, at a height or, upright, at a place; a text stands at its right end."""

    at: float
    upright: bool = False
    colour: str = DIM
    width: float = 0.8
    dash: str = "-"
    text: str = ""

    def draw(self, ax: "Axes") -> None:
        """Draw the line and its text."""
        across = ax.axvline if self.upright else ax.axhline
        across(self.at, color=self.colour, linewidth=self.width, linestyle=self.dash)
        if self.text:
            place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (-2, 3)}
            _note(ax, self.text, (1.0, self.at), ha="right", **place)


@dataclass(frozen=True)
class Points:
    """Points of one colour or of a colour each; those with a link lead to an id of the page."""

    x: np.ndarray
    y: np.ndarray
    colours: str | Sequence[str] = COLOURS[0]
    size: float = 20.0
    alpha: float | None = None
    marker: str = "o"
    label: str = ""
    links: Sequence[str] = ()
    clipped: bool = True
    edges: bool = False

    def draw(self, ax: "Axes") -> None:
        """Draw the points."""
        style: dict[str, Any] = {"marker": self.marker, "label": self.label or None}
        if not self.edges:
            style["linewidths"] = 0
        style |= {"color" if isinstance(self.colours, str) else "c": self.colours}
        points = ax.scatter(
            self.x, self.y, s=self.size, alpha=self.alpha, clip_on=self.clipped, **style
        )
        if self.links:
            points.set_urls([f"#{link}" for link in self.links])


@dataclass(frozen=True)
class Intervals:
    """Points with a line from low to high, none where an end is NaN; caps end the lines if they have a size."""

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str = COLOURS[0]
    cap: float = 0.0

    def draw(self, ax: "Axes") -> None:
        """Draw the points and the lines."""
        y = np.asarray(self.y, np.float64)
        errors = np.vstack([y - self.low, np.asarray(self.high) - y])
        errors = np.where(np.isnan(errors).any(axis=0), 0.0, np.maximum(errors, 0.0))
        style: dict[str, Any] = {"markersize": 5, "elinewidth": 1.6, "capsize": self.cap}
        ax.errorbar(self.x, y, errors, fmt="o", color=self.colour, **style)


@dataclass(frozen=True)
class Bars:
    """Bars at places, upward or sideways, from `base`; texts stand at their ends, lines show their errors."""

    places: Any
    lengths: Any
    width: float = 0.72
    colours: str | Sequence[str] = COLOURS[0]
    base: Any = 0.0
    sideways: bool = False
    label: str = ""
    alpha: float | None = None
    errors: np.ndarray | None = None
    texts: Sequence[str] = ()

    def draw(self, ax: "Axes") -> None:
        """Draw the bars, their errors and their texts."""
        style: dict[str, Any] = {"color": self.colours, "alpha": self.alpha}
        style["label"] = self.label or None
        if self.errors is not None:
            style |= {"ecolor": "#333333", "capsize": 2.5, "error_kw": {"linewidth": 1.0}}
            style["xerr" if self.sideways else "yerr"] = self.errors
        if self.sideways:
            ax.barh(self.places, self.lengths, self.width, left=self.base, **style)
        else:
            ax.bar(self.places, self.lengths, self.width, bottom=self.base, **style)
        for place, length, text in zip(self.places, self.lengths, self.texts, strict=False):
            if self.sideways:
                _note(ax, text, (length, place), xytext=(3, 0), va="center")
            else:
                _note(ax, text, (place, length), xytext=(0, 3), ha="center")


@dataclass(frozen=True)
class Waterfall:
    """Changes one below the other, from the top down: each bar ends where the one above it begins."""

    ends: np.ndarray  # n + 1 numbers; step i leads from ends[i + 1] to ends[i]
    texts: Sequence[str]

    def draw(self, ax: "Axes") -> None:
        """Draw a bar for each step in the colour of its sign, joined by lines; its text is on the side it leads to."""
        for place, text in enumerate(self.texts):
            high, low = self.ends[place], self.ends[place + 1]
            rises = high >= low
            ax.barh(place, high - low, 0.72, left=low, color=BETTER if rises else WORSE)
            if place:
                ax.plot([high] * 2, [place - 1.36, place + 0.36], color="#aaaaaa", linewidth=0.8)
            beside = (max(high, low) if rises else min(high, low), place)
            side = "left" if rises else "right"
            _note(ax, text, beside, xytext=(3 if rises else -3, 0), ha=side, va="center")


@dataclass(frozen=True)
class HistogramLine:
    """Weights of values by bin, as an outline."""

    values: Any
    edges: Sequence[float]
    weights: np.ndarray
    colour: str = COLOURS[0]
    width: float = 1.6
    label: str = ""

    def draw(self, ax: "Axes") -> None:
        """Draw the outline."""
        style: dict[str, Any] = {"color": self.colour, "linewidth": self.width}
        style["label"] = self.label or None
        ax.hist(self.values, self.edges, weights=self.weights, histtype="step", **style)


@dataclass(frozen=True)
class Band:
    """The space between two lines, shaded."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str = COLOURS[0]

    def draw(self, ax: "Axes") -> None:
        """Shade the space."""
        ax.fill_between(self.x, self.low, self.high, color=self.colour, alpha=0.18, linewidth=0)


@dataclass(frozen=True)
class Ticks:
    """Short marks on the horizontal axis, at values of the data."""

    x: np.ndarray

    def draw(self, ax: "Axes") -> None:
        """Draw the marks."""
        style: dict[str, Any] = {"color": DIM_TEXT, "markersize": 7, "clip_on": False}
        ax.plot(self.x, np.zeros(len(self.x)), "|", transform=ax.get_xaxis_transform(), **style)


@dataclass(frozen=True)
class Note:
    """A small text beside a place; the place is in data, but the height may be a share of the panel."""

    text: str
    at: tuple[float, float]
    offset: tuple[float, float] = (3, 0)
    side: str = "left"  # which end of the text is at the place
    above: bool = False  # the height is a share of the panel's

    def draw(self, ax: "Axes") -> None:
        """Write the text."""
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction")} if self.above else {}
        _note(ax, self.text, self.at, xytext=self.offset, ha=self.side, **place)


@dataclass(frozen=True)
class Reach:
    """Places that the axes include, with nothing drawn there."""

    places: Sequence[tuple[float, float]]

    def draw(self, ax: "Axes") -> None:
        """Extend the axes."""
        ax.update_datalim(self.places)
        ax.autoscale_view()


@dataclass(frozen=True)
class HeatMap:
    """A square of values from 0 to `top` as colours; zeros are grey, and the diagonal is empty."""

    values: np.ndarray
    top: float

    def draw(self, ax: "Axes") -> Any:
        """Draw the map, the first row on top, and return it for the colour bar."""
        from matplotlib import colormaps
        from matplotlib.colors import Normalize

        n = len(self.values)
        edges = np.arange(n + 1) + 0.5
        # The diagonal is white, a value below the scale.
        shown = np.ma.masked_equal(self.values - np.eye(n), 0.0)
        colours = colormaps[_COLOUR_MAP].with_extremes(bad=_UNUSED, under="white")
        style: dict[str, Any] = {"cmap": colours, "norm": Normalize(0.0, self.top or 1.0)}
        if n <= 30:
            style |= {"edgecolor": "white", "linewidth": 0.8}
        mesh = ax.pcolormesh(edges, edges, shown, clip_on=False, **style)
        ax.set_aspect("equal")
        ax.set_ylim(n + 0.5, 0.5)
        step = -(-n // 12)
        ticks = [1, *range(step, n + 1, step)] if step > 1 else list(range(1, n + 1))
        ax.set_xticks(ticks)
        ax.set_yticks(ticks)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        return mesh


class Shape(NamedTuple):
    """A box of a diagram: a text in a square, a circle, or a dashed frame that lies behind other boxes."""

    text: str
    at: tuple[float, float]
    size: tuple[float, float]
    kind: str = "square"
    fill: str = "#ffffff"


@dataclass(frozen=True)
class Diagram:
    """Boxes by name, arrows between them, and texts that begin at a place. Formulas stand between dollar signs."""

    boxes: dict[str, Shape]
    arrows: Sequence[tuple[str, str]]
    texts: Sequence[tuple[str, tuple[float, float]]] = ()

    def draw(self, ax: "Axes") -> None:
        """Draw boxes, arrows, texts."""
        from matplotlib.patches import FancyArrowPatch

        outlines = {name: _outline(ax, box) for name, box in self.boxes.items()}
        style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 8, "linewidth": 0.8}
        style |= {"color": "#555555", "zorder": 2}
        for start, end in self.arrows:
            arrow = FancyArrowPatch(
                self.boxes[start].at,
                self.boxes[end].at,
                patchA=outlines[start],
                patchB=outlines[end],
                **style,
            )
            ax.add_patch(arrow)
        for text, at in self.texts:
            ax.text(*at, text, va="center", ha="left", fontsize=9, parse_math=True)


def _outline(ax: "Axes", box: Shape) -> "Patch":
    """Draw a box and its text, and return its outline, at which arrows end."""
    from matplotlib.patches import Ellipse, Rectangle

    (x, y), (width, height) = box.at, box.size
    frame = box.kind == "frame"
    style: dict[str, Any] = {
        "facecolor": "none" if frame else box.fill,
        "edgecolor": "#555555",
        "linewidth": 0.9,
        "linestyle": "--" if frame else "-",
        "zorder": 1 if frame else 3,
    }
    shape: Patch
    if box.kind == "circle":
        shape = Ellipse(box.at, width, height, **style)
    else:
        shape = Rectangle((x - width / 2, y - height / 2), width, height, **style)
    ax.add_patch(shape)
    style = {"ha": "center", "va": "center", "fontsize": 10, "zorder": 4, "parse_math": True}
    ax.text(x, y, box.text, **style)
    return shape


@dataclass(frozen=True)
class Plaque:
    """A text in a round box around a place."""

    text: str
    at: tuple[float, float]
    fill: str
    edge: str

    def draw(self, ax: "Axes") -> None:
        """Draw the box and the text; a text may have dollar signs."""
        box = {"boxstyle": "round,pad=0.35", "facecolor": self.fill, "edgecolor": self.edge}
        style: dict[str, Any] = {"fontsize": 8, "zorder": 2, "parse_math": False}
        ax.text(*self.at, self.text, ha="center", va="center", bbox=box, **style)


@dataclass(frozen=True)
class DrawnBy:
    """What another library draws into axes."""

    function: Callable[["Axes"], Any]

    def draw(self, ax: "Axes") -> None:
        """Let the other library draw."""
        self.function(ax)


def _note(ax: "Axes", text: str, at: tuple[float, float], **place: Any) -> None:
    """Write a small grey text near a place."""
    ax.annotate(text, at, textcoords="offset points", fontsize=8, color=DIM_TEXT, **place)
