"""The queries of a page: which to show, and the documents of each as the models ranked them."""

from typing import NamedTuple

import numpy as np

from rankwood._util.text import shortened
from rankwood.metrics.evaluation import Evaluation
from rankwood.report.movers import QueryTable, movers, worst
from rankwood.report.page.documents import Documents
from rankwood.report.page.outcome import PageOutcome, Pair

TOP = 8  # queries of each table of the best and the worst
MOST_ROWS = 1000  # queries of the long table
_ROW_CELLS = 10_000  # cells of the long table
MOST_ENTRIES = 200  # queries with their documents
DOCUMENTS = 20  # documents of an entry
_CELLS = 32_000  # cells of all entries together, which keeps a page of many models small
_LONGEST = 120  # characters of a comment


class DocumentRow(NamedTuple):
    """A document of a query, with its rank (0 if it has none) and its score by model."""

    name: str
    label: float
    ranks: list[int]
    scores: list[float]


class Entry(NamedTuple):
    """A query with the documents that models rank highest, and relevant ones."""

    query: int
    qid: str
    n_documents: int
    n_relevant: int
    values: list[float]  # of the first metric, by shown model
    documents: list[DocumentRow]


class QueryRow(NamedTuple):
    """A query in the long table; sizes are None if the documents aren't known."""

    query: int
    qid: str
    n_documents: int | None
    n_relevant: int | None
    values: list[float]
    gains: list[float]  # by pair


class Queries(NamedTuple):
    """Tables of a few queries by their title, the long table, and entries."""

    tables: list[QueryTable]
    rows: list[QueryRow]
    entries: list[Entry]
    scored: list[int]  # models with scores, which entries show


def queries_of(outcome: PageOutcome, documents: Documents | None) -> Queries:
    """Choose the queries to show: those that gained, lost and did worst come first."""
    at = positions(outcome, documents)
    tables = _short_tables(outcome, documents, at)
    place = {str(q): i for i, q in enumerate(outcome.ids.tolist())}
    named = dict.fromkeys(place[str(q)] for table in tables for q in table.rows["qid"].tolist())
    order = [*named, *(q for q in _by_interest(outcome) if q not in named)]
    n_rows = max(200, min(MOST_ROWS, _ROW_CELLS // (3 + 2 * len(outcome.models))))
    gains = np.array([pair.gain for pair in outcome.pairs]).reshape(-1, outcome.ids.size)
    rows = [
        _row(q, int(at[q]), outcome, documents, gains[:, q].tolist())
        for q in sorted(order[:n_rows])
    ]
    if documents is None:
        return Queries(tables, rows, [], [])
    scored = [i for i in outcome.shown if not np.isnan(documents.scores[i]).all()]
    if not scored:
        return Queries(tables, rows, [], [])
    most = max(40, min(MOST_ENTRIES, _CELLS // (DOCUMENTS * (2 + 2 * len(scored)))))
    chosen = sorted(order[: max(most, len(named))])
    entries = [_entry(q, int(at[q]), outcome, documents, scored) for q in chosen if at[q] >= 0]
    return Queries(tables, rows, entries, scored)


def positions(outcome: PageOutcome, documents: Documents | None) -> np.ndarray:
    """Return for each query of the outcome its position among those of the documents, -1 if it isn't there."""
    known = [] if documents is None else documents.groups.ids.tolist()
    place = {str(q): i for i, q in enumerate(known)}
    return np.array([place.get(str(q), -1) for q in outcome.ids.tolist()])


def _short_tables(
    outcome: PageOutcome, documents: Documents | None, at: np.ndarray
) -> list[QueryTable]:
    """Return the tables of the largest gains and losses of each pair, and of the worst queries of each model."""
    tables = [t for pair in outcome.shown_pairs for t in _gains_and_losses(outcome, pair)]
    nothing_relevant = np.zeros(at.size, bool)
    if documents is not None:
        nothing_relevant = (at >= 0) & (documents.relevant[at] == 0)
    tables += [_worst(outcome, i, nothing_relevant) for i in outcome.shown]
    return [table for table in tables if table.rows.size]


def _gains_and_losses(outcome: PageOutcome, pair: Pair) -> list[QueryTable]:
    """Return the queries that gain most from one model to another, and those that lose most."""
    metric = outcome.metrics[0]
    before, after = (
        Evaluation(outcome.ids, {metric: values}, {}) for values in (pair.others, pair.values)
    )
    names = (pair.against, pair.name)
    found = movers(before, after, metric, outcome.ids.size, names)
    upward = found.rows["difference"] * outcome.sign > 0
    change = f"from {pair.against} to {pair.name}"
    return [
        QueryTable(found.rows[chosen][:TOP], f"{title} of {metric} {change}", found.headings)
        for title, chosen in (("Largest gains", upward), ("Largest losses", ~upward))
    ]


def _worst(outcome: PageOutcome, model: int, left_out: np.ndarray) -> QueryTable:
    """Return the worst queries of a model among those that are not left out."""
    name, metric = outcome.models[model], outcome.metrics[0]
    values = np.where(left_out, np.nan, outcome.values[model, 0])
    return worst(Evaluation(outcome.ids, {metric: values}, {}), metric, TOP, name)


def _by_interest(outcome: PageOutcome) -> list[int]:
    """Return all queries: those with the largest change first, or the worst if there is nothing to compare with."""
    if outcome.pairs:
        gains = np.array([np.nan_to_num(pair.gain) for pair in outcome.pairs])
        return np.argsort(-np.abs(gains).max(axis=0), kind="stable").tolist()
    return np.argsort(outcome.sign * outcome.values[0, 0], kind="stable").tolist()


def _row(
    q: int, at: int, outcome: PageOutcome, documents: Documents | None, gains: list[float]
) -> QueryRow:
    """Return a query of the long table; `at` is its position among the documents' queries, or -1."""
    sizes: tuple[int | None, int | None] = (None, None)
    if documents is not None and at >= 0:
        sizes = int(documents.groups.sizes[at]), int(documents.relevant[at])
    return QueryRow(q, str(outcome.ids[q]), *sizes, outcome.values[:, 0, q].tolist(), gains)


def _entry(q: int, at: int, outcome: PageOutcome, documents: Documents, scored: list[int]) -> Entry:
    """Return a query with its documents, in the order of the first model that has scores."""
    rows = documents.rows(at)
    ranks = documents.ranks[scored][:, rows]
    placed = np.where(ranks > 0, ranks, rows.size + 1)
    first = placed.min(axis=0)
    # The head of each ranking and relevant documents go before the rest.
    interest = np.lexsort((placed[0], first, ~((first <= 10) | (documents.label[rows] > 0))))
    shown = interest[:DOCUMENTS]
    shown = shown[np.lexsort((shown, placed[0, shown]))]
    made = [
        DocumentRow(
            shortened(documents.name(int(rows[i])), _LONGEST),
            float(documents.label[rows[i]]),
            ranks[:, i].tolist(),
            documents.scores[scored, rows[i]].tolist(),
        )
        for i in shown
    ]
    return Entry(
        q,
        str(outcome.ids[q]),
        rows.size,
        int(documents.relevant[at]),
        outcome.values[outcome.shown, 0, q].tolist(),
        made,
    )
