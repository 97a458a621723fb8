"""Metrics that only know relevant and irrelevant documents: precision, recall, AP, RR."""

from collections import namedtuple
from typing import ClassVar

from rankwood import _check
from rankwood._jit import Can, inner, like, part
from rankwood.metrics.shares import Places, Reachable
from rankwood.metrics.sums import Gains, by_rank, sum_delta
from rankwood.metrics.verbs import per

#: Record of average precision: worth (0 of an irrelevant document), 1 / place within k, and `lead`, the sum of
#: 1 / place over relevant documents above, less their number over the own place.
Hits = namedtuple("Hits", "gain inverse lead")
#: Record of reciprocal rank: worth, the best 1 / place there is (of the query) if the document swaps with
#: one at the very end (relevant) or 1 / place (irrelevant), and the value of the query.
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
    """Divide by a number, if there is anything to divide."""
    for i in range(out.size):
        out[i] = out[i] / by if out[i] > 0.0 else 0.0


def _first_k(self, q, worth):
    both = by_rank(q, worth, 2)
    for i in range(q.slot.size):
        both[1, i] = 1.0 if i < self.k else 0.0
    return Gains(both[0], both[1])


def _sum_of_first(self, n, own):
    total = 0.0
    for i in range(min(self.k, n)):
        total += own.gain[i]
    return total


@part
class Precision:
    """Share of relevant documents among the first k; `per` says what to divide by if there are fewer."""

    k: int | None = None
    rel: float = 1.0
    per: Can("per") = Places()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        _check.positive(self.rel, "Precision.rel")

    def worth(self, label, table, out):
        relevant = mark(label, self.rel, out)
        share(out, per(self.per, self.k, label.size, relevant))

    columns, value, delta = _first_k, _sum_of_first, sum_delta


@part
class Recall:
    """Share of the relevant documents that are among the first k."""

    k: int | None = None
    rel: float = 1.0
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        _check.positive(self.rel, "Recall.rel")

    def worth(self, label, table, out):
        share(out, mark(label, self.rel, out))

    columns, value, delta = _first_k, _sum_of_first, sum_delta


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
        relevant = table[0, i] > none
        above += like(none, 1.0) if relevant else none
        total += inverse if relevant else none
    return Hits(table[0], table[1], table[2])


@part
class AP:
    r"""Average precision, :math:`\frac{1}{N} \sum_{p \le k} b_p \, P@p`; N is min(R, k) unless `per` says else.

    The change by a swap is known from what lies above the two documents, without going over those
    between them [donmez2009].
    """

    k: int | None = None
    rel: float = 1.0
    per: Can("per") = Reachable()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        _check.positive(self.rel, "AP.rel")

    def worth(self, label, table, out):
        relevant = mark(label, self.rel, out)
        share(out, per(self.per, self.k, label.size, relevant))

    def columns(self, q, worth):
        return hits(q, worth, self.k)

    def value(self, n, own):
        total, above = 0.0, 0.0
        for i in range(min(self.k, n)):
            if own.gain[i] > 0.0:
                above += 1.0
                total += own.gain[i] * above * own.inverse[i]
        return total

    def delta(self, x, y, a, b):
        # A relevant document that falls loses its lead; one that rises wins that, and its own hit besides.
        apart = a.gain - b.gain
        by_own = apart * (a.inverse - b.inverse)
        return apart * (a.lead - b.lead) - min(by_own, like(by_own, 0.0))

    def tied(self, q, worth):
        # In a random order of g documents, r of them relevant, one is at each place with probability r/g, and
        # t places further up then hold t (r - 1)/(g - 1) others [mcsherry2008].
        n, above, total = q.slot.size, 0.0, 0.0
        i = 0
        while i < n:
            j, r, unit = i, 0.0, 0.0
            while j < n and q.score[j] == q.score[i]:
                unit = max(unit, worth[q.slot[j]])
                r += 1.0 if worth[q.slot[j]] > 0.0 else 0.0
                j += 1
            g = j - i
            for t in range(min(j, self.k) - i):
                others = t * (r - 1.0) / (g - 1.0) if t > 0 else 0.0
                total += unit * (r / g) * (above + 1.0 + others) / (i + t + 1)
            above += r
            i = j
        return total


@part
class RR:
    """Reciprocal rank: 1 over the place of the first relevant document, 0 beyond k [voorhees1999]."""

    k: int | None = None
    rel: float = 1.0
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        _check.positive(self.rel, "RR.rel")

    def worth(self, label, table, out):
        mark(label, self.rel, out)

    def columns(self, q, worth):
        table = by_rank(q, worth, 2)
        none = like(table[0, 0], 0.0)
        first = second = none
        place = -1
        for i in range(min(q.slot.size, worth.size, self.k)):
            if table[0, i] > none:
                if place < 0:
                    place, first = i, like(none, 1.0 / (i + 1))
                else:
                    second = like(none, 1.0 / (i + 1))
                    break
        for i in range(q.slot.size):
            inverse = like(none, 1.0 / (i + 1)) if i < self.k else none
            table[1, i] = inverse if table[0, i] <= none else first
        if place >= 0:
            table[1, place] = second
        return First(table[0], table[1], first)

    def value(self, n, own):
        return float(own.value)

    def delta(self, x, y, a, b):
        change = max(a.other, b.other) - a.value
        return change if a.gain != b.gain else like(change, 0.0)

    def tied(self, q, worth):
        # Place by place: the chance that no relevant document came before, and that this one is.
        n = q.slot.size
        i = 0
        while i < n:
            j, r = i, 0.0
            while j < n and q.score[j] == q.score[i]:
                r += worth[q.slot[j]]
                j += 1
            if r > 0.0:
                total, none = 0.0, 1.0
                for t in range(min(j, self.k) - i):
                    left = j - i - t
                    total += none * min(r / left, 1.0) / (i + t + 1)
                    none *= max(1.0 - r / left, 0.0)
                return total
            i = j
        return 0.0
