"""How well single features, and the order of the rows, rank the documents: some give the labels away."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import generator
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.frames import dense
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


def varied_queries(data: Source) -> np.ndarray:
    """Return which queries have different labels: in the others every order is as good."""
    starts, label = data.groups.ptr[:-1], data.y[data.groups.rows]
    return np.maximum.reduceat(label, starts) > np.minimum.reduceat(label, starts)


def single_features(
    data: RankingData,
    n_jobs: int | None = None,
    most: int = _MOST_QUERIES,
    columns: np.ndarray | None = None,
) -> SingleFeatures:
    """Rank by each feature alone, in both directions, and by the order of the rows.

    Queries are drawn if more than `most` have different labels; other features than `columns` are omitted.
    """
    exponential = data.y.max() <= _EXPONENTIAL and bool((data.y == np.floor(data.y)).all())
    name = "ndcg@10" if exponential else "ndcg@10(gain='linear')"
    varied = np.flatnonzero(varied_queries(data))
    columns = np.arange(data.n_features) if columns is None else columns
    none = np.full(columns.size, np.nan)
    if not varied.size:
        return SingleFeatures(name, 0, np.nan, none, np.zeros(none.size, bool), np.nan, False)
    chosen = generator(0).permutation(varied)[:most]
    some = data.select(chosen)
    worst, mean = (
        Evaluator(named_metrics(name), some.y, some.groups, ties, n_jobs=n_jobs)
        for ties in ("worst", "average")
    )

    def value(scores: np.ndarray) -> float:
        return worst(scores).mean()[name]

    X = dense(some.X[:, columns])
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
