"""Cross-fitting: every query is scored by a model that was trained without it."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.progress import bar
from rankwood.data.ranking_data import RankingData

_NEW = (
    2  # training data is split by seed 0, validation data by 1: each by random numbers of its own
)


class Crossed(NamedTuple):
    """Models by fold, and for each data set the fold of each query and the score of each row."""

    rankers: list[Any]
    folds: list[np.ndarray]
    scores: list[np.ndarray]


def cross_fit(
    ranker: Any, sets: list[RankingData], folds: int, seed: int, verbose: bool | None
) -> Crossed:
    """Train a clone without each fold of the training data, and score the fold with it.

    `sets` are the training data and, if there is any, the validation data: model i is stopped by the validation
    queries that are not in fold i, and scores those that are.
    """
    crossed = Crossed(
        [],
        [split(data, folds, seed, place) for place, data in enumerate(sets)],
        [np.empty(len(data)) for data in sets],
    )
    with bar(folds, "First stage", verbose) as step:
        for i in range(folds):
            one = clone(ranker)
            if "verbose" in one.get_params(deep=False):
                one.set_params(verbose=False)  # there is one bar already
            seen = [_others(d, fold, i) for d, fold in zip(sets, crossed.folds, strict=True)]
            one.fit(seen[0], valid=seen[1] if len(seen) > 1 else None)
            for data, fold, out in zip(sets, crossed.folds, crossed.scores, strict=True):
                _score(one, data, fold == i, out)
            crossed.rankers.append(one)
            step(f"fold {i + 1} done")
    return crossed


def score_new(rankers: list[Any], data: RankingData, seed: int) -> np.ndarray:
    """Score queries that no model has seen: they are split into folds too, and fold i goes to model i."""
    fold = split(data, len(rankers), seed, _NEW)
    scores = np.empty(len(data))
    for i, ranker in enumerate(rankers):
        _score(ranker, data, fold == i, scores)
    return scores


def split(data: RankingData, folds: int, seed: int, place: int) -> np.ndarray:
    """Return a random fold of each query; folds are of equal size, or one query apart."""
    queries = np.arange(data.groups.ids.size)
    return np.random.default_rng([seed, place]).permutation(queries % folds)


def _others(data: RankingData, fold: np.ndarray, i: int) -> RankingData:
    """Return the queries that are not in fold i; all of them if there is one fold only."""
    return data if fold.max() == 0 else data.select(fold != i)


def _score(ranker: Any, data: RankingData, here: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` with the scores of the queries where a mask is true."""
    if here.any():
        rows = data.groups.per_row(here)
        found = ranker.predict(data.select(here))
        out[rows] = checks.vector(found, "first-stage scores", int(rows.sum()))
