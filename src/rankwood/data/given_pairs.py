"""Pairs that come with the data: of two rows of a query, which one should rank higher, and how much that counts."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups


class GivenPairs(NamedTuple):
    """Pairs of rows of the same query: `winner[i]` should rank above `loser[i]`, and that counts `weight[i]` times."""

    winner: np.ndarray
    loser: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, pairs: Any, groups: Groups) -> "GivenPairs":
        """Return checked pairs of rows, given as two columns, or as three with a weight."""
        if isinstance(pairs, cls):
            return pairs
        table = checks.numbers(pairs, "pairs")
        if not table.size:
            table = table.reshape(0, 2)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise checks.InputError(
                "pairs must have two columns, the rows of winner and loser, or three with a weight, got shape "
                f"{table.shape}."
            )
        weight = table[:, 2].copy() if table.shape[1] == 3 else np.ones(table.shape[0])
        _check_rows(table[:, :2], groups.rows.size)
        winner, loser = table[:, :2].astype(np.int64).T.copy()
        made = cls(winner, loser, weight)
        _check_pairs(made, groups)
        for column in made:
            column.setflags(write=False)
        return made

    @classmethod
    def by_labels(cls, y: np.ndarray, groups: Groups) -> "GivenPairs":
        """Return every pair of different labels in the same query, all with a weight of 1."""
        found = [np.empty((0, 2), np.int64)]
        for start, end in zip(groups.ptr[:-1], groups.ptr[1:], strict=True):
            rows = groups.rows[start:end]
            found.append(rows[np.argwhere(y[rows][:, None] > y[rows])])
        winner, loser = np.concatenate(found).T
        return cls(winner, loser, np.ones(winner.size))

    def take(self, rows: np.ndarray, n_rows: int) -> "GivenPairs":
        """Return the pairs whose two rows are among `rows`, of `n_rows`; rows are numbered as they are there."""
        place = np.full(n_rows, -1)
        place[rows] = np.arange(rows.size)
        winner, loser = place[self.winner], place[self.loser]
        kept = (winner >= 0) & (loser >= 0)
        return GivenPairs(winner[kept], loser[kept], self.weight[kept])

    def counts(self, groups: Groups) -> np.ndarray:
        """Return how many different pairs with a weight above 0 each query has; either order is the same pair."""
        counted = self.weight > 0
        ends = np.sort(np.stack([self.winner[counted], self.loser[counted]]), axis=0)
        query = groups.per_row(np.arange(groups.ids.size))
        return np.bincount(query[np.unique(ends, axis=1)[0]], minlength=groups.ids.size)


def join_pairs(sizes: list[int], parts: list[GivenPairs | None]) -> GivenPairs | None:
    """Return the pairs of data sets of these sizes, one after the other; None if none of them has any."""
    starts = np.cumsum([0, *sizes])
    moved = [
        GivenPairs(pairs.winner + start, pairs.loser + start, pairs.weight)
        for start, pairs in zip(starts, parts, strict=False)
        if pairs is not None
    ]
    return GivenPairs(*map(np.concatenate, zip(*moved, strict=True))) if moved else None


def _check_rows(rows: np.ndarray, n_rows: int) -> None:
    """Raise unless all numbers are those of rows."""
    good = (rows >= 0) & (rows < n_rows)
    good[good] = rows[good] % 1 == 0
    if not good.all():
        at, side = np.argwhere(~good)[0]
        raise checks.InputError(
            f"pairs must hold rows of X, whole numbers from 0 to {n_rows - 1}, got {rows[at, side]:g} as the "
            f"{('winner', 'loser')[side]} of pair {at}."
        )


def _check_pairs(pairs: GivenPairs, groups: Groups) -> None:
    """Raise unless the two rows of each pair differ and belong to the same query, and weights are numbers from 0 up."""
    winner, loser, weight = pairs
    query = groups.per_row(np.arange(groups.ids.size))
    for at in np.flatnonzero(winner == loser)[:1]:
        raise checks.InputError(
            f"pair {at} has row {winner[at]} twice: a winner and a loser must be two rows."
        )
    for at in np.flatnonzero(query[winner] != query[loser])[:1]:
        ids = [groups.ids[query[row]].item() for row in (winner[at], loser[at])]
        raise checks.InputError(
            f"pair {at} has row {winner[at]} of query {ids[0]!r} and row {loser[at]} of query {ids[1]!r}: give pairs "
            "of rows of the same query."
        )
    for at in np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[:1]:
        raise checks.InputError(
            f"weights of pairs must be finite and not negative, got {weight[at]:g} at pair {at}."
        )
