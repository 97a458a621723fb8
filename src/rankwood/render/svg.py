"""Two pictures as SVG, drawn by hand: a page of a comparison must not depend on a plotting library.

`Comparison.to_html` and ``rankwood compare --html`` work with nothing but Rankwood installed; a scatter and a histogram
are all that they need.
"""

from html import escape
from typing import NamedTuple

import numpy as np

from rankwood._util.text import printable, shortened
from rankwood.render.axis import Axis, axis_of, tick_text

GOOD, BAD, EVEN = "#0b8a4b", "#d2520f", "#7b8594"
_SIZE, _LEFT, _BELOW, _ABOVE = 250, 46, 40, 24  # of the plot, and the space around it
_MOST_POINTS = 2000
_LONGEST = 34


class SvgFrame(NamedTuple):
    """What stands around a picture: its title, and the labels to the right and upward."""

    title: str
    x: str
    y: str


def scatter_svg(
    frame: SvgFrame, names: np.ndarray, x: np.ndarray, y: np.ndarray, gains: np.ndarray
) -> str:
    """Return a picture with a named point per value, coloured by the sign of its gain, and the diagonal."""
    shown = _shown(gains)
    axis = axis_of([*y[shown].tolist(), *x[shown].tolist()], 4)
    colours = {1.0: GOOD, -1.0: BAD, 0.0: EVEN}
    points = [
        f'<circle cx="{_x(axis, x)}" cy="{_y(axis, y)}" r="3" fill="{colours[g]}" fill-opacity="0.6">'
        f"<title>{escape(printable(str(q)))}: {tick_text(x)}, {tick_text(y)}</title></circle>"
        for q, x, y, g in zip(
            *(column[shown].tolist() for column in (names, x, y, np.sign(gains))), strict=True
        )
    ]
    low, high = axis.start, axis.end
    diagonal = (
        f'<line x1="{_x(axis, low)}" y1="{_y(axis, low)}" x2="{_x(axis, high)}" y2="{_y(axis, high)}" '
        'stroke="#8a95a5" stroke-dasharray="2 3"/>'
    )
    return _picture(frame, (axis, axis), diagonal + "".join(points))


def histogram_svg(frame: SvgFrame, edges: np.ndarray, counts: np.ndarray, better: int) -> str:
    """Return a picture of counts by bin; bins on both sides of 0 have two colours, and `better` is that of gains."""
    across = axis_of(edges.tolist(), 4)
    top = int(counts.max(initial=0)) or 1
    upward = Axis(0.0, top * 1.05, tuple(t for t in axis_of([0.0, top], 4).ticks if t == int(t)))
    bars = []
    for i, count in enumerate(counts.tolist()):
        left, right = float(_x(across, edges[i])), float(_x(across, edges[i + 1]))
        y, side = float(_y(upward, count)), 1 if edges[i] + edges[i + 1] > 0 else -1
        colour = GOOD if side * better > 0 else BAD
        bars.append(
            f'<rect x="{left + 0.5:.1f}" y="{y:.1f}" width="{right - left - 1:.1f}" '
            f'height="{_ABOVE + _SIZE - y:.1f}" fill="{colour}"/>'
        )
    zero = f'<line x1="{_x(across, 0)}" x2="{_x(across, 0)}" y1="{_ABOVE}" y2="{_ABOVE + _SIZE}" stroke="#8a95a5"/>'
    return _picture(frame, (across, upward), "".join(bars) + zero)


def _shown(differences: np.ndarray) -> np.ndarray:
    """Return the points to draw: all, or if there are too many, some that are evenly spread from loss to gain."""
    if differences.size <= _MOST_POINTS:
        return np.arange(differences.size)
    order = np.argsort(differences, kind="stable")
    return np.sort(order[np.linspace(0, order.size - 1, _MOST_POINTS).astype(np.int64)])


def _x(axis: Axis, x: float) -> str:
    return f"{_LEFT + _SIZE * axis.share(x):.1f}"


def _y(axis: Axis, y: float) -> str:
    return f"{_ABOVE + _SIZE * (1 - axis.share(y)):.1f}"


def _picture(frame: SvgFrame, axes: tuple[Axis, Axis], inner: str) -> str:
    """Return a picture with two axes around what is drawn inside."""
    width, height = _LEFT + _SIZE + 12, _ABOVE + _SIZE + _BELOW
    bottom, middle = _ABOVE + _SIZE, _LEFT + _SIZE / 2
    ticks = [
        f'<text x="{_x(axes[0], t)}" y="{bottom + 15}" text-anchor="middle">{tick_text(t)}</text>'
        for t in axes[0].ticks
    ]
    ticks += [
        f'<text x="{_LEFT - 6}" y="{float(_y(axes[1], t)) + 4:.1f}" text-anchor="end">{tick_text(t)}</text>'
        for t in axes[1].ticks
    ]
    across, upward = (escape(shortened(printable(text), _LONGEST)) for text in frame[1:])
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(printable(frame.title))}">'
        f'<text x="{_LEFT}" y="14" font-weight="600">{escape(printable(frame.title))}</text>'
        f'<rect x="{_LEFT}" y="{_ABOVE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#8a95a5" '
        f'stroke-opacity="0.5"/>{inner}{"".join(ticks)}'
        f'<text x="{middle}" y="{bottom + 32}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(11 {_ABOVE + _SIZE / 2}) rotate(-90)" text-anchor="middle">{upward}</text></svg>\n'
    )
