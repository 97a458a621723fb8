"""Discounted cumulative gain: DCG, NDCG."""

from typing import ClassVar

import numpy as np

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.each import each, on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.numeric.sorting import shell_sort
from rankwood._kernels.parts import part
from rankwood.metrics.parts.additive import GAINS_COLUMNS, Gains, additive_swap, by_rank
from rankwood.metrics.parts.gains import GAINS, Exp, Linear, fill_gains
from rankwood.metrics.parts.insertions import additive_insertions
from rankwood.metrics.verbs import Gain, gain

__all__ = ["DCG", "GAINS", "NDCG", "Exp", "Gains", "Linear"]


_GRADES = 16  # labels 0 to 15 are counted, lists with others are sorted


@inner
def best_dcg(gains, label, discount, k, out):
    """Return the DCG of the first k in the best order, by decreasing label; fill `out` with the gains."""
    counts = np.empty(_GRADES, np.int64)
    for grade in range(_GRADES):
        counts[grade] = 0
    known = 0
    for i in range(label.size):
        out[i] = gain(gains, label[i])
        whole = np.int64(label[i]) % _GRADES
        counts[whole] += 1
        known += 1 if whole == label[i] else 0
    total, position = 0.0, 0
    if known == label.size:
        for grade in range(_GRADES - 1, -1, -1):
            own = gain(gains, float(grade))
            for i in range(position, position + counts[grade]):
                total += own * discount[i] if i < k else 0.0
            position += counts[grade]
        return total
    best, slot = np.empty(label.size), np.empty(label.size, np.int64)
    for i in range(label.size):
        best[i], slot[i] = out[i], i
    shell_sort(best, slot)
    for i in range(k):
        total += best[i] * discount[i]
    return total


# DCG and NDCG differ only in the value of a document: its gain, or its share of the ideal.


@on_team
def _swap_record(self, ranked, values, room):
    by_rank(ranked, values, room.gain)
    for i in each(ranked.slot.size):
        room.discount[i] = ranked.discount[i] if i < self.k else as_type_of(ranked.discount[i], 0.0)
    return room


def _rank_discount(self, discount, rank):
    return discount[rank] if rank < self.k else as_type_of(discount[rank], 0.0)


def _value(self, ranked, values):
    total = 0.0
    for i in range(min(self.k, ranked.slot.size)):
        total += values[ranked.slot[i]] * ranked.discount[i]
    return total


@part
class DCG:
    r"""Discounted cumulative gain of the first k, :math:`\sum_{p \le k} G_p / \log_2(1 + p)` [jarvelin2002].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means no cutoff.
    gain : part
        Gain G of a label: `Exp()`, `Linear()`, `AtLeast(rel)`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import DCG, Linear
    >>> rw.evaluate([DCG(), DCG(gain=Linear())], [0, 0, 2], [3.0, 2.0, 1.0]).mean()  # gain 3 or 2, discount 1/2
    {'DCG()': 1.5, 'DCG(gain=Linear())': 1.0}
    """

    k: int | None = None
    gain: Gain = Exp()
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        fill_gains(self.gain, label, out)

    swap_record, value, swap_delta = _swap_record, _value, additive_swap
    insertion_record, rank_discount = additive_insertions, _rank_discount


@part
class NDCG:
    r"""DCG of the first k over the best possible DCG, :math:`\mathrm{DCG}_k / \mathrm{IDCG}` [jarvelin2002].

    LightGBM's training weight truncates the ideal but never the discounts: it is the swap of `NDCG(ideal=k)`, while
    `NDCG(k)` is the metric people report. A query in which no document has a gain has the value 0.

    Parameters
    ----------
    k : int, optional
        Cutoff of the discounts; None means no cutoff.
    gain : part
        Gain of a label: `Exp()`, `Linear()`, `AtLeast(rel)`.
    ideal : int, optional
        Cutoff of the ideal DCG, if it is smaller than `k`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import NDCG
    >>> rw.evaluate([NDCG(), NDCG(2)], [0, 0, 2], [3.0, 2.0, 1.0]).mean()
    {'NDCG()': 0.5, 'NDCG(k=2)': 0.0}
    """

    k: int | None = None
    gain: Gain = Exp()
    ideal: int | None = None
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        cutoff = self.k if self.k < self.ideal else self.ideal  # type: ignore[operator]
        cutoff = cutoff if cutoff < label.size else label.size  # type: ignore[operator]
        ideal = best_dcg(self.gain, label, discount, cutoff, out)
        for i in range(label.size):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    swap_record, value, swap_delta = _swap_record, _value, additive_swap
    insertion_record, rank_discount = additive_insertions, _rank_discount
