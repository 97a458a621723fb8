"""Cross-fitting: every query is scored by a model that was trained without it."""

import hashlib
from enum import IntEnum
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwood._core import checks
from rankwood._core.progress import bar
from rankwood._core.rng import generator
from rankwood.data.frames import dense
from rankwood.data.ranking_data import RankingData

_FINGERPRINT_ROWS = 64  # rows whose features are part of a fingerprint


class Stream(IntEnum):
    """Streams of random numbers, one for each data set that is split; ties at the cutoff have stream 3."""

    TRAIN = 0
    VALID = 1
    UNSEEN = 2


class CrossFit(NamedTuple):
    """Models by fold, and for each data set the fold of each query and the score of each row."""

    rankers: list[Any]
    folds: list[np.ndarray]
    scores: list[np.ndarray]
    #: A digest of each data set, to recognise it by.
    fingerprints: list[str]
    seconds: float
    #: A model of all training queries, for new ones; None unless it was wanted.
    refit: Any = None


def cross_fit(
    ranker: Any,
    sets: list[RankingData],
    folds: int,
    seed: int,
    verbose: bool | None,
    refit: bool = False,
) -> CrossFit:
    """Train a clone without each fold of the training data, and score the fold with it.

    `sets` are the training data and, if there is any, the validation data: model i is stopped by the validation
    queries that are not in fold i, and scores those that are. With `refit`, one more clone is trained on everything.
    """
    start = perf_counter()
    rankers: list[Any] = []
    streams = (Stream.TRAIN, Stream.VALID)
    fold_of = [cross_fit_folds(data, folds, seed, streams[i]) for i, data in enumerate(sets)]
    scores = [np.empty(len(data)) for data in sets]
    whole = None
    with bar(folds + refit, "First stage", verbose) as advance:
        for i in range(folds):
            others = [without_fold(*both, i) for both in zip(sets, fold_of, strict=True)]
            model = fit_quietly(ranker, others)
            for data, fold, out in zip(sets, fold_of, scores, strict=True):
                score_queries(model, data, fold == i, out)
            rankers.append(model)
            advance(f"fold {i + 1} done")
        if refit:
            whole = fit_quietly(ranker, sets)
            advance("model of all folds done")
    fingerprints = [fingerprint(data) for data in sets]
    return CrossFit(rankers, fold_of, scores, fingerprints, perf_counter() - start, whole)


def fit_quietly(ranker: Any, sets: list[RankingData]) -> Any:
    """Train a clone that shows no progress: the bar over folds is enough."""
    model = clone(ranker)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)
    model.fit(sets[0], valid=sets[1] if len(sets) > 1 else None)
    return model


def cross_fit_folds(data: RankingData, folds: int, seed: int, stream: Stream) -> np.ndarray:
    """Return a random fold for each query; the sizes of two folds differ by one query at most."""
    queries = np.arange(data.groups.ids.size)
    return generator(seed, int(stream)).permutation(queries % folds)


def without_fold(data: RankingData, fold: np.ndarray, i: int) -> RankingData:
    """Return the queries that are not in fold i, or all queries if there is one fold only."""
    return data if fold.max() == 0 else data.select(fold != i)


def score_queries(ranker: Any, data: RankingData, mask: np.ndarray, scores: np.ndarray) -> None:
    """Write the scores of the queries where a mask is true into `scores`."""
    if mask.any():
        rows = data.groups.per_row(mask)
        found = ranker.predict(data.select(mask))
        scores[rows] = checks.vector(found, "first-stage scores", int(rows.sum()))


def fingerprint(data: RankingData) -> str:
    """Return a digest of the labels, the queries and the features of some rows, to recognise data by."""
    some = np.unique(np.linspace(0, len(data) - 1, _FINGERPRINT_ROWS).astype(np.int64))
    digest = hashlib.blake2b(digest_size=16)
    for array in (data.y, data.groups.ptr, data.groups.rows, dense(data.X[some])):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
