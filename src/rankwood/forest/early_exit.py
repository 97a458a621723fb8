"""Early exit: documents that can't reach the top of their query any more are dropped before all trees are evaluated.

After some of the trees, a document has a partial score. What the other trees can add lies between the sums of their
smallest and of their largest leaves; the difference is the width. A document whose partial score is more than the
width below that of the k-th document ends below k others, whatever comes: it can be dropped without any loss. Most
documents never use most of the width, so a fraction of it, the margin, drops many more of them, at a loss that has to
be measured [busolin2021].
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._core import checks

if TYPE_CHECKING:
    from rankwood.forest.fast import FastForest
    from rankwood.forest.record import Forest


@dataclass(frozen=True)
class EarlyExit:
    """When documents are dropped.

    Parameters
    ----------
    top : int
        The number of first documents of a query that must be right.
    margin : float
        Share of the width, above 0: 1 drops only what can't reach the top, so that nothing is lost.
    at : tuple of float
        Shares of the trees after which documents are looked at, rising, between 0 and 1.

    Examples
    --------
    >>> from rankwood.forest import EarlyExit
    >>> EarlyExit(10, margin=0.1)
    EarlyExit(top=10, margin=0.1, at=(0.1,))
    """

    top: int = 10
    margin: float = 1.0
    at: tuple[float, ...] = (0.1,)

    def __post_init__(self) -> None:
        checks.at_least(self.top, 1, "top")
        if not checks.finite(self.margin, "margin") > 0:
            raise checks.InputError(
                f"margin must be above 0, got {self.margin:g}; 1 loses nothing."
            )
        if not isinstance(self.at, (tuple, list)):
            raise checks.InputError(
                f"at must be a tuple of numbers, as in (0.1,), got {self.at!r}."
            )
        shares = [0.0, *(checks.finite(share, "at") for share in self.at), 1.0]
        if any(a >= b for a, b in pairwise(shares)):
            raise checks.InputError(
                f"at must be rising numbers between 0 and 1, as in (0.1, 0.3), got {self.at!r}."
            )


def early_exit(stop: Any) -> EarlyExit | None:
    """Return `stop` as an `EarlyExit`; a number is the number of first documents that must be right."""
    if stop is None or isinstance(stop, EarlyExit):
        return stop
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        return EarlyExit(int(stop))
    raise checks.InputError(
        f"stop must be None, a number of documents or an EarlyExit, got {stop!r}."
    )


class ExitingForest:
    """A prepared forest whose documents leave early."""

    def __init__(self, forest: "Forest", fast: "FastForest", stop: EarlyExit) -> None:
        self._fast, self._stop = fast, stop
        trees = forest.n_trees
        ends = {round(share * trees) for share in stop.at} - {0, trees}
        self._ends = [0, *sorted(ends), trees]
        if trees == 0:
            self._ends = [0]
        first = forest.first_leaf[:-1]
        ranges = np.zeros(trees + 1)
        if trees:
            values = forest.leaf_value
            ranges[:-1] = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
            largest = np.maximum.reduceat(np.abs(values), first).sum() + abs(forest.base)
        else:
            largest = 0.0
        self._width = np.cumsum(ranges[::-1])[::-1]  # of the trees from t on
        # Sums are rounded, in the precision of the engine; no rounding may drop what belongs to the top.
        step = np.finfo(np.float32 if forest.float32_sum else np.float64).eps
        self._rounding = 4.0 * (trees + 1) * float(step) * largest

    def scores(self, X: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return scores of queries that begin at `starts`, one after another, the end included."""
        out, codes = self._fast.start(X.shape[0]), self._fast.coded(X)
        alive = np.arange(X.shape[0])
        query = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        for first, last in pairwise(self._ends):
            partial = out[alive]
            self._fast.add_coded(codes, alive, partial, (first, last))
            out[alive] = partial
            if last < self._ends[-1]:
                alive = alive[self._stays(partial, query[alive], last)]
        kept = np.zeros(X.shape[0], np.bool_)
        kept[alive] = True
        return lowered(out.astype(np.float64), kept, query)

    def _stays(self, partial: np.ndarray, query: np.ndarray, trees: int) -> np.ndarray:
        """Tell which documents stay after so many trees; those of a query are consecutive."""
        reach = self._stop.margin * self._width[trees] + self._rounding
        stays = np.ones(partial.size, np.bool_)
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        for begin, end in zip(starts, [*starts[1:], partial.size], strict=True):
            own = partial[begin:end]
            if own.size > self._stop.top:
                bound = np.partition(own, own.size - self._stop.top)[own.size - self._stop.top]
                stays[begin:end] = own >= bound - reach
        return stays


def lowered(scores: np.ndarray, kept: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return scores in which dropped documents are below the kept ones of their query, in the order they had."""
    if kept.all():
        return scores
    count = int(query[-1]) + 1
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, query[kept], scores[kept])
    np.maximum.at(highest, query[~kept], scores[~kept])
    # By more than rounding takes away again; queries without dropped documents have nothing to lower.
    needed = np.where(np.isfinite(highest), highest - lowest, 0.0)
    shift = np.where(needed >= 0.0, needed + np.maximum(1.0, np.abs(lowest)) * 1e-6, 0.0)
    return np.where(kept, scores, scores - shift[query])
