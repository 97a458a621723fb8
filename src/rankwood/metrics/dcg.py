"""Discounted cumulative gain: DCG, NDCG."""

from typing import ClassVar

import numpy as np

from rankwood._jit import Can, like, part
from rankwood.metrics.gains import GAINS, Exp, Linear
from rankwood.metrics.query import arrange
from rankwood.metrics.sums import Gains, by_rank, sum_delta
from rankwood.metrics.verbs import gain

__all__ = ["DCG", "GAINS", "NDCG", "Exp", "Gains", "Linear"]

# What DCG and NDCG share: they differ in what a document is worth, its gain or its share of the ideal.


def _columns(self, q, worth):
    both = by_rank(q, worth, 2)
    for i in range(q.slot.size):
        both[1, i] = q.table[i] if i < self.k else like(q.table[i], 0.0)
    return Gains(both[0], both[1])


def _value(self, n, own):
    total = 0.0
    for i in range(min(self.k, n)):
        total += own.gain[i] * own.discount[i]
    return total


@part
class DCG:
    r"""Discounted cumulative gain of the first k, :math:`\sum_{p \le k} G_p / \log_2(1 + p)` [jarvelin2002]."""

    k: int | None = None
    gain: Can("gain") = Exp()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True

    def worth(self, label, table, out):
        for i in range(label.size):
            out[i] = gain(self.gain, label[i])

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
        n = label.size
        best, slot = np.empty(n), np.empty(n, np.int64)
        for i in range(n):
            out[i] = best[i] = gain(self.gain, label[i])
            slot[i] = i
        arrange(best, slot)
        ideal = 0.0
        for i in range(min(self.k, self.ideal, n)):
            ideal += best[i] * table[i]
        for i in range(n):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    columns, value, delta = _columns, _value, sum_delta
