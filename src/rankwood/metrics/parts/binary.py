"""Metrics of relevant and irrelevant documents: precision, recall, average precision."""

from typing import ClassVar

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.each import each, on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood.metrics.parts.additive import GAINS_COLUMNS, additive_swap, by_rank
from rankwood.metrics.parts.divisors import Places, Reachable
from rankwood.metrics.parts.insertions import (
    additive_insertions,
    precision_insertions,
)
from rankwood.metrics.verbs import Divisor, divisor


@inner
def mark_relevant(label, rel, out):
    """Fill `out` with 1 for relevant documents and 0 for others; return how many are relevant."""
    relevant = 0.0
    for i in range(label.size):
        out[i] = 1.0 if label[i] >= rel else 0.0
        relevant += out[i]
    return relevant


@inner
def divide(out, by):
    """Divide by a number; if it is 0, all values are 0 already."""
    unit = 1.0 / by if by > 0.0 else 0.0
    for i in range(out.size):
        out[i] *= unit


def _label_values(self, label, discount, out):
    relevant = mark_relevant(label, self.rel, out)
    divide(out, divisor(self.divide_by, self.k, label.size, relevant))


def relevance_of(self, label):
    """Return 1 for the label of a relevant document, else 0: a method of metrics with `rel`."""
    return as_type_of(label, label >= self.rel)


@inner
def fill_within(ranked, values, k, room):
    """Fill a record with values by rank, and with 1 for positions within k."""
    by_rank(ranked, values, room.gain)
    for i in each(ranked.slot.size):
        room.discount[i] = 1.0 if i < k else 0.0


@inner
def sum_of_first(ranked, values, k):
    """Return the sum of the values of the first k documents."""
    total = 0.0
    for i in range(min(k, ranked.slot.size)):
        total += values[ranked.slot[i]]
    return total


@on_team
def record_of_first(self, ranked, values, room):
    """Return the record of `fill_within`: a method of metrics with `k`."""
    fill_within(ranked, values, self.k, room)
    return room


def discount_of_first(self, discount, rank):
    """Return 1 for ranks within k, else 0: a method of metrics with `k`."""
    return as_type_of(discount[0], rank < self.k)


def value_of_first(self, ranked, values):
    """Return the sum of the first k values: a method of metrics with `k`."""
    return sum_of_first(ranked, values, self.k)


@part
class Precision:
    """Share of relevant documents among the first k [sanderson2010].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    rel : float
        Smallest label of a relevant document.
    divide_by : part
        What the number of relevant documents is divided by: `Places()` there are, or the `Cutoff()`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Precision
    >>> rw.evaluate([Precision(2)], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'Precision(k=2)': 0.5}
    """

    k: int | None = None
    rel: Positive = 1.0
    divide_by: Divisor = Places()
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return 0 if self.k is None else self.k

    label_values, swap_record, value = _label_values, record_of_first, value_of_first
    rank_discount = discount_of_first
    swap_delta, insertion_record, as_relevance = additive_swap, additive_insertions, relevance_of


@part
class Recall:
    """Share of the relevant documents that are among the first k [sanderson2010].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import Recall
    >>> rw.evaluate([Recall(2), Recall(3)], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'Recall(k=2)': 0.5, 'Recall(k=3)': 1.0}
    """

    k: int | None = None
    rel: Positive = 1.0
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        divide(out, mark_relevant(label, self.rel, out))

    swap_record, value, swap_delta = record_of_first, value_of_first, additive_swap
    rank_discount = discount_of_first
    insertion_record, as_relevance = additive_insertions, relevance_of


@inner
def tied_average_precision(ranked, values, k):
    """Return the mean of average precision over the orders of tied documents.

    In a random order of g documents, r of them relevant, one is at each position with probability r / g,
    and t positions further up then hold t (r - 1) / (g - 1) others [mcsherry2008].
    """
    n, above, total = ranked.slot.size, 0.0, 0.0
    i = 0
    while i < n:
        j, r, unit = i, 0.0, 0.0
        while j < n and ranked.score[j] == ranked.score[i]:
            unit = max(unit, values[ranked.slot[j]])
            r += 1.0 if values[ranked.slot[j]] > 0.0 else 0.0
            j += 1
        g = j - i
        for t in range(min(j, k) - i):
            others = t * (r - 1.0) / (g - 1.0) if t > 0 else 0.0
            total += unit * (r / g) * (above + 1.0 + others) / (i + t + 1)
        above += r
        i = j
    return total


@part
class AP:
    r"""Average precision, :math:`\frac{1}{N} \sum_{p \le k} b_p \, P@p` [sanderson2010].

    The change by a swap follows from what lies above the two documents, without a look at those between
    them [donmez2009].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    rel : float
        Smallest label of a relevant document.
    divide_by : part
        The divisor N: `Reachable()`, min(R, k) of R relevant documents, or `Relevant()`, R.

    Examples
    --------
    The only relevant document among the first two is at position 2, where precision is 1/2; two would fit.

    >>> import rankwood as rw
    >>> from rankwood.metrics import AP
    >>> rw.evaluate([AP(2)], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()
    {'AP(k=2)': 0.25}
    """

    k: int | None = None
    rel: Positive = 1.0
    divide_by: Divisor = Reachable()
    normalised: ClassVar[bool] = True
    #: 1 / position within k; and `lead`, the sum of 1 / position over relevant documents above, less their number
    #: over the own position.
    swap_columns: ClassVar[tuple[str, ...]] = ("gain", "inverse", "lead")

    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        none = as_type_of(room.gain[0], 0.0)
        above = total = none
        for i in range(ranked.n, ranked.slot.size):  # padding
            room.inverse[i] = room.lead[i] = none
        for i in range(ranked.n):
            inverse = as_type_of(none, 1.0 / (i + 1)) if i < self.k else none  # type: ignore[operator]
            room.inverse[i] = inverse
            room.lead[i] = total - above * inverse
            hit = as_type_of(none, room.gain[i] > none)
            above += hit
            total += hit * inverse
        return room

    def value(self, ranked, values):
        total, above = 0.0, 0.0
        for i in range(min(self.k, ranked.slot.size)):
            own = values[ranked.slot[i]]
            above += own > 0.0  # branch-free: hits are hard to predict
            total += own * above / (i + 1)
        return total

    def swap_delta(self, a, b):
        # A relevant document that falls loses its lead; one that rises gains that, and its own hit besides.
        apart = a.own.gain - b.own.gain
        by_own = apart * (a.own.inverse - b.own.inverse)
        return apart * (a.own.lead - b.own.lead) - min(by_own, as_type_of(by_own, 0.0))

    def insertion_record(self, ranked, values, room):
        return precision_insertions(ranked, values, self.k, room)

    label_values, as_relevance = _label_values, relevance_of

    def mean_over_ties(self, ranked, values):
        return tied_average_precision(ranked, values, self.k)
