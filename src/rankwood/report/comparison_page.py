"""The HTML page of a comparison: its tables, pictures of queries, and the worst queries."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from rankwood._core.text import printable
from rankwood.report import html, view
from rankwood.report.per_query import query_values
from rankwood.report.query_svg import histogram_svg, scatter_svg
from rankwood.report.table import Table

if TYPE_CHECKING:
    from rankwood.report.comparison import Comparison

MOST_MODELS = 6  # whose queries are drawn
TITLE = "Comparison of models"


def comparison_page(
    comparison: "Comparison", digits: int, worst: int, more: Iterable[Table] = ()
) -> str:
    """Return the whole page; `worst` queries of each model are listed, and `more` tables come last."""
    first = html.body(view.tables(comparison, digits, True))
    tables = [comparison.worst(m, top=worst).table(digits) for m in comparison.models if worst]
    lists = f'<div class="columns">\n{html.body(tables)}</div>\n' if tables else ""
    return html.whole_page(TITLE, first + _pictures(comparison) + lists + html.body(more))


def _pictures(comparison: "Comparison") -> str:
    """Return a scatter and a histogram of each model against the baseline, by the first metric."""
    base = comparison.rules["baseline"]
    others = [model for model in comparison.models if model != base][:MOST_MODELS]
    parts = []
    for model in others:
        found = query_values(comparison, model, base)
        parts.append(f"<figure>{scatter_svg(found)}{histogram_svg(found)}</figure>\n")
    note = (
        f"A point is a query; green ones are better than those of {escape(printable(base))}, orange ones worse. The "
        "histogram has the queries that differ, by their difference."
    )
    return f'<div class="pictures">\n{"".join(parts)}</div>\n<p>{note}</p>\n' if parts else ""
