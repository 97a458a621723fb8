"""The best documents of each list, and scores that put them above the others."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData

_LARGEST = np.nextafter(np.finfo(np.float64).max, 0.0)  # with a number above it
_CHANCE = 3  # folds of training, validation and new data have random numbers 0, 1 and 2


def best(data: RankingData, scores: np.ndarray, top: int, seed: int) -> np.ndarray:
    """Return a mask of the rows with the `top` highest scores of each query.

    Where equal scores lie across the cut, lots are drawn: by the features, so that the order of rows, which may tell
    about labels, doesn't matter; and among rows of equal features by chance.
    """
    order, place = _ranked(scores, data.groups)
    mask = np.empty(scores.size, bool)
    mask[order] = place < top
    tied = _across(scores, mask, data.groups)
    if tied.size:
        query = data.groups.per_row(np.arange(data.groups.ids.size))
        seats = np.bincount(query[tied], mask[tied])
        chance = np.random.default_rng([seed, _CHANCE]).random(scores.size)[tied]
        drawn = tied[np.lexsort((chance, _lots(data.X, tied, query[tied], seed), query[tied]))]
        begin = np.searchsorted(query[drawn], query[drawn])
        mask[drawn] = np.arange(drawn.size) - begin < seats[query[drawn]]
    return mask


def _across(scores: np.ndarray, mask: np.ndarray, groups: Groups) -> np.ndarray:
    """Return the rows with the score of both the last row above the cut and the first one below it."""
    each = groups.rows, groups.ptr[:-1]
    lowest = np.minimum.reduceat(np.where(mask, scores, np.inf)[each[0]], each[1])
    highest = np.maximum.reduceat(np.where(mask, -np.inf, scores)[each[0]], each[1])
    level = groups.per_row(np.where(lowest == highest, lowest, np.nan))
    return np.flatnonzero(scores == level)


def _lots(X: Any, rows: np.ndarray, query: np.ndarray, seed: int) -> np.ndarray:
    """Return a number for each row, made of its values, of all rows of its query in any order, and of the seed."""
    digest = _digests(X, rows)
    together = np.zeros(query.max() + 1, np.uint64)
    np.add.at(together, query, digest)
    return _mixed(digest ^ _mixed(together[query] + np.uint64(seed)))


def _digests(X: Any, rows: np.ndarray) -> np.ndarray:
    """Return a number for each row, made of its values that aren't 0."""
    if hasattr(X, "indptr"):  # sparse, and stays so
        some = X[rows]
        ends = np.append(np.uint64(0), np.cumsum(_digest(some.data, some.indices)))
        return ends[some.indptr[1:]] - ends[some.indptr[:-1]]
    digest = np.zeros(rows.size, np.uint64)
    for column in range(X.shape[1]):
        digest += _digest(X[rows, column], np.full(rows.size, column))
    return digest


def _digest(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # -0 is 0
    numbers[np.isnan(numbers)] = np.nan  # of many that there are, one
    mixed = _mixed(numbers.view(np.uint64) + _mixed(columns.astype(np.uint64) + np.uint64(1)))
    return np.where(numbers == 0, np.uint64(0), mixed)


def _mixed(words: np.ndarray) -> np.ndarray:
    """Return words of which each bit depends on all bits of the given ones: the finalizer of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def stacked(upper: np.ndarray, scores: np.ndarray, mask: np.ndarray, groups: Groups) -> np.ndarray:
    """Return one score per row: those of the rows in `mask` as given, the others below them in their own order.

    In each query the others have the lowest score of those above less 1, 2, ..., one step for each
    different value of `scores`: no two of them become equal, or different, by rounding. Where numbers are too large to
    be 1 apart, the step is the power of 2 that is twice their distance.
    """
    if not np.isfinite(upper).all():
        at = int(np.flatnonzero(~np.isfinite(upper))[0])
        raise checks.InputError(
            f"second-stage scores must be finite numbers, got {upper[at]} at row {np.flatnonzero(mask)[at]}."
        )
    out = np.empty(scores.size)
    out[mask] = upper
    lowest = np.minimum.reduceat(np.where(mask, out, np.inf)[groups.rows], groups.ptr[:-1])
    order, place = _ranked(np.where(mask, np.inf, scores), groups)
    score, rest = scores[order], ~mask[order]
    new = rest & np.append(True, ~rest[:-1] | (score[1:] != score[:-1]) | (place[1:] == 0))
    steps = np.append(0, np.cumsum(new))
    step = steps[1:] - np.repeat(steps[groups.ptr[:-1]], groups.sizes)
    with np.errstate(over="ignore"):
        size = _step(lowest, steps[groups.ptr[1:]] - steps[groups.ptr[:-1]])
        lower = np.repeat(lowest, groups.sizes) - np.repeat(size, groups.sizes) * step
    out[order[rest]] = lower[rest]
    if not np.isfinite(out).all():
        raise checks.InputError(
            "second-stage scores are too large: there are no numbers below them."
        )
    return out


def _step(lowest: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return by query how far apart `count` scores below the lowest are put: 1, or more among large numbers."""
    size = np.ones(lowest.size)
    for _ in range(2):  # larger steps may lead to larger numbers
        far = np.minimum(np.abs(lowest), _LARGEST) + count * size
        size = np.maximum(1.0, 2.0 * np.spacing(np.minimum(far, _LARGEST)))
    return size


def _ranked(scores: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return rows by query and decreasing score, and the place of each in its query, counted from 0."""
    query = groups.per_row(np.arange(groups.ids.size))
    place = np.arange(scores.size) - np.repeat(groups.ptr[:-1], groups.sizes)
    return np.lexsort((-scores, query)), place
