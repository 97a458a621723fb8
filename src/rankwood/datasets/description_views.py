"""A description of a data set as tables, pictures and a page."""

from typing import TYPE_CHECKING

import numpy as np

from rankwood._util.text import plural
from rankwood.datasets.statistics import MANY_LABELS
from rankwood.render import plots, theme
from rankwood.render.curve import by_round
from rankwood.render.marks import Bars, HistogramLine, Line, Mark, Rule, colour
from rankwood.render.plots import LEGEND, Panel, PanelGrid, PlotAxis
from rankwood.render.table import Cell, Table
from rankwood.render.theme import PageSection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankwood.datasets.description import Description

_TOP = 10  # features in the table of those that rank best alone


def description_tables(description: "Description") -> list[Table]:
    """Return the tables of a description: parts, labels, features, single features, overlaps."""
    tables = [_parts(description), _labels(description), _features(description)]
    if description.single.queries:
        tables.append(_single(description))
    if description.overlaps:
        tables.append(_overlaps(description))
    return tables


def advice_table(description: "Description") -> Table:
    """Return the advice as a table of one column."""
    return Table(
        "Advice", ["what calls for attention"], [[Cell(text)] for text in description.advice], 0
    )


def _row(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def _parts(description: "Description") -> Table:
    headings = ["part", "queries", "documents", "shortest", "median", "mean", "longest"]
    headings += ["without relevant", "one label", "one document", "repeated documents"]
    rows = []
    for part in description.parts:
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
    note = (
        f"{plural(len(description.features.names), 'feature')}. Lengths of lists are in documents."
    )
    return Table("Queries and documents", headings, rows, len(headings) - 1, [note])


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})" if count else "0"


def _labels(description: "Description") -> Table:
    labels = sorted({label for part in description.parts for label in part.labels})
    if len(labels) > MANY_LABELS:
        headings = ["part", "distinct labels", "smallest", "largest"]
        rows = [
            _row(p.name, f"{len(p.labels):,}", f"{min(p.labels):g}", f"{max(p.labels):g}")
            for p in description.parts
        ]
        return Table("Labels", headings, rows, 3)
    headings = ["part", *(f"label {label:g}" for label in labels)]
    rows = [
        _row(part.name, *(f"{part.labels.get(x, 0) / part.documents:.2%}" for x in labels))
        for part in description.parts
    ]
    return Table("Labels, share of documents", headings, rows, len(labels))


def _features(description: "Description") -> Table:
    features = description.features
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


def _single(description: "Description") -> Table:
    single, names = description.single, description.features.names
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
        f"Measured on {plural(single.queries, 'query')} of {description.parts[0].name} whose labels differ; ties count "
        "as the worst case."
    )
    headings = ["feature", "first", single.metric, "from random to perfect"]
    title = "Best features, each alone"
    return Table(title, headings, rows, 2, [note], [len(rows) - 2])


def _overlaps(description: "Description") -> Table:
    headings = ["parts", "query ids", "whole lists", "equal documents", "document ids"]
    rows = [
        _row(
            f"{pair.second} in {pair.first}",
            f"{pair.ids:,}",
            f"{pair.lists:,}",
            f"{pair.documents:,}",
            "unknown" if pair.doc_ids is None else f"{pair.doc_ids:,}",
        )
        for pair in description.overlaps
    ]
    note = "A document id that several parts share is not a leak: a document may belong to several queries."
    return Table("What parts share", headings, rows, 4, [note])


def draw_description(description: "Description") -> "Figure":
    """Draw labels, lengths of lists, relevant documents per query, and single features."""
    panels = [
        _label_panel(description),
        _count_panel(description, "lengths", "documents in the list of a query"),
        _count_panel(description, "relevant", "relevant documents of a query"),
        _single_panel(description),
    ]
    return plots.draw_panels(panels, PanelGrid(4.6, 3.3, 2))


def _label_panel(description: "Description") -> Panel:
    """Return the share of each label, one bar per part."""
    parts = description.parts
    labels = sorted({label for part in parts for label in part.labels})
    marks: list[Mark] = []
    ticks = None
    if len(labels) > MANY_LABELS:
        edges = np.linspace(labels[0], labels[-1], MANY_LABELS + 1).tolist()
        for i, part in enumerate(parts):
            shares = np.array(list(part.labels.values())) / part.documents
            marks.append(HistogramLine(list(part.labels), edges, shares, colour(i), 1.0, part.name))
    else:
        width = 0.8 / len(parts)
        for i, part in enumerate(parts):
            heights = [part.labels.get(label, 0) / part.documents for label in labels]
            places = np.arange(len(labels)) + (i - (len(parts) - 1) / 2) * width
            marks.append(Bars(places, heights, width, colour(i), label=part.name))
        ticks = {float(i): f"{label:g}" for i, label in enumerate(labels)}
    return Panel(
        marks,
        PlotAxis("label", ticks=ticks),
        PlotAxis("share of documents", format="{x:.0%}"),
        legend=LEGEND if len(parts) > 1 else None,
    )


def _count_panel(description: "Description", field: str, text: str) -> Panel:
    """Return the distribution of a count of each query over queries, one line per part."""
    parts = description.parts
    top = max(int(getattr(part, field).max()) for part in parts)
    fewest = min(part.queries for part in parts)
    bars = min(max(int(1.5 * fewest**0.5), 8), 40)  # fewer queries make a rougher picture
    step = max(-(-(top + 1) // bars), 1)
    edges = (np.arange(0, top + step + 1, step) - 0.5).tolist()
    marks = []
    for i, part in enumerate(parts):
        values = getattr(part, field)
        weights = np.full(values.size, 1 / values.size)
        marks.append(HistogramLine(values, edges, weights, colour(i)))
    return Panel(marks, PlotAxis(text), PlotAxis("share of queries", format="{x:.0%}"))


def _single_panel(description: "Description") -> Panel:
    """Return how well each feature ranks alone, best first."""
    single = description.single
    values = np.sort(single.best)[::-1]
    text = "random order" if single.queries else ""
    return Panel(
        [Line(by_round("", values)), Rule(single.random, dash=":", text=text)],
        PlotAxis("features, the best one first", whole=True),
        PlotAxis(f"{single.metric} of one alone", ends=(0, 1)),
    )


def description_page(description: "Description") -> str:
    """Return a page with the advice, the pictures and all tables."""
    label = "Labels, lengths of lists, relevant documents of a query, and single features"
    figure = theme.figure_html(draw_description(description), "overview", label)
    tables = [theme.table_html(table) for table in description_tables(description)]
    sections = [
        PageSection("Advice", items=description.advice),
        PageSection("Pictures", blocks=[figure]),
        PageSection("Tables", blocks=tables),
    ]
    return theme.sections_page(description.title, sections)
