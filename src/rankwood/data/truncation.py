"""Cutting lists to their best documents, and scores that rank these above the others."""

import hashlib
from typing import Any

import numpy as np

from rankwood._kernels.numeric.rng import generator, splitmix64
from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.data.ranking_data import RankingData

_LARGEST = np.nextafter(np.finfo(np.float64).max, 0.0)  # np.spacing of the largest number is NaN
_TIES = 3  # a random stream of its own: folds of training, validation and new data have 0, 1 and 2


def top_mask(
    data: RankingData, scores: np.ndarray, top: int, seed: int, *, by_query: bool = True
) -> np.ndarray:
    """Return a mask of the rows with the `top` highest scores of each query.

    Ties at the cut are broken by a hash of the feature values, not by row order, which may leak labels; rows with
    equal features are drawn at random. With `by_query`, the draws of a query depend on its id and its rows alone, so
    that it is cut the same way in any batch; without, they depend on the place of its rows in the batch.
    """
    order, rank = _ranked(scores, data.groups)
    mask = np.empty(scores.size, bool)
    mask[order] = rank < top
    tied = _tied_at_cut(scores, mask, data.groups)
    if tied.size:
        query = data.groups.per_row(np.arange(data.groups.ids.size))
        n_kept = np.bincount(query[tied], mask[tied])
        if by_query:
            noise = _query_noise(data.groups, tied, query[tied], seed)
        else:
            noise = generator(seed, _TIES).random(scores.size)[tied]
        keys = _tie_keys(data.X, tied, query[tied], seed)
        drawn = tied[np.lexsort((noise, keys, query[tied]))]
        begin = np.searchsorted(query[drawn], query[drawn])
        mask[drawn] = np.arange(drawn.size) - begin < n_kept[query[drawn]]
    return mask


def _tied_at_cut(scores: np.ndarray, mask: np.ndarray, groups: Groups) -> np.ndarray:
    """Return the rows whose score is tied across the cut."""
    rows, starts = groups.rows, groups.ptr[:-1]
    lowest = np.minimum.reduceat(np.where(mask, scores, np.inf)[rows], starts)
    highest = np.maximum.reduceat(np.where(mask, -np.inf, scores)[rows], starts)
    level = groups.per_row(np.where(lowest == highest, lowest, np.nan))
    return np.flatnonzero(scores == level)


def _query_noise(groups: Groups, rows: np.ndarray, query: np.ndarray, seed: int) -> np.ndarray:
    """Return a random number for each row, from the id of its query and its index among the rows of the query."""
    slot = np.empty(groups.rows.size, np.uint64)
    slot[groups.rows] = np.arange(groups.rows.size) - np.repeat(groups.ptr[:-1], groups.sizes)
    queries, place = np.unique(query, return_inverse=True)
    texts = [str(name).encode() for name in groups.ids[queries].tolist()]
    digests = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
    of_query = splitmix64(
        np.frombuffer(b"".join(digests), "<u8").astype(np.uint64) + np.uint64(seed)
    )
    return splitmix64(of_query[place] ^ splitmix64(slot[rows] + np.uint64(1)))


def _tie_keys(X: Any, rows: np.ndarray, query: np.ndarray, seed: int) -> np.ndarray:
    """Return a hash of each row: of its features, of the set of tied rows of its query, and of the seed."""
    hashes = _value_hash_sums(X, rows)
    of_query = np.zeros(query.max() + 1, np.uint64)
    np.add.at(of_query, query, hashes)
    return splitmix64(hashes ^ splitmix64(of_query[query] + np.uint64(seed)))


def _value_hash_sums(X: Any, rows: np.ndarray) -> np.ndarray:
    """Return a hash of each row: the sum of the hashes of its values that aren't 0."""
    if hasattr(X, "indptr"):  # a sparse matrix, which stays sparse
        some = X[rows]
        sums = np.append(np.uint64(0), np.cumsum(_value_hashes(some.data, some.indices)))
        return sums[some.indptr[1:]] - sums[some.indptr[:-1]]
    hashes = np.zeros(rows.size, np.uint64)
    for column in range(X.shape[1]):
        hashes += _value_hashes(X[rows, column], np.full(rows.size, column))
    return hashes


def _value_hashes(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # -0 becomes 0
    numbers[np.isnan(numbers)] = np.nan  # the canonical NaN
    of_column = splitmix64(columns.astype(np.uint64) + np.uint64(1))
    hashes = splitmix64(numbers.view(np.uint64) + of_column)
    return np.where(numbers == 0, np.uint64(0), hashes)


def merge_scores(
    top_scores: np.ndarray, scores: np.ndarray, mask: np.ndarray, groups: Groups
) -> np.ndarray:
    """Return one score per row: `top_scores` for the rows in `mask`, and lower ones, in order of `scores`, for others.

    In each query, the other rows get the lowest of its top scores less 1, 2, ..., a step for each distinct value of
    `scores`, so that rounding neither makes nor breaks ties. Where float64 numbers are more than 1/2 apart, steps
    are twice as large as the spacing of numbers.
    """
    if not np.isfinite(top_scores).all():
        at = int(np.flatnonzero(~np.isfinite(top_scores))[0])
        raise checks.InputError(
            f"second-stage scores must be finite numbers, got {top_scores[at]} at row {np.flatnonzero(mask)[at]}."
        )
    out = np.empty(scores.size)
    out[mask] = top_scores
    lowest = np.minimum.reduceat(np.where(mask, out, np.inf)[groups.rows], groups.ptr[:-1])
    order, rank = _ranked(np.where(mask, np.inf, scores), groups)
    score, rest = scores[order], ~mask[order]
    is_new = rest & np.append(True, ~rest[:-1] | (score[1:] != score[:-1]) | (rank[1:] == 0))
    steps = np.append(0, np.cumsum(is_new))
    step = steps[1:] - np.repeat(steps[groups.ptr[:-1]], groups.sizes)
    with np.errstate(over="ignore"):
        gap = _gap_below(lowest, steps[groups.ptr[1:]] - steps[groups.ptr[:-1]])
        lower = np.repeat(lowest, groups.sizes) - np.repeat(gap, groups.sizes) * step
    out[order[rest]] = lower[rest]
    if not np.isfinite(out).all():
        raise checks.InputError(
            "second-stage scores are too large: there are no numbers below them."
        )
    return out


def _gap_below(lowest: np.ndarray, n_steps: np.ndarray) -> np.ndarray:
    """Return the size of `n_steps` steps below the lowest score of each query: 1, or more among large numbers."""
    size = np.ones(lowest.size)
    for _ in range(2):  # larger steps may lead to larger numbers
        far = np.minimum(np.abs(lowest), _LARGEST) + n_steps * size
        size = np.maximum(1.0, 2.0 * np.spacing(np.minimum(far, _LARGEST)))
    return size


def _ranked(scores: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows by query and decreasing score, and the rank of each in its query, counted from 0."""
    query = groups.per_row(np.arange(groups.ids.size))
    rank = np.arange(scores.size) - np.repeat(groups.ptr[:-1], groups.sizes)
    return np.lexsort((-scores, query)), rank
