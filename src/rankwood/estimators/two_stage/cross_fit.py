"""Cross-fitting: every query is scored by a model that was trained without it."""

from enum import IntEnum
from time import perf_counter
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from sklearn.base import clone

from rankwood._kernels.numeric.rng import generator
from rankwood._util import checks, interrupts
from rankwood._util.progress import bar
from rankwood.data.ranking_data import RankingData
from rankwood.estimators.base import RankingEstimator
from rankwood.fit.context import FitContext
from rankwood.fit.validation import ValidationSets, validation_sets


class Stream(IntEnum):
    """Streams of random numbers, one for each data set that is split; ties at the cutoff have stream 3."""

    TRAIN = 0
    VALID = 1
    UNSEEN = 2
    MORE_VALID = 4


class Trainable(Protocol):
    """A stage: one of our estimators, or anything else that trains on ranking data and scores it."""

    def fit(self, X: Any, *, valid: Any = None) -> Any:
        """Train on ranking data."""

    def predict(self, X: Any) -> np.ndarray:
        """Return a score per row."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, for clones."""


class Watched(NamedTuple):
    """What watches the first stage: a progress bar, and callbacks and a checkpoint in a context."""

    verbose: bool | None
    context: FitContext = FitContext()


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
    ranker: Trainable,
    train: RankingData,
    valid: ValidationSets | None,
    folds: int,
    seed: int,
    watched: Watched,
    refit: bool = False,
) -> CrossFit:
    """Train a clone without each fold of the training data, and score the fold with it.

    Model i is stopped by the validation queries that are not in fold i, and scores those that are. With `refit`, one
    more clone is trained on everything.
    """
    names = [] if valid is None else list(valid.by_name)
    sets = [train]
    if valid is not None:
        sets += cast("list[RankingData]", list(valid.by_name.values()))
    start = perf_counter()
    rankers: list[Any] = []
    fold_of = [cross_fit_folds(data, folds, seed, _stream(i)) for i, data in enumerate(sets)]
    scores = [np.empty(len(data)) for data in sets]
    whole = None
    with bar(folds + refit, "First stage", watched.verbose) as advance:
        for i in range(folds):
            others = [without_fold(*both, i) for both in zip(sets, fold_of, strict=True)]
            named = dict(zip(names, others[1:], strict=True)) or None
            context = watched.context.stage_of("first", i + 1, f"fold-{i + 1}")
            model = fit_quietly(ranker, others[0], named, context)
            for data, fold, out in zip(sets, fold_of, scores, strict=True):
                score_queries(model, data, fold == i, out)
            rankers.append(model)
            advance(f"fold {i + 1} done")
        if refit:
            whole = fit_whole(ranker, train, valid, watched.context)
            advance("model of all folds done")
    fingerprints = [data.fingerprint() for data in sets]
    return CrossFit(rankers, fold_of, scores, fingerprints, perf_counter() - start, whole)


def fit_whole(
    ranker: Trainable, train: RankingData, valid: ValidationSets | None, context: FitContext
) -> Any:
    """Train a clone on the queries of all folds."""
    named = None if valid is None else valid.by_name
    return fit_quietly(ranker, train, named, context.stage_of("first", run="refit"))


def fit_quietly(ranker: Trainable, train: RankingData, valid: Any, context: FitContext) -> Any:
    """Train a clone that shows no progress: the bar over folds is enough."""
    model = clone(ranker)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)
    fit_stage(model, train, valid, context)
    return model


def fit_stage(model: Any, train: RankingData, valid: Any, context: FitContext) -> None:
    """Train a model of a stage: estimators of others know no context and no names of sets."""
    own = type(model).fit.__module__  # a subclass may have a `fit` of its own
    if isinstance(model, RankingEstimator) and own.startswith("rankwood."):
        model._fit(train, validation_sets(valid, train), context)
    else:
        with interrupts.released():
            model.fit(train, valid=next(iter(valid.values())) if valid else None)


def _stream(i: int) -> int:
    """Return the stream of the folds of the i-th data set: training data, the first validation set, others."""
    return (Stream.TRAIN, Stream.VALID)[i] if i < 2 else Stream.MORE_VALID + i - 2


def cross_fit_folds(data: RankingData, folds: int, seed: int, stream: int) -> np.ndarray:
    """Return a random fold for each query; the sizes of two folds differ by one query at most."""
    queries = np.arange(data.groups.ids.size)
    return generator(seed, int(stream)).permutation(queries % folds)


def without_fold(data: RankingData, fold: np.ndarray, i: int) -> RankingData:
    """Return the queries that are not in fold i, or all queries if there is one fold only."""
    return data if fold.max() == 0 else data.select(fold != i)


def score_queries(
    ranker: Trainable, data: RankingData, mask: np.ndarray, scores: np.ndarray
) -> None:
    """Write the scores of the queries where a mask is true into `scores`."""
    if mask.any():
        rows = data.groups.per_row(mask)
        predicted = ranker.predict(data.select(mask))
        scores[rows] = checks.vector(predicted, "first-stage scores", int(rows.sum()))
