"""Discounted cumulative gain: DCG, NDCG."""

from typing import ClassVar

import numpy as np

from rankwood._jit import Can, inner, like, part
from rankwood.metrics.gains import GAINS, Exp, Linear, spread
from rankwood.metrics.query import arrange
from rankwood.metrics.sums import Gains, by_rank, sum_delta

__all__ = ["DCG", "GAINS", "NDCG", "Exp", "Gains", "Linear"]


@inner
def best_dcg(gains, label, table, k, out):
    """DCG of the first k in the best order; `out` is filled with the gains."""
    grades, whole = spread(gains, label, out)
    if not whole:
        return _best_sorted(out, table, k)
    total, place = 0.0, 0
    while place < k:  # the best grade that is left, until the first k are filled
        g = 0
        for other in range(grades.shape[1]):
            if grades[1, other] > 0.0 and (grades[1, g] == 0.0 or grades[0, other] > grades[0, g]):
                g = other
        end = min(place + int(grades[1, g]), k)
        for i in range(place, end):
            total += grades[0, g] * table[i]
        grades[1, g] = 0.0
        place = end
    return total


@inner
def _best_sorted(gains, table, k):
    best, slot = np.empty(gains.size), np.empty(gains.size, np.int64)
    for i in range(gains.size):
        best[i] = gains[i]
        slot[i] = i
    arrange(best, slot)
    total = 0.0
    for i in range(k):
        total += best[i] * table[i]
    return total


# What DCG and NDCG share: they differ in what a document is worth, its gain or its share of the ideal.


def _columns(self, q, worth):
    both = by_rank(q, worth, 2)
    for i in range(q.slot.size):
        both[1, i] = q.table[i] if i < self.k else like(q.table[i], 0.0)
    return Gains(both[0], both[1])


def _value(self, q, worth):
    total = 0.0
    for i in range(min(self.k, q.slot.size)):
        total += worth[q.slot[i]] * q.table[i]
    return total


@part
class DCG:
    r"""Discounted cumulative gain of the first k, :math:`\sum_{p \le k} G_p / \log_2(1 + p)` [jarvelin2002]."""

    k: int | None = None
    gain: Can("gain") = Exp()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True

    def worth(self, label, table, out):
        spread(self.gain, label, out)

    columns, value, delta = _columns, _value, sum_delta


@part
class NDCG:
    r"""DCG of the first k over the best that could be, :math:`\mathrm{DCG}_k / \mathrm{IDCG}` [jarvelin2002].

    The best is that of the first k, or of the first `ideal` if that is fewer. LightGBM's training
    weight truncates the ideal but never the discounts: it is the swap of `NDCG(ideal=k)`, while
    `NDCG(k)` is the metric people report. A query that has no gain is worth 0.
    """

    k: int | None = None
    gain: Can("gain") = Exp()  # type: ignore[valid-type]
    ideal: int | None = None
    normalised: ClassVar[bool] = True  # at most 1
    higher_is_better: ClassVar[bool] = True

    def worth(self, label, table, out):
        ideal = best_dcg(self.gain, label, table, min(self.k, self.ideal, label.size), out)
        for i in range(label.size):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    columns, value, delta = _columns, _value, sum_delta
