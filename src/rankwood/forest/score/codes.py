"""Features as bytes: the code of x is the number of thresholds below it, so `x <= threshold k` is `code <= k`.

A byte counts to 255. A feature with more thresholds has several *searches*, each for 255 of them in a row: all codes
below the own range are 0 and all above it 255, so a comparison with one of the own thresholds comes out right.
A *column* is a search and what NaN becomes: 0 where nodes send it left, the number of thresholds where they
send it right. So a node is one comparison of bytes, missing values included.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rankwood.forest.record import Forest

MOST = 255  # thresholds of a search
STEP = 16  # thresholds that are compared at once
TABLE = 256  # numbers in a table: sixteen times sixteen


class Searches(NamedTuple):
    """How documents become codes."""

    feature: np.ndarray  # of each search: the column of X
    thresholds: np.ndarray  # their number
    left: np.ndarray  # its column where NaN is 0, or -1
    right: np.ndarray  # its column where NaN is above all thresholds, or -1
    pivots: np.ndarray  # sixteen a search: every sixteenth threshold
    tables: np.ndarray  # 256 a search: all thresholds, and then infinity


class Codes(NamedTuple):
    """Searches, and the question of each node: whether `column` has a code of at most `limit`."""

    searches: Searches
    columns: int
    column: np.ndarray
    limit: np.ndarray


def codes_of(forest: "Forest") -> Codes:
    """Return the codes that a forest without categories needs."""
    feature, threshold = forest.feature.astype(np.int64), forest.threshold
    order = np.lexsort((threshold, feature))
    f, t = feature[order], threshold[order]
    new_feature, new = np.ones(f.size, np.bool_), np.ones(f.size, np.bool_)
    new_feature[1:] = f[1:] != f[:-1]
    new[1:] = new_feature[1:] | (t[1:] != t[:-1])
    rank = np.cumsum(new) - 1  # among all different thresholds
    start = np.maximum.accumulate(np.where(new_feature, rank, 0))
    k = rank - start
    new_search = new_feature | (new & (k % MOST == 0))
    search, limit = np.empty(f.size, np.int64), np.empty(f.size, np.int64)
    search[order], limit[order] = np.cumsum(new_search) - 1, k % MOST
    of_search = f[new_search]
    used = np.unique(search * 2 + ~forest.missing_left)
    column = np.searchsorted(used, search * 2 + ~forest.missing_left)
    sides = np.full((2, of_search.size), -1, np.int64)
    sides[used % 2, used // 2] = np.arange(used.size)
    count = np.zeros(of_search.size, np.int64)
    np.maximum.at(count, search, limit + 1)
    real = np.float32 if forest.float32_input else np.float64
    tables = np.full((of_search.size, TABLE), np.inf, real)
    tables[search, limit] = threshold
    searches = Searches(
        of_search,
        count,
        sides[0],
        sides[1],
        np.ascontiguousarray(tables[:, STEP - 1 :: STEP]).ravel(),
        tables.ravel(),
    )
    return Codes(searches, used.size, column, limit)
