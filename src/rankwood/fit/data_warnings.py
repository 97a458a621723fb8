"""Warnings about data from which a model learns nothing, or that flatters it."""

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from rankwood._kernels.numeric.rng import generator
from rankwood._util.text import plural
from rankwood._util.warning import warn
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.frames import dense
from rankwood.data.tables.hashing import row_hashes
from rankwood.fit.result import VALID
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.single_features import single_features, varied_queries
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import reads_pairs

_FEW = 20  # queries below which a good feature, or an order of rows, may be chance
_SORTED = 0.95  # share of the queries that are sorted by label
_PERFECT = 0.95  # how far a feature is on the way from a random order to a perfect one
_AGREE = 0.9  # share of queries whose best and worst document a nearly perfect feature orders
_SAMPLE = 200  # queries that features are tried on
_COLUMNS = 2  # features that candidates of equal queries agree on
_COMPARED = 500  # candidates whose features are all compared


def warn_about_data(
    train: Source, valid: ValidationSets | None, shuffle: bool, n_jobs: int | None
) -> None:
    """Warn about what looks wrong in the data of a training run, each thing once."""
    for text in findings(train, valid, shuffle, n_jobs):
        warn(text)


def warn_about_unread_pairs(objective: Any) -> None:
    """Warn if an objective isn't a sum over the pairs that came with the data."""
    if not reads_pairs(to_objective(objective)):
        warn(
            f"the data has pairs, and {objective!r} doesn't read them: use objective='ranknet-pairs', or omit pairs."
        )


def findings(
    train: Source, valid: ValidationSets | None, shuffle: bool, n_jobs: int | None
) -> Iterator[str]:
    """Yield a message per thing that looks wrong."""
    varied = varied_queries(train)
    if train.pairs is None:  # pairs are an order to learn, whatever the labels
        yield from _equal_labels(train, varied, "training data")
    for i, (name, data) in enumerate(valid.by_name.items() if valid else ()):
        what = "validation data" if name == VALID else f"validation data {name!r}"
        yield from _equal_labels(data, varied_queries(data), what)
        yield from _shared_queries(train, data, what, decides=i == 0)
    if not shuffle:
        yield from _sorted_rows(train, varied)
    if varied.sum() >= _FEW:
        yield from train.built(
            lambda X: _perfect_features(cast("RankingData", train), varied, n_jobs),
            lambda files: iter(()),
        )


def _equal_labels(data: Source, varied: np.ndarray, what: str) -> Iterator[str]:
    if data.unlisted is not None or varied.any():
        return
    lowest, highest = data.y.min(), data.y.max()
    if lowest == highest:
        problem = f"all labels of the {what} are {lowest:g}"
    else:
        problem = f"no query of the {what} has different labels"
    use = (
        "no metric can tell rounds apart" if "validation" in what else "there is no order to learn"
    )
    yield f"{problem}: {use}; check that y has the relevance of each document, and qid its query."


def _sorted_rows(data: Source, varied: np.ndarray) -> Iterator[str]:
    """Warn if ties, which are ranked by row, give labels away in the first round."""
    if varied.sum() < _FEW:
        return
    groups = data.groups
    step = np.diff(data.y[groups.rows])
    step[groups.ptr[1:-1] - 1] = 0  # from a query to the next
    step = np.append(step, 0)
    rising, falling = (
        np.maximum.reduceat(sign * step, groups.ptr[:-1])[varied] <= 0 for sign in (1, -1)
    )
    share = max(rising.mean(), falling.mean())
    if share >= _SORTED:
        yield (
            f"the rows of {share:.0%} of the queries are sorted by label, and with shuffle=False the first trees rank "
            "ties by row: leave shuffle=True, or shuffle the rows."
        )


def _perfect_features(data: RankingData, varied: np.ndarray, n_jobs: int | None) -> Iterator[str]:
    """Warn about features that rank nearly perfectly; a pair of documents per query rules most features out."""
    left = _candidates(data, np.flatnonzero(varied))
    if not left.size:
        return
    ranking = single_features(data, n_jobs, _SAMPLE, left)
    near = ranking.above_random(ranking.best) >= _PERFECT
    names = data.schema.labels()
    for column, value in zip(left[near].tolist(), ranking.best[near].tolist(), strict=True):
        yield (
            f"feature {names[column]!r} alone ranks nearly perfectly ({ranking.metric} {value:.3f}): if it is known "
            "only together with the label, leave it out."
        )


def _candidates(data: Source, queries: np.ndarray) -> np.ndarray:
    """Return the features that order the best and the worst document of most queries alike, up or down."""
    groups = data.groups
    queries = generator(0).permutation(queries)[:_SAMPLE]
    rows = [groups.rows[groups.ptr[q] : groups.ptr[q + 1]] for q in queries]
    best = dense(data.matrix()[[query[data.y[query].argmax()] for query in rows]])
    worst = dense(data.matrix()[[query[data.y[query].argmin()] for query in rows]])
    only = np.isnan(worst) & ~np.isnan(best)  # documents without a value come last either way
    agree = np.maximum(((best > worst) | only).mean(axis=0), ((best < worst) | only).mean(axis=0))
    return np.flatnonzero(agree >= _AGREE)


def _shared_queries(train: Source, valid: Source, what: str, decides: bool) -> Iterator[str]:
    """Warn about queries of the validation data that are in the training data: with all documents, or torn apart.

    A set that doesn't decide may be the training data itself: people like to watch its curve.
    """
    several = valid.groups.sizes > 1  # single documents may be equal by chance
    equal = train.built(
        lambda X: _equal_queries(cast("RankingData", train), cast("RankingData", valid), several),
        lambda files: 0,  # they aren't read again for this
    )
    queries = valid.groups.ids.size
    if equal and equal == several.sum() and not decides:
        return
    if equal:
        harm = "is stopped too late" if decides else "looks better on it than it is"
        count = f"all {queries} queries" if equal == several.sum() else _count(equal, queries)
        yield (
            f"{count} of the {what} {'is' if equal == 1 else 'are'} in the training data too: a model that has seen "
            f"them {harm}; split the data by query, as RankingData.split does."
        )
        return
    torn = _torn_queries(train, valid)
    if torn:
        yield (
            f"{_count(torn, queries)} of the {what} {'has an id' if torn == 1 else 'have ids'} of training queries: if "
            "these are the same queries, split the data by query, as RankingData.split does; if not, give them other "
            "ids."
        )


def _count(some: int, queries: int) -> str:
    return f"{plural(some, 'query')} of {queries}"


def _equal_queries(train: RankingData, valid: RankingData, several: np.ndarray) -> int:
    """Return how many queries, where `several` is true, have the documents and labels of a training query.

    If there are many, some of them are compared, and the others count like them.
    """
    if train is valid or (train.X is valid.X and train.y is valid.y):
        return int(several.sum())
    keys = [_query_hashes(data, _telling_columns(train)) for data in (train, valid)]
    near = np.flatnonzero(np.isin(keys[1], keys[0]) & several)
    if not near.size:
        return 0
    # These agree in few features: all features decide.
    some = generator(0).permutation(near)[:_COMPARED]
    there = np.flatnonzero(np.isin(keys[0], keys[1][some]))
    every = np.arange(train.n_features)
    hashes, candidates = (
        _query_hashes(data.select(queries), every)
        for data, queries in ((train, there), (valid, some))
    )
    return math.ceil(np.isin(candidates, hashes).mean() * near.size)


def _telling_columns(data: RankingData) -> np.ndarray:
    """Return the features with the most different values, by which equal queries are looked for."""
    rows = np.unique(np.linspace(0, len(data) - 1, 200).astype(np.int64))
    some = dense(data.X[rows])
    counts = [np.unique(some[:, j]).size for j in range(some.shape[1])]
    return np.argsort(counts)[-_COLUMNS:]


def _query_hashes(data: RankingData, columns: np.ndarray) -> np.ndarray:
    """Return a hash per query, the same for the same documents in any order."""
    X = dense(data.X[:, columns])
    hashes = row_hashes(np.column_stack([X.astype(np.float64, copy=False), data.y]))
    return np.add.reduceat(hashes[data.groups.rows], data.groups.ptr[:-1])


def _torn_queries(train: Source, valid: Source) -> int:
    """Return the number of shared ids, 0 if both number their queries from 0 or 1."""
    ids = [data.groups.ids for data in (train, valid)]
    if any(values.dtype.kind not in "iuUSO" for values in ids) or all(map(_is_numbering, ids)):
        return 0
    return len(set(ids[0].tolist()) & set(ids[1].tolist()))


def _is_numbering(ids: np.ndarray) -> bool:
    """Return whether ids are whole numbers without a gap, from 0 or 1."""
    try:
        numbers = np.sort(ids.astype(np.int64))
    except (ValueError, TypeError, OverflowError):
        return False
    return bool(numbers[0] in (0, 1) and (np.diff(numbers) == 1).all())
