"""The tables of a page: findings as text cells."""

import math
from collections.abc import Sequence
from dataclasses import replace

from rankwood.render.axis import axis_of
from rankwood.render.table import Cell, Span, Table
from rankwood.report.comparison import view
from rankwood.report.movers import QueryTable
from rankwood.report.page.breakdown import Bin, ByLabel
from rankwood.report.page.outcome import LEVEL, PageOutcome, TrainingMean
from rankwood.report.page.queries import Entry, Queries
from rankwood.report.page.training import Importance, ObjectiveUse

DIGITS = 4
_INTERVAL = f"± is half the width of Student's {100 * LEVEL:g} % interval of the mean over queries."
_BOUNDS = (
    "The perfect model orders documents by their labels, and the random model is the mean over all orders; "
    "no model can be better than the former."
)


def means(outcome: PageOutcome) -> Table:
    """Return means with intervals: a row per model, a column per metric; marks say what is significant."""
    half = {(m.model, m.metric): (m.high - m.low) / 2 for m in outcome.means if not m.bound}
    found = outcome.comparison
    made = _alone(outcome) if found is None else view.summary(found, DIGITS)
    names = list(dict.fromkeys(m.model for m in outcome.means))
    rows = []
    for name, row in zip(names, made.rows, strict=True):
        cells = [
            replace(cell, text=_with_interval(cell.text, half.get((name, metric), math.nan)))
            for metric, cell in zip(outcome.metrics, row[-len(outcome.metrics) :], strict=True)
        ]
        rows.append([*row[: -len(outcome.metrics)], *cells])
    bounds = [_BOUNDS] if any(m.bound for m in outcome.means) else []
    return replace(made, rows=rows, notes=[*made.notes, _INTERVAL, *bounds])


def _alone(outcome: PageOutcome) -> Table:
    """Return the means of one model and its bounds."""
    by_name: dict[str, list[Cell]] = {}
    for mean in outcome.means:
        row = by_name.setdefault(mean.model, [Cell(mean.model)])
        row.append(Cell(view.format_number(mean.mean, DIGITS)))
    arrows = [m if outcome.better[m] > 0 else f"{m} ↓" for m in outcome.metrics]
    breaks = [1] if len(by_name) > 1 else []
    return Table(
        "Means over queries", ["model", *arrows], list(by_name.values()), len(arrows), (), breaks
    )


def _with_interval(text: str, half: float) -> str:
    return text if math.isnan(half) else f"{text} ± {half:.{DIGITS}f}"


def differences(outcome: PageOutcome) -> Table | None:
    """Return the tests of all models against the baseline; None if there is one model."""
    return None if outcome.comparison is None else view.differences(outcome.comparison, DIGITS)


def training_means(rows: Sequence[TrainingMean]) -> Table:
    """Return means on the training data beside those on the test data."""
    cells = [
        [
            Cell(row.model),
            Cell(row.metric),
            *(Cell(view.format_number(x, DIGITS)) for x in (row.train, row.test)),
            Cell(view.format_number(row.test - row.train, DIGITS, sign=True)),
        ]
        for row in rows
    ]
    note = "A model that is much better on the training data than on the test data has overfitted."
    headings = ["model", "metric", "training data", "test data", "difference"]
    return Table("Training data against test data", headings, cells, 3, [note])


def by_label(found: ByLabel, outcome: PageOutcome) -> Table:
    """Return what each label adds to NDCG, and the mean rank of its documents."""
    names = [outcome.models[i] for i in found.models]
    headings = ["label", "documents", *names, "ideal", *(f"rank, {name}" for name in names)]
    rows = [
        [
            Cell(row.label),
            Cell(f"{row.documents:,}"),
            *(Cell(view.format_number(x, DIGITS)) for x in (*row.parts, row.ideal)),
            *(Cell(view.format_number(x, 1)) for x in row.mean_ranks),
        ]
        for row in found.rows
    ]
    note = (
        f"Columns of models: what documents with this label add to the mean NDCG@{found.k} (gain 2^label - 1, equal "
        "scores ranked with less relevant documents first); ideal: what they would add in the best order. "
        "Rank: the mean rank of these documents."
    )
    title = f"NDCG@{found.k} by label"
    return Table(title, headings, rows, len(headings) - 1, [note])


def by_kind(title: str, heading: str, bins: Sequence[Bin], outcome: PageOutcome) -> Table:
    """Return means of queries by kind, and the differences of pairs with their intervals."""
    pairs = outcome.pairs
    against = [pair.name for pair in pairs]
    headings = [heading, "queries", *outcome.models]
    headings += [f"{name} - {pair.against}" for name, pair in zip(against, pairs, strict=True)]
    axes = [
        axis_of([0.0, *(x for one in bins for x in one.differences[i])]) for i in range(len(pairs))
    ]
    rows = [
        [
            Cell(one.label),
            Cell(f"{one.queries:,}"),
            *(Cell(view.format_number(x, DIGITS)) for x in one.means),
            *(
                Cell(
                    view.format_number(difference, DIGITS, sign=True),
                    span=Span(low, difference, high, axes[i], outcome.sign, one is bins[-1]),
                )
                for i, (difference, low, high) in enumerate(one.differences)
            ),
        ]
        for one in bins
    ]
    return Table(title, headings, rows, len(headings) - 1)


def few_queries(table: QueryTable, links: dict[str, str]) -> Table:
    """Return a short table of queries whose ids are links to their entries."""
    made = table.table(DIGITS)
    rows = [[replace(row[0], link=links.get(row[0].text, "")), *row[1:]] for row in made.rows]
    return replace(made, rows=rows)


def all_queries(found: Queries, outcome: PageOutcome, links: dict[str, str]) -> Table:
    """Return the long table of queries."""
    sized = any(row.n_documents is not None for row in found.rows)
    headings = ["query", *(["documents", "relevant"] if sized else []), *outcome.models]
    headings += [f"{pair.name} - {pair.against}" for pair in outcome.pairs]
    rows = []
    for row in found.rows:
        sizes = [row.n_documents, row.n_relevant] if sized else []
        rows.append(
            [
                Cell(row.qid, link=links.get(row.qid, "")),
                *(Cell("-" if size is None else f"{size:,}") for size in sizes),
                *(Cell(view.format_number(x, DIGITS)) for x in row.values),
                *(Cell(view.format_number(x, DIGITS, sign=True)) for x in row.gains),
            ]
        )
    title = f"{outcome.metrics[0]} by query"
    return Table(title, headings, rows, len(headings) - 1)


def entry(found: Entry, scored: Sequence[int], outcome: PageOutcome) -> Table:
    """Return the documents of a query: ranks and scores of all models that have them."""
    named = any(document.name for document in found.documents)
    names = [outcome.models[i] for i in scored]
    headings = [f"rank, {name}" for name in names] if len(names) > 1 else ["rank"]
    headings += ["label", *([f"score, {n}" for n in names] if len(names) > 1 else ["score"])]
    headings = [*(["document"] if named else []), *headings]
    rows = [
        [
            *([Cell(document.name)] if named else []),
            *(Cell(str(rank) if rank else "-") for rank in document.ranks),
            Cell(f"{document.label:g}", bold=document.label > 0),
            *(Cell("-" if math.isnan(s) else f"{s:.4g}") for s in document.scores),
        ]
        for document in found.documents
    ]
    shown, everything = len(found.documents), found.n_documents
    note = [f"{shown} of {everything:,} documents are shown."] if shown < everything else []
    title = f"Documents of query {found.qid}"
    return Table(title, headings, rows, len(headings) - named, note)


def importance(found: Importance) -> Table:
    """Return the shares by feature and stage."""
    rows = [
        [Cell(name), *(Cell("-" if math.isnan(x) else f"{100 * x:.1f} %") for x in shares)]
        for name, shares in zip(found.features, found.shares.tolist(), strict=True)
    ]
    note = f"Shares of {found.what} of a model."
    if len(rows) < found.n_features:
        note += (
            f" The {len(rows)} most important of {found.n_features:,} features in use are shown."
        )
    headings = ["feature", *found.stages]
    return Table("Feature importance", headings, rows, len(found.stages), [note])


def objectives(uses: Sequence[ObjectiveUse]) -> Table:
    """Return what objectives do at the scores of their models."""
    headings = ["model", "data", "queries", "effective pairs", "incoherent", "false over missed"]
    rows = [
        [
            Cell(use.stage),
            Cell(use.data),
            Cell(f"{use.queries:,}"),
            *(
                Cell("-" if x is None else f"{100 * x:.1f} %")
                for x in (use.effective_pairs, use.incoherent, use.false_over_missed)
            ),
        ]
        for use in uses
    ]
    notes = [
        "Effective pairs: the share of all pairs of documents whose weight is not 0.",
        "Incoherent: the share of queries in which a document is pushed up less than a less relevant one ranked above "
        "it.",
        "False over missed: the share of queries with such a pair in which the less relevant document should not be "
        "within the cutoff, and the other one should.",
        *(f"{use.stage}: {use.note}" for use in uses if use.note),
    ]
    return Table("What the objective does at the final scores", headings, rows, 4, notes)
