"""Listwise features: how each value compares with the values of the other documents of its query."""

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import inner, jit
from rankwood._kernels.numeric.sorting import shell_sort
from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense

#: Blocks of the expanded matrix, each with a column for every base feature; the first keeps the names.
BLOCKS = ("", ":mean", ":sd", ":rank", ":z")

_HALF = 0.5 * float(np.finfo(np.float64).max)
_TINY = 1e-300  # values that are no farther apart count as equal: 1 / distance might be infinite


def listwise_features(data: RankingData, score: Any = None) -> RankingData:
    r"""Add to each feature its mean, standard deviation, rank and standardised value in the query.

    The mean and the deviation (divided by n) are the same for all documents of a query. The rank counts from 1,
    the highest value first; equal values share the mean of their ranks, so that the order of rows never matters.
    The standardised value is :math:`(x - \mathrm{mean}) / \mathrm{sd}`, or 0 where all are equal [bivariate2024].

    Missing values (NaN) don't count: statistics are of the values that are there, and the rank and the standardised
    value of a missing one are missing. Infinite values are ranked, and stay infinite when standardised; the mean and
    the deviation are those of the finite ones.

    Parameters
    ----------
    data : RankingData
        Documents; nothing of it is changed. A sparse matrix becomes a dense one.
    score : array, optional
        Score of each row in a first stage, which becomes one more feature, "score".

    Returns
    -------
    RankingData
        The same documents with five blocks of features: values, means ("name:mean"), deviations ("name:sd"),
        ranks ("name:rank"), standardised values ("name:z"). Features without names are "f1", "f2", ...
        Numbers are float32 if those of `data` are. Categorical features, which have no order, come last, as they are.

    Examples
    --------
    >>> import rankwood as rw
    >>> data = rw.RankingData([[1.0], [3.0], [3.0]], [0, 1, 2], feature_names=["price"])
    >>> more = rw.listwise_features(data)
    >>> more.feature_names
    ['price', 'price:mean', 'price:sd', 'price:rank', 'price:z']
    >>> more.X[:, 3].tolist()
    [3.0, 1.5, 1.5]
    """
    if not isinstance(data, RankingData):
        raise checks.InputError(
            f"listwise_features needs a RankingData, which knows the queries, got {type(data).__name__}."
        )
    if score is not None:
        data = with_score(data, score)
    names, groups = _names(data), data.groups
    ranked = [at for at, name in enumerate(names) if name not in data.categories]
    coded = [at for at, name in enumerate(names) if name in data.categories]
    values, width = dense(data.X), len(ranked)
    X = np.empty((len(data), len(BLOCKS) * width + len(coded)), data.X.dtype)
    X[:, :width] = values[:, ranked] if coded else values
    X[:, len(BLOCKS) * width :] = values[:, coded]
    threads.run_ranges(lambda a, b: expand(groups.ptr, groups.rows, X, width, a, b), groups.sizes)
    added = [names[at] + end for end in BLOCKS for at in ranked]
    return _replaced(data, X, [*added, *(names[at] for at in coded)])


def with_score(data: RankingData, score: Any) -> RankingData:
    """Return the same documents with one more feature, "score"."""
    column = checks.vector(score, "score", len(data)).astype(data.X.dtype)[:, None]
    both = (data.X, column)
    X = sparse.hstack(both, format="csr") if sparse.issparse(data.X) else np.hstack(both)
    return _replaced(data, X, [*_names(data), "score"])


def base_features(names: list[str] | None, features: int) -> np.ndarray:
    """Return the columns that `listwise_features` did not add; all columns if they have no names.

    A column counts as added only if all blocks of its base feature are there.
    """
    present = set(names or ())
    blocks = [[name + end for end in BLOCKS[1:]] for name in names or ()]
    added = {name for block in blocks if present.issuperset(block) for name in block}
    columns = [i for i, name in enumerate(names or ()) if name not in added]
    return np.array(columns if names else range(features), np.int64)


def _names(data: RankingData) -> list[str]:
    return data.schema.labels()


def _replaced(data: RankingData, X: Any, names: list[str]) -> RankingData:
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise checks.InputError(
            f"a feature {twice!r} would be added, but there is one of that name: rename it."
        )
    other = copy(data)
    other.X, other.feature_names = X, names
    return other


class Moments(NamedTuple):
    """Mean and standard deviation, and the unit in which distances of values don't overflow."""

    mean: float
    sd: float
    unit: float


@jit
def expand(ptr, rows, X, width, first, last):
    """Fill the blocks behind the values for queries `first` to `last`."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    value, row = np.empty(longest), np.empty(longest, np.int64)
    for q in range(first, last):
        for column in range(width):
            n = 0
            for p in range(ptr[q], ptr[q + 1]):
                x = X[rows[p], column]
                if not np.isnan(x):
                    value[n], row[n] = x, rows[p]
                    n += 1
            shell_sort(value[:n], row[:n])
            begin, end = 0, n  # the finite values
            while begin < n and value[begin] == np.inf:
                begin += 1
            while end > begin and value[end - 1] == -np.inf:
                end -= 1
            query_moments = moments(value, begin, end)
            for p in range(ptr[q], ptr[q + 1]):
                X[rows[p], width + column] = query_moments.mean
                X[rows[p], 2 * width + column] = query_moments.sd
                X[rows[p], 3 * width + column] = np.nan
                X[rows[p], 4 * width + column] = np.nan
            rank_and_standardise(value[:n], row, query_moments, X[:, 3 * width + column :: width])


@inner
def moments(value, begin, end):
    """Return the moments of sorted values, summed in that order, so that they are bit-identical for any order of rows.

    Sums are of distances from the highest value, so that equal values have no deviation at all. The unit is one in
    which the largest distance is finite: 1, or else 1/4.
    """
    n = end - begin
    if n == 0:
        return Moments(np.nan, np.nan, 1.0)
    high, low = value[begin], value[end - 1]
    unit = 1.0 if 0.5 * high - 0.5 * low <= _HALF else 0.25
    top, span = unit * high, unit * high - unit * low
    if span < _TINY:
        return Moments(high, 0.0, unit)
    total = 0.0
    for i in range(begin, end):
        total += (unit * value[i] - top) / span
    mean = total / n
    total = 0.0
    for i in range(begin, end):
        deviation = (unit * value[i] - top) / span - mean
        total += deviation * deviation
    # A deviation is at most the largest value; rounding must not make it infinite.
    sd = min(span * np.sqrt(total / n), unit * max(abs(high), abs(low)) if unit < 1.0 else np.inf)
    return Moments((top + mean * span) / unit, sd / unit, unit)


@inner
def rank_and_standardise(value, row, query_moments, out):
    """Fill the columns of ranks and of standardised values, 0 and 1 of `out`, one run of ties after the other.

    Infinite values stay infinite.
    """
    i = 0
    while i < value.size:
        j = i
        while j < value.size and value[j] == value[i]:
            j += 1
        for t in range(i, j):
            out[row[t], 0] = 0.5 * (i + j + 1)
            if np.isinf(value[t]):
                out[row[t], 1] = value[t]
            elif query_moments.sd != 0.0:
                distance = query_moments.unit * value[t] - query_moments.unit * query_moments.mean
                out[row[t], 1] = distance / (query_moments.unit * query_moments.sd)
            else:
                out[row[t], 1] = 0.0
        i = j
