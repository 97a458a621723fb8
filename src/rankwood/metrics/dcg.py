"""Discounted cumulative gain: DCG, NDCG."""

from typing import ClassVar

import numpy as np

from rankwood._core.jit import Can, inner, like, part
from rankwood._core.sorting import resort
from rankwood.metrics.additive import Gains, by_rank, sum_delta
from rankwood.metrics.gains import GAINS, Exp, Linear, all_gains
from rankwood.metrics.insertions import sum_moves
from rankwood.metrics.verbs import gain

__all__ = ["DCG", "GAINS", "NDCG", "Exp", "Gains", "Linear"]


_GRADES = 16  # labels 0 to 15 are counted, lists with others are sorted


@inner
def best_dcg(gains, label, table, k, out):
    """DCG of the first k in the best order, by decreasing label; `out` is filled with the gains."""
    counts = np.empty(_GRADES, np.int64)
    for grade in range(_GRADES):
        counts[grade] = 0
    known = 0
    for i in range(label.size):
        out[i] = gain(gains, label[i])
        g = np.int64(label[i]) % _GRADES
        counts[g] += 1
        known += 1 if g == label[i] else 0
    total, place = 0.0, 0
    if known == label.size:
        for grade in range(_GRADES - 1, -1, -1):
            own = gain(gains, float(grade))
            for i in range(place, place + counts[grade]):
                total += own * table[i] if i < k else 0.0
            place += counts[grade]
        return total
    best, slot = np.empty(label.size), np.empty(label.size, np.int64)
    for i in range(label.size):
        best[i], slot[i] = out[i], i
    resort(best, slot)
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
        all_gains(self.gain, label, out)

    columns, value, delta, move = _columns, _value, sum_delta, sum_moves


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
        cut = self.k if self.k < self.ideal else self.ideal  # type: ignore[operator]
        ideal = best_dcg(self.gain, label, table, cut if cut < label.size else label.size, out)  # type: ignore[operator]
        for i in range(label.size):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    columns, value, delta, move = _columns, _value, sum_delta, sum_moves
