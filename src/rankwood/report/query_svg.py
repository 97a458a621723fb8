"""Pictures of two models query by query as SVG, for pages that must not depend on a plotting library."""

from html import escape

import numpy as np

from rankwood._core.text import printable, shortened
from rankwood.report.axis import Axis, axis_of, tick_text
from rankwood.report.per_query import PerQuery, histogram

GOOD, BAD, EVEN = "#0b8a4b", "#d2520f", "#7b8594"
_SIZE, _LEFT, _BELOW, _ABOVE = 250, 46, 40, 24  # of the plot, and the space around it
_MOST_POINTS = 2000
_LONGEST = 34


def scatter_svg(found: PerQuery) -> str:
    """Return a picture with a point per query: the other model's value to the right, the model's upward."""
    shown = _shown(found.differences)
    values, others = found.values[shown], found.others[shown]
    axis = axis_of([*values.tolist(), *others.tolist()], 4)
    gain = np.sign(found.differences[shown] * found.better)
    colours = {1.0: GOOD, -1.0: BAD, 0.0: EVEN}
    points = [
        f'<circle cx="{_x(axis, x)}" cy="{_y(axis, y)}" r="3" fill="{colours[g]}" fill-opacity="0.6">'
        f"<title>{escape(printable(str(q)))}: {tick_text(x)}, {tick_text(y)}</title></circle>"
        for q, x, y, g in zip(
            found.ids[shown].tolist(), others.tolist(), values.tolist(), gain.tolist(), strict=True
        )
    ]
    low, high = axis.start, axis.end
    diagonal = (
        f'<line x1="{_x(axis, low)}" y1="{_y(axis, low)}" x2="{_x(axis, high)}" y2="{_y(axis, high)}" '
        'stroke="#8a95a5" stroke-dasharray="2 3"/>'
    )
    labels = f"{found.metric}, {found.against}", f"{found.metric}, {found.model}"
    title = f"{found.metric} of each query"
    return _picture(title, labels, (axis, axis), diagonal + "".join(points))


def histogram_svg(found: PerQuery) -> str:
    """Return a picture with the number of queries by their difference, won ones and lost ones in two colours."""
    made = histogram(found.differences)
    across = axis_of(made.edges.tolist(), 4)
    top = int(made.counts.max(initial=0)) or 1
    upward = Axis(0.0, top * 1.05, tuple(t for t in axis_of([0.0, top], 4).ticks if t == int(t)))
    bars = []
    for i, count in enumerate(made.counts.tolist()):
        left, right = float(_x(across, made.edges[i])), float(_x(across, made.edges[i + 1]))
        y, side = float(_y(upward, count)), 1 if made.edges[i] + made.edges[i + 1] > 0 else -1
        colour = GOOD if side * found.better > 0 else BAD
        bars.append(
            f'<rect x="{left + 0.5:.1f}" y="{y:.1f}" width="{right - left - 1:.1f}" '
            f'height="{_ABOVE + _SIZE - y:.1f}" fill="{colour}"/>'
        )
    zero = f'<line x1="{_x(across, 0)}" x2="{_x(across, 0)}" y1="{_ABOVE}" y2="{_ABOVE + _SIZE}" stroke="#8a95a5"/>'
    labels = f"{found.metric}, {found.model} − {found.against}", "queries"
    return _picture(found.text, labels, (across, upward), "".join(bars) + zero)


def _shown(differences: np.ndarray) -> np.ndarray:
    """Return the queries to draw: all, or if there are too many, some that are evenly spread from loss to gain."""
    if differences.size <= _MOST_POINTS:
        return np.arange(differences.size)
    order = np.argsort(differences, kind="stable")
    return np.sort(order[np.linspace(0, order.size - 1, _MOST_POINTS).astype(np.int64)])


def _x(axis: Axis, x: float) -> str:
    return f"{_LEFT + _SIZE * axis.share(x):.1f}"


def _y(axis: Axis, y: float) -> str:
    return f"{_ABOVE + _SIZE * (1 - axis.share(y)):.1f}"


def _picture(title: str, labels: tuple[str, str], axes: tuple[Axis, Axis], inner: str) -> str:
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
    across, upward = (escape(shortened(printable(text), _LONGEST)) for text in labels)
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{escape(printable(title))}">'
        f'<text x="{_LEFT}" y="14" font-weight="600">{escape(printable(title))}</text>'
        f'<rect x="{_LEFT}" y="{_ABOVE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#8a95a5" '
        f'stroke-opacity="0.5"/>{inner}{"".join(ticks)}'
        f'<text x="{middle}" y="{bottom + 32}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(11 {_ABOVE + _SIZE / 2}) rotate(-90)" text-anchor="middle">{upward}</text></svg>\n'
    )
