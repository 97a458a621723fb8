"""The reciprocal rank of the first relevant document."""

from collections import namedtuple
from typing import ClassVar

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood.metrics.parts.additive import by_rank
from rankwood.metrics.parts.binary import mark_relevant, relevance_of
from rankwood.metrics.parts.insertions import first_hit_insertions
from rankwood.metrics.verbs import tied_run

#: Swap record of the reciprocal rank: the value of a document; `other`, for a relevant document the best 1 / position
#: without it, for an irrelevant one its own 1 / position; and the metric of the query.
FirstHit = namedtuple("FirstHit", "gain other value")


@inner
def tied_reciprocal_rank(ranked, values, k):
    """Return the mean of the reciprocal rank over the orders of tied documents.

    In the first run of ties with relevant documents, position by position: the probability that none came before,
    times the probability that one is here.
    """
    n = ranked.slot.size
    i = 0
    while i < n:
        j, r = tied_run(ranked, values, i)
        if r > 0.0:
            total, none = 0.0, 1.0
            for t in range(min(j, k) - i):
                here = min(r / (j - i - t), 1.0)
                total += none * here / (i + t + 1)
                none *= 1.0 - here
            return total
        i = j
    return 0.0


@part
class RR:
    """Reciprocal rank: 1 / position of the first relevant document [voorhees1999].

    Parameters
    ----------
    k : int, optional
        Cutoff: the metric is 0 if the first k documents are irrelevant. None means the whole list.
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import RR
    >>> rw.evaluate([RR(), RR(rel=2), RR(1)], [0, 1, 0, 2], [4.0, 3.0, 2.0, 1.0]).mean()
    {'RR()': 0.5, 'RR(rel=2.0)': 0.25, 'RR(k=1)': 0.0}
    """

    k: int | None = None
    rel: Positive = 1.0
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = ("gain", "other")

    def label_values(self, label, discount, out):
        mark_relevant(label, self.rel, out)

    def rank_discount(self, discount, rank):
        # Of this form only if no more than one document is relevant.
        inverse = as_type_of(discount[0], 1.0 / (rank + 1))
        return inverse if rank < self.k else as_type_of(inverse, 0.0)  # type: ignore[operator]

    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        none = as_type_of(room.gain[0], 0.0)
        best = second = none
        first = -1
        for i in range(min(ranked.n, self.k)):
            if room.gain[i] > none:
                if first >= 0:
                    second = as_type_of(none, 1.0 / (i + 1))
                    break
                first, best = i, as_type_of(none, 1.0 / (i + 1))
        for i in range(ranked.slot.size):
            inverse = as_type_of(none, 1.0 / (i + 1)) if i < self.k else none  # type: ignore[operator]
            room.other[i] = best if room.gain[i] > none else inverse
        if first >= 0:
            room.other[first] = second
        return FirstHit(room.gain, room.other, best)

    def value(self, ranked, values):
        for i in range(min(self.k, ranked.slot.size)):
            if values[ranked.slot[i]] > 0.0:
                return 1.0 / (i + 1)
        return 0.0

    def swap_delta(self, a, b):
        change = max(a.own.other, b.own.other) - b.own.value
        return change if a.own.gain != b.own.gain else as_type_of(change, 0.0)

    def insertion_record(self, ranked, values, room):
        return first_hit_insertions(ranked, values, self.k, room)

    as_relevance = relevance_of

    def mean_over_ties(self, ranked, values):
        return tied_reciprocal_rank(ranked, values, self.k)
