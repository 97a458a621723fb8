"""Warnings about data from which a model learns nothing, or that flatters it."""

import math
from collections.abc import Iterator

import numpy as np

from rankwood._core.rng import generator
from rankwood._core.text import plural
from rankwood._core.warning import warn
from rankwood.data.frames import dense
from rankwood.data.hashing import row_hashes
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.metrics.single_features import single_features, varied_queries
from rankwood.training.inputs import VALID, ValidationSets

_FEW = 20  # queries below which a good feature, or an order of rows, may be chance
_SORTED = 0.95  # share of the queries that are sorted by label
_PERFECT = 0.95  # how far a feature is on the way from a random order to a perfect one
_AGREE = 0.9  # share of queries whose best and worst document a nearly perfect feature orders
_SAMPLE = 200  # queries that features are tried on
_COLUMNS = 2  # features that candidates of equal queries agree on
_COMPARED = 500  # candidates whose features are all compared


def warn_about_data(
    train: RankingData, valid: ValidationSets | None, shuffle: bool, n_jobs: int | None
) -> None:
    """Warn about what looks wrong in the data of a training run, each thing once."""
    for text in findings(train, valid, shuffle, n_jobs):
        warn(text)


def findings(
    train: RankingData, valid: ValidationSets | None, shuffle: bool, n_jobs: int | None
) -> Iterator[str]:
    """Yield a sentence for everything that looks wrong."""
    varied = varied_queries(train)
    yield from _equal_labels(train, varied, "training data")
    for i, (name, data) in enumerate(valid.by_name.items() if valid else ()):
        what = "validation data" if name == VALID else f"validation data {name!r}"
        yield from _equal_labels(data, varied_queries(data), what)
        yield from _shared_queries(train, data, what, decides=i == 0)
    if not shuffle:
        yield from _sorted_rows(train, varied)
    if varied.sum() >= _FEW and not isinstance(train, StreamedData):
        yield from _perfect_features(train, varied, n_jobs)


def _equal_labels(data: RankingData, varied: np.ndarray, what: str) -> Iterator[str]:
    if data.unlisted is not None or varied.any():
        return
    lowest, highest = data.y.min(), data.y.max()
    if lowest == highest:
        found = f"all labels of the {what} are {lowest:g}"
    else:
        found = f"no query of the {what} has different labels"
    use = (
        "no metric can tell rounds apart" if "validation" in what else "there is no order to learn"
    )
    yield f"{found}: {use}; check that y has the relevance of each document, and qid its query."


def _sorted_rows(data: RankingData, varied: np.ndarray) -> Iterator[str]:
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
    found = single_features(data, n_jobs, _SAMPLE, left)
    near = found.above_random(found.best) >= _PERFECT
    for column, value in zip(left[near].tolist(), found.best[near].tolist(), strict=True):
        name = repr(data.feature_names[column]) if data.feature_names else f"number {column}"
        yield (
            f"feature {name} alone ranks nearly perfectly ({found.metric} {value:.3f}): if it is known only "
            "together with the label, leave it out."
        )


def _candidates(data: RankingData, queries: np.ndarray) -> np.ndarray:
    """Return the features that order the best and the worst document of most queries alike, up or down."""
    groups = data.groups
    queries = generator(0).permutation(queries)[:_SAMPLE]
    rows = [groups.rows[groups.ptr[q] : groups.ptr[q + 1]] for q in queries]
    best = dense(data.X[[own[data.y[own].argmax()] for own in rows]])
    worst = dense(data.X[[own[data.y[own].argmin()] for own in rows]])
    only = np.isnan(worst) & ~np.isnan(best)  # documents without a value come last either way
    agree = np.maximum(((best > worst) | only).mean(axis=0), ((best < worst) | only).mean(axis=0))
    return np.flatnonzero(agree >= _AGREE)


def _shared_queries(
    train: RankingData, valid: RankingData, what: str, decides: bool
) -> Iterator[str]:
    """Warn about queries of the validation data that are in the training data: with all documents, or torn apart.

    A set that doesn't decide may be the training data itself: people like to watch its curve.
    """
    several = valid.groups.sizes > 1  # single documents may be equal by chance
    streamed = isinstance(train, StreamedData)  # the files aren't read again for this
    equal = 0 if streamed else _equal_queries(train, valid, several)
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
    known, own = (
        _query_hashes(data.select(queries), every)
        for data, queries in ((train, there), (valid, some))
    )
    return math.ceil(np.isin(own, known).mean() * near.size)


def _telling_columns(data: RankingData) -> np.ndarray:
    """Return the features with the most different values, by which equal queries are looked for."""
    rows = np.unique(np.linspace(0, len(data) - 1, 200).astype(np.int64))
    some = dense(data.X[rows])
    counts = [np.unique(some[:, j]).size for j in range(some.shape[1])]
    return np.argsort(counts)[-_COLUMNS:]


def _query_hashes(data: RankingData, columns: np.ndarray) -> np.ndarray:
    """Return a word for each query, the same for the same documents in any order."""
    X = dense(data.X[:, columns])
    hashes = row_hashes(np.column_stack([X.astype(np.float64, copy=False), data.y]))
    return np.add.reduceat(hashes[data.groups.rows], data.groups.ptr[:-1])


def _torn_queries(train: RankingData, valid: RankingData) -> int:
    """Return the number of shared ids, 0 if both number their queries from 0 or 1."""
    ids = [data.groups.ids for data in (train, valid)]
    if any(one.dtype.kind not in "iuUSO" for one in ids) or all(map(_is_numbering, ids)):
        return 0
    return len(set(ids[0].tolist()) & set(ids[1].tolist()))


def _is_numbering(ids: np.ndarray) -> bool:
    """Return whether ids are whole numbers without a gap, from 0 or 1."""
    try:
        numbers = np.sort(ids.astype(np.int64))
    except (ValueError, TypeError, OverflowError):
        return False
    return bool(numbers[0] in (0, 1) and (np.diff(numbers) == 1).all())
