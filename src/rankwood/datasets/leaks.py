"""Signs that a model could know labels it must not know: single features, order of rows, shared queries."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core.rng import generator
from rankwood.data.frames import dense
from rankwood.data.ranking_data import RankingData
from rankwood.datasets.hashing import row_blocks
from rankwood.metrics.evaluate import Evaluator, named_metrics

_MOST_QUERIES = 1000  # a feature that gives labels away does so in any thousand queries
_EXPONENTIAL = 10  # the largest integer label up to which gains are 2^label - 1


class SingleFeatures(NamedTuple):
    """How well single features, and the order of the rows, rank the documents.

    Attributes
    ----------
    metric : str
        The metric: NDCG@10, in queries whose labels differ, with the worst order of ties.
    queries : int
        The number of queries it was measured on, 0 if there is none with different labels.
    random : float
        Its mean over all orders.
    best : array of float
        For each feature the larger value of both directions.
    downward : array of bool
        Whether small values of the feature come first in the better direction.
    rows : float
        Its value for the rows as they stand, or in reverse, whichever is larger.
    rows_reversed : bool
        Whether the reverse is better.
    """

    metric: str
    queries: int
    random: float
    best: np.ndarray
    downward: np.ndarray
    rows: float
    rows_reversed: bool

    def above_random(self, value: Any) -> Any:
        """Return how far a value is on the way from a random order, 0, to a perfect one, 1."""
        return (value - self.random) / (1 - self.random) if self.random < 1 else 0 * value


class Overlap(NamedTuple):
    """What two parts share.

    Attributes
    ----------
    first, second : str
        Names of the parts; counts are of the second.
    ids : int
        Queries with an id that the first part has, too.
    lists : int
        Queries with the very documents of a query of the first part, under any id.
    documents : int
        Documents with the features of one of the first part; those whose features are all 0 or missing are left out.
    doc_ids : int or None
        Documents whose comment names a document of the first part; None without comments.
    """

    first: str
    second: str
    ids: int
    lists: int
    documents: int
    doc_ids: int | None


def single_features(data: RankingData, n_jobs: int | None = None) -> SingleFeatures:
    """Rank by each feature alone, in both directions, and by the order of the rows."""
    exponential = data.y.max() <= _EXPONENTIAL and bool((data.y == np.floor(data.y)).all())
    name = "ndcg@10" if exponential else "ndcg@10(gain='linear')"
    starts, label = data.groups.ptr[:-1], data.y[data.groups.rows]
    varied = np.flatnonzero(np.maximum.reduceat(label, starts) > np.minimum.reduceat(label, starts))
    none = np.full(data.n_features, np.nan)
    if not varied.size:
        return SingleFeatures(name, 0, np.nan, none, np.zeros(none.size, bool), np.nan, False)
    chosen = generator(0).permutation(varied)[:_MOST_QUERIES]
    some = data.select(chosen)
    worst, mean = (
        Evaluator(named_metrics(name), some.y, some.groups, ties, n_jobs=n_jobs)
        for ties in ("worst", "average")
    )

    def value(scores: np.ndarray) -> float:
        return worst(scores).mean()[name]

    X = dense(some.X)
    both = np.array([[value(s) for s in _directions(X[:, j])] for j in range(X.shape[1])])
    rows = np.arange(len(some), dtype=np.float64)
    in_order, reverse = value(-rows), value(rows)
    return SingleFeatures(
        metric=name,
        queries=int(chosen.size),
        random=mean(np.zeros(len(some))).mean()[name],
        best=both.max(axis=1),
        downward=both[:, 1] > both[:, 0],
        rows=max(in_order, reverse),
        rows_reversed=reverse > in_order,
    )


def _directions(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a feature as scores, large values first and small values first; missing ones come last in both."""
    values = column.astype(np.float64)
    # Ranks instead of values: infinite values stay in order.
    rank = np.unique(values, return_inverse=True)[1].astype(np.float64)
    missing = np.isnan(values)
    return np.where(missing, -1.0, rank), np.where(missing, -1.0 - rank.size, -rank)


class Seen(NamedTuple):
    """What identifies the queries and documents of a part."""

    name: str
    ids: set[Any]
    lists: np.ndarray
    documents: np.ndarray
    doc_ids: list[str] | None


def seen(name: str, data: RankingData, hashes: np.ndarray) -> Seen:
    """Return what identifies queries and documents; `hashes` has the hash of each row."""
    groups = data.groups
    X = dense(data.X)
    some = np.zeros(len(data), bool)
    for rows in row_blocks(X):
        some[rows] = ((X[rows] != 0) & ~np.isnan(X[rows])).any(axis=1)
    lists = np.add.reduceat(hashes[groups.rows], groups.ptr[:-1])
    several = groups.sizes > 1  # one document alone is counted as a document
    doc_ids = None if data.comments is None else [text for text in data.comments.doc_ids if text]
    return Seen(name, set(groups.ids.tolist()), lists[several], hashes[some], doc_ids)


def overlap(first: Seen, second: Seen) -> Overlap:
    """Return how many queries and documents of the second part are in the first."""
    doc_ids = None
    if first.doc_ids and second.doc_ids:
        known = set(first.doc_ids)
        doc_ids = sum(text in known for text in second.doc_ids)
    return Overlap(
        first=first.name,
        second=second.name,
        ids=len(first.ids & second.ids),
        lists=int(np.isin(second.lists, first.lists).sum()),
        documents=int(np.isin(second.documents, first.documents).sum()),
        doc_ids=doc_ids,
    )
