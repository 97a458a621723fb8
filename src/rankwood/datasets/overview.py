"""A description of a data set as tables, pictures and a page."""

from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core.text import plural
from rankwood.datasets.facts import MANY_LABELS
from rankwood.report import _drawing
from rankwood.report.page import theme
from rankwood.report.table import Cell, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwood.datasets.description import Description

_TOP = 10  # features in the table of those that rank best alone


def tables(found: "Description") -> list[Table]:
    """Return the tables of a description: parts, labels, features, single features, overlaps."""
    made = [_parts(found), _labels(found), _features(found)]
    if found.single.queries:
        made.append(_single(found))
    if found.overlaps:
        made.append(_overlaps(found))
    return made


def advice_table(found: "Description") -> Table:
    """Return the advice as a table of one column."""
    return Table("Advice", ["what calls for attention"], [[Cell(text)] for text in found.advice], 0)


def _row(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def _parts(found: "Description") -> Table:
    headings = ["part", "queries", "documents", "shortest", "median", "mean", "longest"]
    headings += ["without relevant", "one label", "one document", "repeated documents"]
    rows = []
    for part in found.parts:
        size = part.lengths
        rows.append(
            _row(
                part.name,
                f"{part.queries:,}",
                f"{part.documents:,}",
                f"{size.min():,}",
                f"{np.median(size):g}",
                f"{size.mean():.1f}",
                f"{size.max():,}",
                _share(part.empty, part.queries),
                _share(part.uniform, part.queries),
                _share(part.single, part.queries),
                _share(part.repeated, part.documents),
            )
        )
    note = f"{plural(len(found.features.names), 'feature')}. Lengths of lists are in documents."
    return Table("Queries and documents", headings, rows, len(headings) - 1, [note])


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})" if count else "0"


def _labels(found: "Description") -> Table:
    labels = sorted({label for part in found.parts for label in part.labels})
    if len(labels) > MANY_LABELS:
        headings = ["part", "distinct labels", "smallest", "largest"]
        rows = [
            _row(p.name, f"{len(p.labels):,}", f"{min(p.labels):g}", f"{max(p.labels):g}")
            for p in found.parts
        ]
        return Table("Labels", headings, rows, 3)
    headings = ["part", *(f"label {label:g}" for label in labels)]
    rows = [
        _row(part.name, *(f"{part.labels.get(x, 0) / part.documents:.2%}" for x in labels))
        for part in found.parts
    ]
    return Table("Labels, share of documents", headings, rows, len(labels))


def _features(found: "Description") -> Table:
    features = found.features
    rows = [
        _row("all", f"{len(features.names):,}"),
        _row("the same in every document", f"{features.constant.sum():,}"),
        _row("missing in every document", f"{features.absent.sum():,}"),
        _row("equal to an earlier one", f"{(features.duplicate_of >= 0).sum():,}"),
        _row("one value in each query", f"{features.per_query.sum():,}"),
        _row("with missing values", f"{(features.missing > 0).sum():,}"),
    ]
    note = f"{features.missing.mean():.1%} of all values are missing, {features.zero.mean():.1%} are 0."
    return Table("Features", ["kind", "features"], rows, 1, [note])


def _single(found: "Description") -> Table:
    single, names = found.single, found.features.names
    rows = [
        _row(
            names[j],
            "small values" if single.downward[j] else "large values",
            f"{single.best[j]:.4f}",
            f"{single.above_random(single.best[j]):.0%}",
        )
        for j in np.argsort(-single.best, kind="stable")[:_TOP]
    ]
    order = "last row" if single.rows_reversed else "first row"
    way = f"{single.above_random(single.rows):.0%}"
    rows.append(_row("order of the rows", order, f"{single.rows:.4f}", way))
    rows.append(_row("random order", "", f"{single.random:.4f}", "0%"))
    note = (
        f"Measured on {plural(single.queries, 'query')} of {found.parts[0].name} whose labels differ; ties count "
        "as the worst case."
    )
    headings = ["feature", "first", single.metric, "from random to perfect"]
    title = "Best features, each alone"
    return Table(title, headings, rows, 2, [note], [len(rows) - 2])


def _overlaps(found: "Description") -> Table:
    headings = ["parts", "query ids", "whole lists", "equal documents", "document ids"]
    rows = [
        _row(
            f"{pair.second} in {pair.first}",
            f"{pair.ids:,}",
            f"{pair.lists:,}",
            f"{pair.documents:,}",
            "unknown" if pair.doc_ids is None else f"{pair.doc_ids:,}",
        )
        for pair in found.overlaps
    ]
    note = "A document id that several parts share is not a leak: a document may belong to several queries."
    return Table("What parts share", headings, rows, 4, [note])


def draw(found: "Description") -> "Figure":
    """Draw labels, lengths of lists, relevant documents a query, and single features."""
    with _drawing.style():
        figure, axes = _drawing.new_figure(2, 2, 4.6, 3.3)
        _draw_labels(axes[0], found)
        _draw_counts(axes[1], found, "lengths", "documents in the list of a query")
        _draw_counts(axes[2], found, "relevant", "relevant documents of a query")
        _draw_single(axes[3], found)
    return figure


def _draw_labels(ax: "Axes", found: "Description") -> None:
    """Draw the share of each label, one bar per part."""
    labels = sorted({label for part in found.parts for label in part.labels})
    if len(labels) > MANY_LABELS:
        edges = np.linspace(labels[0], labels[-1], MANY_LABELS + 1).tolist()
        for part, colour in zip(found.parts, cycle(_drawing.COLOURS), strict=False):
            counts = np.array(list(part.labels.values())) / part.documents
            ax.hist(list(part.labels), edges, weights=counts, color=colour, histtype="step")
    else:
        width = 0.8 / len(found.parts)
        for i, part in enumerate(found.parts):
            shares = [part.labels.get(label, 0) / part.documents for label in labels]
            places = np.arange(len(labels)) + (i - (len(found.parts) - 1) / 2) * width
            ax.bar(
                places,
                shares,
                width,
                color=_drawing.COLOURS[i % len(_drawing.COLOURS)],
                label=part.name,
            )
        ax.set_xticks(range(len(labels)), [f"{label:g}" for label in labels])
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.set_xlabel("label")
    ax.set_ylabel("share of documents")
    if len(found.parts) > 1:
        ax.legend(frameon=False, fontsize=9)


def _draw_counts(ax: "Axes", found: "Description", field: str, text: str) -> None:
    """Draw the distribution of a count of each query over queries, one line per part."""
    top = max(int(getattr(part, field).max()) for part in found.parts)
    fewest = min(part.queries for part in found.parts)
    bars = min(max(int(1.5 * fewest**0.5), 8), 40)  # fewer queries make a rougher picture
    step = max(-(-(top + 1) // bars), 1)
    edges = (np.arange(0, top + step + 1, step) - 0.5).tolist()
    for part, colour in zip(found.parts, cycle(_drawing.COLOURS), strict=False):
        values = getattr(part, field)
        weights = np.full(values.size, 1 / values.size)
        ax.hist(values, edges, weights=weights, color=colour, histtype="step", linewidth=1.6)
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.set_xlabel(text)
    ax.set_ylabel("share of queries")


def _draw_single(ax: "Axes", found: "Description") -> None:
    """Draw how well each feature ranks alone, best first."""
    values = np.sort(found.single.best)[::-1]
    ax.plot(np.arange(1, values.size + 1), values, color=_drawing.COLOURS[0], linewidth=1.6)
    ax.axhline(found.single.random, color="#888888", linewidth=0.8, linestyle=":")
    if found.single.queries:
        where = ax.get_yaxis_transform()  # the width of the plot is 1
        look: dict[str, Any] = {"ha": "right", "va": "bottom", "color": "#666666", "fontsize": 8}
        ax.text(1.0, found.single.random, "random order", transform=where, **look)
    ax.set_ylim(0, 1)
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("features, the best one first")
    ax.set_ylabel(f"{found.single.metric} of one alone")


def page(found: "Description") -> str:
    """Return a page with the advice, the pictures and all tables."""
    items = "".join(f"<li>{escape(text)}</li>\n" for text in found.advice)
    label = "Labels, lengths of lists, relevant documents of a query, and single features"
    parts = [
        f"<h2>Advice</h2>\n<ul>\n{items}</ul>",
        f"<h2>Pictures</h2>\n{theme.figure_html(draw(found), 'overview', label)}",
        "<h2>Tables</h2>",
        *map(theme.table_html, tables(found)),
    ]
    return theme.render_page(found.title, "\n".join(parts))
