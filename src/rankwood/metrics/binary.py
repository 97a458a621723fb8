"""Metrics that only know relevant and irrelevant documents: precision, recall, AP, RR."""

from collections import namedtuple
from typing import ClassVar

from rankwood._core import checks
from rankwood._core.former import renamed_fields
from rankwood._core.jit import Can, inner, like, part
from rankwood.metrics.additive import Gains, by_rank, sum_delta
from rankwood.metrics.divisors import Places, Reachable
from rankwood.metrics.insertions import first_moves, hit_moves, sum_moves
from rankwood.metrics.verbs import per

#: Record of average precision: worth (0 of an irrelevant document), 1 / place within k, and `lead`, the sum of
#: 1 / place over relevant documents above, less their number over the own place.
Hits = namedtuple("Hits", "gain inverse lead")
#: Record of reciprocal rank: worth; `other`, of a relevant document the best 1 / place without it, of an
#: irrelevant one its own 1 / place; and the value of the query.
First = namedtuple("First", "gain other value")


@inner
def mark(label, rel, out):
    """Fill `out` with 1 for relevant documents and 0 for others; return how many are relevant."""
    relevant = 0.0
    for i in range(label.size):
        out[i] = 1.0 if label[i] >= rel else 0.0
        relevant += out[i]
    return relevant


@inner
def share(out, by):
    """Divide by a number; if it is 0, so are all."""
    unit = 1.0 / by if by > 0.0 else 0.0
    for i in range(out.size):
        out[i] *= unit


def _relevant(self, label):
    return like(label, label >= self.rel)


def _hit_or_not(self, q, worth):
    both = by_rank(q, worth, 2)
    for i in range(q.slot.size):
        both[1, i] = 1.0 if i < self.k else 0.0
    return Gains(both[0], both[1])


def _sum_of_first(self, q, worth):
    total = 0.0
    for i in range(min(self.k, q.slot.size)):
        total += worth[q.slot[i]]
    return total


@renamed_fields(per="divide_by")
@part
class Precision:
    """Share of relevant documents among the first k; `divide_by` is the divisor."""

    k: int | None = None
    rel: float = 1.0
    divide_by: Can("per") = Places()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        checks.positive(self.rel, "Precision.rel")

    def ranks(self) -> int:
        """Return k: all that matters is which documents are the first k."""
        return 0 if self.k is None else self.k

    def worth(self, label, table, out):
        relevant = mark(label, self.rel, out)
        share(out, per(self.divide_by, self.k, label.size, relevant))

    columns, value, delta = _hit_or_not, _sum_of_first, sum_delta
    move, grade = sum_moves, _relevant


@part
class Recall:
    """Share of the relevant documents that are among the first k."""

    k: int | None = None
    rel: float = 1.0
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        checks.positive(self.rel, "Recall.rel")

    def worth(self, label, table, out):
        share(out, mark(label, self.rel, out))

    columns, value, delta = _hit_or_not, _sum_of_first, sum_delta
    move, grade = sum_moves, _relevant


@inner
def hits(q, worth, k):
    """Record of average precision of the first k."""
    table = by_rank(q, worth, 3)
    none = like(table[0, 0], 0.0)
    above = total = none
    for i in range(q.slot.size):
        inverse = like(none, 1.0 / (i + 1)) if i < k else none
        table[1, i] = inverse
        table[2, i] = total - above * inverse
        hit = like(none, table[0, i] > none)
        above += hit
        total += hit * inverse
    return Hits(table[0], table[1], table[2])


@inner
def tied_hits(q, worth, k):
    """Average precision, its mean over the orders of tied documents.

    In a random order of g documents, r of them relevant, one is at each place with probability r / g,
    and t places further up then hold t (r - 1) / (g - 1) others [mcsherry2008].
    """
    n, above, total = q.slot.size, 0.0, 0.0
    i = 0
    while i < n:
        j, r, unit = i, 0.0, 0.0
        while j < n and q.score[j] == q.score[i]:
            unit = max(unit, worth[q.slot[j]])
            r += 1.0 if worth[q.slot[j]] > 0.0 else 0.0
            j += 1
        g = j - i
        for t in range(min(j, k) - i):
            others = t * (r - 1.0) / (g - 1.0) if t > 0 else 0.0
            total += unit * (r / g) * (above + 1.0 + others) / (i + t + 1)
        above += r
        i = j
    return total


def _average_precision(self, q, worth):
    total, above = 0.0, 0.0
    for i in range(min(self.k, q.slot.size)):
        own = worth[q.slot[i]]
        above += own > 0.0  # no branch, which would often be taken wrongly
        total += own * above / (i + 1)
    return total


@renamed_fields(per="divide_by")
@part
class AP:
    r"""Average precision, :math:`\frac{1}{N} \sum_{p \le k} b_p \, P@p`; `divide_by` sets N, by default min(R, k).

    The change by a swap is known from what lies above the two documents, without going over those
    between them [donmez2009].
    """

    k: int | None = None
    rel: float = 1.0
    divide_by: Can("per") = Reachable()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        checks.positive(self.rel, "AP.rel")

    def worth(self, label, table, out):
        relevant = mark(label, self.rel, out)
        share(out, per(self.divide_by, self.k, label.size, relevant))

    def columns(self, q, worth):
        return hits(q, worth, self.k)

    value = _average_precision

    def delta(self, x, y, a, b):
        # A relevant document that falls loses its lead; one that rises wins that, and its own hit besides.
        apart = a.gain - b.gain
        by_own = apart * (a.inverse - b.inverse)
        return apart * (a.lead - b.lead) - min(by_own, like(by_own, 0.0))

    def move(self, q, worth):
        return hit_moves(q, worth, self.k)

    grade = _relevant

    def tied(self, q, worth):
        return tied_hits(q, worth, self.k)


@inner
def first(q, worth, k):
    """Record of the reciprocal rank of the first relevant document within k."""
    table = by_rank(q, worth, 2)
    none = like(table[0, 0], 0.0)
    best = second = none
    place = -1
    for i in range(min(q.slot.size, worth.size, k)):
        if table[0, i] > none:
            if place >= 0:
                second = like(none, 1.0 / (i + 1))
                break
            place, best = i, like(none, 1.0 / (i + 1))
    for i in range(q.slot.size):
        inverse = like(none, 1.0 / (i + 1)) if i < k else none
        table[1, i] = best if table[0, i] > none else inverse
    if place >= 0:
        table[1, place] = second
    return First(table[0], table[1], best)


@inner
def tied_first(q, worth, k):
    """Reciprocal rank, its mean over the orders of tied documents.

    In the first run of ties with relevant documents, place by place: the chance that none came before,
    times the chance that one is here.
    """
    n = q.slot.size
    i = 0
    while i < n:
        j, r = i, 0.0
        while j < n and q.score[j] == q.score[i]:
            r += worth[q.slot[j]]
            j += 1
        if r > 0.0:
            total, none = 0.0, 1.0
            for t in range(min(j, k) - i):
                here = min(r / (j - i - t), 1.0)
                total += none * here / (i + t + 1)
                none *= 1.0 - here
            return total
        i = j
    return 0.0


def _reciprocal(self, q, worth):
    for i in range(min(self.k, q.slot.size)):
        if worth[q.slot[i]] > 0.0:
            return 1.0 / (i + 1)
    return 0.0


@part
class RR:
    """Reciprocal rank: 1 over the place of the first relevant document, 0 beyond k [voorhees1999]."""

    k: int | None = None
    rel: float = 1.0
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        checks.positive(self.rel, "RR.rel")

    def worth(self, label, table, out):
        mark(label, self.rel, out)

    def columns(self, q, worth):
        return first(q, worth, self.k)

    value = _reciprocal

    def delta(self, x, y, a, b):
        change = max(a.other, b.other) - a.value
        return change if a.gain != b.gain else like(change, 0.0)

    def move(self, q, worth):
        return first_moves(q, worth, self.k)

    grade = _relevant

    def tied(self, q, worth):
        return tied_first(q, worth, self.k)
