"""Discounted cumulative gain: gains, DCG, NDCG."""

from collections import namedtuple
from typing import ClassVar

import numpy as np

from rankwood import _check
from rankwood._jit import Can, like, part
from rankwood.metrics.query import arrange
from rankwood.metrics.verbs import gain


@part
class Exp:
    r"""Gain :math:`2^y - 1` of a label :math:`y` [burges2005]."""

    def gain(self, label):
        return 2.0**label - 1.0

    @staticmethod
    def check_labels(y: np.ndarray) -> None:
        """Raise unless `y` holds integers small enough for 2**y."""
        if y.size and (y != np.floor(y)).any():
            row = int(np.flatnonzero(y != np.floor(y))[0])
            raise _check.InputError(
                f"the gain 2^y - 1 needs integer labels, got {y[row]:g} at row {row}; "
                'use gain="linear" for fractional ones.'
            )
        if y.size and y.max() > 1000:
            row = int(np.argmax(y))
            raise _check.InputError(
                f"the gain 2^y - 1 overflows beyond y = 1000, got {y[row]:g} at row {row}; "
                'use gain="linear" for labels of this size.'
            )


@part
class Linear:
    """Gain y: the label itself."""

    def gain(self, label):
        return label

    @staticmethod
    def check_labels(y: np.ndarray) -> None:
        """Accept every label."""


#: Record of the DCG family, by rank.
Gains = namedtuple("Gains", "gain discount")


# What DCG and NDCG share: they differ in what a document is worth, its gain or its share of the ideal.


def _columns(self, q, worth):
    n = q.slot.size
    both = np.empty((2, n), worth.dtype)
    for i in range(n):
        both[0, i] = worth[q.slot[i]]
        both[1, i] = q.table[i] if i < self.k else like(q.table[i], 0.0)
    return Gains(both[0], both[1])


def _value(self, n, own):
    total = 0.0
    for i in range(min(self.k, n)):
        total += own.gain[i] * own.discount[i]
    return total


def _delta(self, x, y, a, b):
    return (b.gain - a.gain) * (a.discount - b.discount)


GAINS: dict[str, Exp | Linear] = {"exp": Exp(), "linear": Linear()}


@part
class DCG:
    r"""Discounted cumulative gain of the first k, :math:`\sum_{p \le k} G_p / \log_2(1 + p)` [jarvelin2002]."""

    k: int | None = None
    gain: Can("gain") = Exp()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = False

    def worth(self, label, table, out):
        for i in range(label.size):
            out[i] = gain(self.gain, label[i])

    columns, value, delta = _columns, _value, _delta


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

    columns, value, delta = _columns, _value, _delta
