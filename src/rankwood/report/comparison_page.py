"""The HTML page of a comparison: its tables, pictures of queries, and the worst queries."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankwood.render import html
from rankwood.render.svg import SvgFrame, histogram_svg, scatter_svg
from rankwood.render.table import Table
from rankwood.report.comparison import view
from rankwood.report.comparison.per_query import PerQuery, histogram, query_values

if TYPE_CHECKING:
    from rankwood.report.comparison.comparison import Comparison

MOST_MODELS = 6  # whose queries are drawn
TITLE = "Comparison of models"


def comparison_page(
    comparison: "Comparison", digits: int, worst: int, more: Iterable[Table] = ()
) -> str:
    """Return the whole page; `worst` queries of each model are listed, and `more` tables come last."""
    first = html.body(view.tables(comparison, digits, True))
    tables = [comparison.worst(m, top=worst).table(digits) for m in comparison.models if worst]
    base = comparison.rules["baseline"]
    others = [model for model in comparison.models if model != base][:MOST_MODELS]
    note = (
        f"A point is a query; green ones are better than those of {base}, orange ones worse. The "
        "histogram has the queries that differ, by their difference."
    )
    figures = [_pictures(query_values(comparison, model, base)) for model in others]
    inner = first + html.pictures(figures, note) + html.side_by_side(tables) + html.body(more)
    return html.whole_page(TITLE, inner)


def _pictures(queries: PerQuery) -> tuple[str, str]:
    """Return a scatter and a histogram of a model against the baseline, by the first metric."""
    metric, model, against = queries.metric, queries.model, queries.against
    bins = histogram(queries.differences)
    title = f"{metric} of each query"
    points = SvgFrame(title, f"{metric}, {against}", f"{metric}, {model}")
    bars = SvgFrame(queries.text, f"{metric}, {model} − {against}", "queries")
    gains = queries.differences * queries.better
    return (
        scatter_svg(points, queries.ids, queries.others, queries.values, gains),
        histogram_svg(bars, bins.edges, bins.counts, queries.better),
    )
