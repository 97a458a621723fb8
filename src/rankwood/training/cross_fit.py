"""Cross-fitting: every query is scored by a model that was trained without it."""

import hashlib
from collections.abc import Sequence
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
from rankwood.training.context import Callback, FitContext
from rankwood.training.estimator import RankingEstimator
from rankwood.training.inputs import ValidationSets

_FINGERPRINT_ROWS = 64  # rows whose features are part of a fingerprint


class Stream(IntEnum):
    """Streams of random numbers, one for each data set that is split; ties at the cutoff have stream 3."""

    TRAIN = 0
    VALID = 1
    UNSEEN = 2
    MORE_VALID = 4


class Watched(NamedTuple):
    """What watches the first stage: a progress bar, and callbacks."""

    verbose: bool | None
    callbacks: Sequence[Callback] = ()


class CrossFit(NamedTuple):
    """Models by fold, and for each data set the fold of each query and the score of each row."""

    rankers: list[Any]
    folds: list[np.ndarray]
    scores: list[np.ndarray]
    #: A digest of each data set, to recognise it by.
    fingerprints: list[str]
    seconds: float


def cross_fit(
    ranker: Any,
    train: RankingData,
    valid: ValidationSets | None,
    folds: int,
    seed: int,
    watched: Watched,
) -> CrossFit:
    """Train a clone without each fold of the training data, and score the fold with it.

    Model i is stopped by the validation queries that are not in fold i, and scores those that are.
    """
    names = [] if valid is None else list(valid.by_name)
    sets = [train] if valid is None else [train, *valid.by_name.values()]
    start = perf_counter()
    rankers: list[Any] = []
    fold_of = [cross_fit_folds(data, folds, seed, _stream(i)) for i, data in enumerate(sets)]
    scores = [np.empty(len(data)) for data in sets]
    with bar(folds, "First stage", watched.verbose) as advance:
        for i in range(folds):
            model = clone(ranker)
            if "verbose" in model.get_params(deep=False):
                model.set_params(verbose=False)  # the bar over folds is enough
            others = [without_fold(*both, i) for both in zip(sets, fold_of, strict=True)]
            named = dict(zip(names, others[1:], strict=True)) or None
            fit_stage(
                model,
                others[0],
                named,
                FitContext(callbacks=watched.callbacks, stage="first", fold=i + 1),
            )
            for data, fold, out in zip(sets, fold_of, scores, strict=True):
                _score_queries(model, data, fold == i, out)
            rankers.append(model)
            advance(f"fold {i + 1} done")
    fingerprints = [fingerprint(data) for data in sets]
    return CrossFit(rankers, fold_of, scores, fingerprints, perf_counter() - start)


def fit_stage(model: Any, train: RankingData, valid: Any, context: FitContext) -> None:
    """Train a model of a stage: estimators of others know no context and no names of sets."""
    ours = type(model).fit.__module__.startswith(
        "rankwood."
    )  # a subclass may have a `fit` of its own
    if isinstance(model, RankingEstimator) and ours:
        model._fit(train, valid, context)
    else:
        model.fit(train, valid=next(iter(valid.values())) if valid else None)


def _stream(i: int) -> int:
    """Return the stream of the folds of the i-th data set: training data, the first validation set, others."""
    return (Stream.TRAIN, Stream.VALID)[i] if i < 2 else Stream.MORE_VALID + i - 2


def score_unseen(rankers: list[Any], data: RankingData, seed: int) -> np.ndarray:
    """Score queries that no model was trained on: they are split into folds too, and model i scores fold i."""
    fold = cross_fit_folds(data, len(rankers), seed, Stream.UNSEEN)
    scores = np.empty(len(data))
    for i, ranker in enumerate(rankers):
        _score_queries(ranker, data, fold == i, scores)
    return scores


def cross_fit_folds(data: RankingData, folds: int, seed: int, stream: int) -> np.ndarray:
    """Return a random fold for each query; the sizes of two folds differ by one query at most."""
    queries = np.arange(data.groups.ids.size)
    return generator(seed, int(stream)).permutation(queries % folds)


def without_fold(data: RankingData, fold: np.ndarray, i: int) -> RankingData:
    """Return the queries that are not in fold i, or all queries if there is one fold only."""
    return data if fold.max() == 0 else data.select(fold != i)


def _score_queries(ranker: Any, data: RankingData, mask: np.ndarray, scores: np.ndarray) -> None:
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
