"""Metrics that count relevant documents: hits, success, R-precision."""

from collections import namedtuple
from typing import ClassVar

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.each import on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood.metrics.parts.additive import GAINS_COLUMNS, additive_swap
from rankwood.metrics.parts.binary import (
    discount_of_first,
    divide,
    fill_within,
    mark_relevant,
    record_of_first,
    relevance_of,
    sum_of_first,
    value_of_first,
)
from rankwood.metrics.parts.insertions import additive_insertions
from rankwood.metrics.verbs import tied_run

#: Swap record of success: 1 for a relevant document, 1 for a position within k, and the hits of the query.
Within = namedtuple("Within", "gain discount hits")


@inner
def tied_sum_of_first(ranked, values, k):
    """Return the mean of `sum_of_first` over the orders of tied documents."""
    n, total = ranked.slot.size, 0.0
    i = 0
    while i < n:
        j, run = tied_run(ranked, values, i)
        if i < k:
            total += run * (min(j, k) - i) / (j - i)
        i = j
    return total


@inner
def count_positive(values):
    """Return how many values are above 0: the relevant documents, those that were not ranked among them."""
    found = 0
    for i in range(values.size):
        found += 1 if values[i] > 0.0 else 0
    return found


@part
class Hits:
    """Number of relevant documents among the first k [sanderson2010].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Hits
    >>> rw.evaluate([Hits(2), Hits()], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'Hits(k=2)': 1.0, 'Hits()': 2.0}
    """

    k: int | None = None
    rel: Positive = 1.0
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return 0 if self.k is None else self.k

    def label_values(self, label, discount, out):
        mark_relevant(label, self.rel, out)

    swap_record, value, rank_discount = record_of_first, value_of_first, discount_of_first
    swap_delta, insertion_record, as_relevance = additive_swap, additive_insertions, relevance_of


@part
class Success:
    """Hit rate: 1 if a relevant document is among the first k, else 0 [sanderson2010].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Success
    >>> rw.evaluate([Success(1), Success(2)], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'Success(k=1)': 0.0, 'Success(k=2)': 1.0}
    """

    k: int | None = None
    rel: Positive = 1.0
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return 0 if self.k is None else self.k

    def label_values(self, label, discount, out):
        mark_relevant(label, self.rel, out)

    def value(self, ranked, values):
        return min(sum_of_first(ranked, values, self.k), 1.0)

    @on_team
    def swap_record(self, ranked, values, room):
        fill_within(ranked, values, self.k, room)
        hits = as_type_of(room.gain[0], 0.0)
        for i in range(ranked.n):
            hits += room.gain[i] * room.discount[i]
        return Within(room.gain, room.discount, hits)

    def swap_delta(self, a, b):
        one = as_type_of(a.own.hits, 1.0)
        after = a.own.hits + (b.own.gain - a.own.gain) * (a.own.discount - b.own.discount)
        return min(after, one) - min(a.own.hits, one)

    def mean_over_ties(self, ranked, values):
        n, i = ranked.slot.size, 0
        while i < n and i < self.k:  # type: ignore[operator]
            j, relevant = tied_run(ranked, values, i)
            if relevant > 0.0:
                none = 1.0  # the probability that the places within k get none of the relevant documents
                for t in range(min(j, self.k) - i):
                    none *= max(j - i - relevant - t, 0.0) / (j - i - t)
                return 1.0 - none
            i = j
        return 0.0

    as_relevance = relevance_of


@part
class RPrecision:
    """Precision of the first R documents, R being the number of relevant ones [sanderson2010].

    Parameters
    ----------
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    Two documents are relevant, and one of them is among the first two.

    >>> import rankwood as rw
    >>> from rankwood.metrics import RPrecision
    >>> rw.evaluate([RPrecision()], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'RPrecision()': 0.5}
    """

    rel: Positive = 1.0
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        divide(out, mark_relevant(label, self.rel, out))

    def value(self, ranked, values):
        return sum_of_first(ranked, values, count_positive(values))

    def mean_over_ties(self, ranked, values):
        return tied_sum_of_first(ranked, values, count_positive(values))

    @on_team
    def swap_record(self, ranked, values, room):
        fill_within(ranked, values, count_positive(values), room)
        return room

    swap_delta, insertion_record, as_relevance = additive_swap, additive_insertions, relevance_of
