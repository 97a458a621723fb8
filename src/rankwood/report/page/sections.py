"""The sections of a report page: findings as tables, figures and sentences, rendered by templates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwood._util.text import plural
from rankwood.render import theme
from rankwood.render.marks import colour
from rankwood.report.page import figures, tables
from rankwood.report.page.findings import Findings
from rankwood.report.page.queries import Queries
from rankwood.report.page.training import Importance, StageCurve
from rankwood.report.plots import SHARES

if TYPE_CHECKING:
    from markupsafe import Markup


class Section(NamedTuple):
    """A part of the page: an id, a title, a sentence or two, and what is below them."""

    id: str
    title: str
    text: str
    blocks: "list[Markup]"


def render(found: Findings, title: str) -> str:
    """Return the whole page."""
    made = [
        _metrics(found),
        _curves(found),
        _scatters(found),
        _queries(found),
        _breakdown(found),
        _importance(found),
        _objectives(found),
        _provenance(found),
    ]
    shown = [section for section in made if section is not None]
    body = theme.render("report.html.j2", sections=shown)
    contents = [(section.id, section.title) for section in shown]
    return theme.render_page(title, body, subtitle=_subtitle(found), contents=contents)


def _subtitle(found: Findings) -> str:
    sizes = [plural(len(found.outcome.models), "model"), plural(found.outcome.ids.size, "query")]
    if found.n_documents is not None:
        sizes.append(plural(found.n_documents, "document"))
    return ", ".join(sizes)


def _metrics(found: Findings) -> Section:
    made = [tables.means(found.outcome), tables.differences(found.outcome)]
    if found.training_means:
        made.append(tables.training_means(found.training_means))
    blocks = [theme.table_html(table) for table in made if table is not None]
    text = "" if len(found.outcome.models) > 1 else _between_bounds(found)
    return Section("metrics", "Metrics", text, blocks)


def _between_bounds(found: Findings) -> str:
    """Return how far one model has come from a random order to the perfect one."""
    metric = found.outcome.metrics[0]
    means = [m.mean for m in found.outcome.means if m.metric == metric]
    if len(means) < 3 or not abs(means[1] - means[2]) > 0:
        return ""
    own, best, chance = means[:3]
    share = (own - chance) / (best - chance)
    return (
        f"By {metric} the model has come {100 * share:.0f} % of the way from a random order ({chance:.4f}) "
        f"to the perfect one ({best:.4f})."
    )


def _curves(found: Findings) -> Section | None:
    if not found.curves:
        return None
    text = "Metrics on the validation data after each round; a point marks the round that was kept."
    return Section("curves", "Learning curves", text, _curve_figures(found.curves, "curve"))


def _curve_figures(curves: Mapping[str, Sequence[StageCurve]], name: str) -> "list[Markup]":
    """Return a legend and a figure for each curve."""
    pictures = [
        theme.figure_html(figures.curve_figure(key, drawn), f"{name}{i}", f"{key} by round")
        for i, (key, drawn) in enumerate(curves.items())
    ]
    stages = dict.fromkeys(
        (stage.name, stage.model, stage.first, len(stage.results))
        for drawn in curves.values()
        for stage, _ in drawn
    )
    legend = [
        (f"{stage} ({n} models)" if n > 1 else stage, model, first)
        for stage, model, first, n in stages
    ]
    return [_legend(legend), theme.figures_html(pictures)]


def _legend(entries: Iterable[tuple[str, int, bool]]) -> "Markup":
    """Return names with the colours of their models; pale ones are first stages."""
    rows = [(name, theme.COLOURS[colour(i).lower()], pale) for name, i, pale in entries]
    return theme.fragment("legend.html.j2", entries=rows)


def _model_legend(found: Findings, chosen: Iterable[int]) -> "list[Markup]":
    names = found.outcome.models
    return [_legend([(names[i], i, False) for i in chosen])] if len(names) > 1 else []


def _scatters(found: Findings) -> Section | None:
    outcome = found.outcome
    if not outcome.pairs:
        return None
    links = _links(found.queries)
    made, drawn = [], outcome.ids.size
    shown = outcome.shown_pairs
    for i, pair in enumerate(shown):
        points = figures.points_of(pair, len(shown))
        drawn = min(drawn, points.size)
        figure = figures.scatter(pair, outcome.metrics[0], links, points)
        titles = {
            links[q]: f"query {outcome.ids[q]}: {pair.others[q]:.4f} → {pair.values[q]:.4f}"
            for q in points.tolist()
            if q in links
        }
        label = (
            f"{outcome.metrics[0]} of {pair.name} against {pair.against}, a point for each query"
        )
        made.append(theme.figure_html(figure, f"scatter{i}", label, titles=titles))
    better = "above" if outcome.sign > 0 else "below"
    text = f"Each point is a query; those {better} the line have gained. Click on a point to go to the query."
    if drawn < outcome.ids.size:
        text += f" {drawn:,} of {outcome.ids.size:,} queries are drawn."
    if len(links) < outcome.ids.size:
        text += f" The {len(links):,} queries of the tables below can be clicked on."
    if len(shown) < len(outcome.pairs):
        text += f" The first {len(shown)} of {len(outcome.pairs)} models are shown here and below."
    blocks = [*_model_legend(found, [p.model for p in shown]), theme.figures_html(made)]
    return Section("scatter", "Query by query", text, blocks)


def _links(found: Queries) -> dict[int, str]:
    """Return the place of each query on the page: its entry, else its row in the long table."""
    return {row.query: f"r-{row.query}" for row in found.rows} | {
        entry.query: f"q-{entry.query}" for entry in found.entries
    }


def _queries(found: Findings) -> Section:
    queries, outcome = found.queries, found.outcome
    by_id = {entry.qid: f"q-{entry.query}" for entry in queries.entries}
    links = {row.qid: f"r-{row.query}" for row in queries.rows} | by_id
    short = [theme.table_html(tables.few_queries(table, links)) for table in queries.tables]
    text = "Click on a query to see its documents."
    if found.n_documents is not None:
        text += " Queries without relevant documents are omitted from the worst, since no order of them is better."
    rows = [f"r-{row.query}" for row in queries.rows]
    everything = theme.table_html(
        tables.all_queries(queries, outcome, by_id), caption=False, row_ids=rows
    )
    entries = [
        (entry, theme.table_html(tables.entry(entry, queries.scored, outcome), caption=False))
        for entry in queries.entries
    ]
    block = theme.fragment(
        "queries.html.j2",
        short=theme.columns_html(short),
        everything=everything,
        shown=len(rows),
        total=int(outcome.ids.size),
        metric=outcome.metrics[0],
        models=[outcome.models[i] for i in outcome.shown],
        entries=entries,
    )
    return Section("queries", "Best and worst queries", text, [block])


def _breakdown(found: Findings) -> Section | None:
    outcome, metric = found.outcome, found.outcome.metrics[0]
    if found.by_label is None:
        return None
    made, blocks = [], []
    if found.by_label.models:
        figure = figures.bars_by_label(found.by_label)
        label = f"NDCG@{found.by_label.k} by label"
        note = "Grey lines: the best possible order."
        made.append(theme.figure_html(figure, "labels", label, note))
        blocks.append(theme.table_html(tables.by_label(found.by_label, outcome)))
    kinds = [
        ("lengths", "list length", "documents of the query", found.by_length),
        (
            "relevant",
            "number of relevant documents",
            "relevant documents of the query",
            found.by_relevant,
        ),
    ]
    against = outcome.pairs[0].against if outcome.pairs else ""
    for name, what, axis, bins in kinds:
        if outcome.pairs:
            figure = figures.intervals(f"{metric}, gain over {against}", axis, bins, outcome)
            made.append(theme.figure_html(figure, name, f"{metric} by {what}"))
        table = tables.by_kind(f"{metric} by {what}", axis, bins, outcome)
        blocks.append(theme.table_html(table))
    legend = _model_legend(found, range(len(outcome.models)))
    text = "Which labels the metric comes from, and which queries gain or lose. Vertical lines are 95 % intervals."
    return Section(
        "breakdown", "Where it is won and lost", text, [*legend, theme.figures_html(made), *blocks]
    )


def _importance(found: Findings) -> Section | None:
    own, more = found.importance, found.contributions
    if own is None or not own.features:
        return None
    blocks = [_shares(own, "importance")]
    later = [*own.models[1:], -1]
    legend = [
        (name, model, following == model)
        for name, model, following in zip(own.stages, own.models, later, strict=True)
    ]
    if len(legend) > 1:
        blocks.insert(0, _legend(legend))
    text = ""
    if more is not None and more.features:
        blocks.append(_shares(more, "contributions"))
        text = (
            "The gain is by how much splits lowered the loss in training. Contributions are what features do to the "
            "scores of test documents: mean sizes of SHAP values, less their means over the query."
        )
    return Section("features", "Feature importance", text, blocks)


def _shares(found: Importance, name: str) -> "Markup":
    """Return shares of features as a picture and a table."""
    figure = theme.figure_html(figures.importance(found), name, f"Shares of {found.what}")
    return theme.columns_html([figure, theme.table_html(tables.importance(found), caption=False)])


def _objectives(found: Findings) -> Section | None:
    records = {name: found.records[name] for name in SHARES if name in found.records}
    if not found.objectives and not records:
        return None
    blocks = _curve_figures(records, "record") if records else []
    if found.objectives:
        blocks.append(theme.table_html(tables.objectives(found.objectives)))
        names = [(use.stage, use.objective) for use in found.objectives]
        blocks.append(theme.fragment("facts.html.j2", rows=names, heads=("model", "objective")))
    text = "Recorded during training, round by round." if records else ""
    return Section("objective", "What the objective did", text, blocks)


def _provenance(found: Findings) -> Section:
    own = found.provenance
    blocks = []
    for rows, title in ((own.facts, "Models"), (own.parameters, "Parameters")):
        if rows:
            values: dict[str, Any] = {"models": own.models, "rows": rows, "title": title}
            blocks.append(theme.fragment("parameters.html.j2", **values))
    for rows_, heads in (
        (own.rules, ("data and metrics", "")),
        (own.versions, ("program", "version")),
    ):
        blocks.append(theme.fragment("facts.html.j2", rows=rows_, heads=heads))
    return Section("parameters", "Parameters and versions", "", blocks)
