"""Sums over positions with other discounts: average relevance position, rank-biased precision, exponential DCG."""

from typing import ClassVar

from rankwood._kernels.compile.jit import inner, uncounted
from rankwood._kernels.each import each, fill_powers, on_team, power
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Fraction, Positive, part
from rankwood.metrics.parts.additive import GAINS_COLUMNS, additive_swap, by_rank
from rankwood.metrics.parts.divisors import NoDivisor
from rankwood.metrics.parts.gains import AtLeast, Linear, fill_gains
from rankwood.metrics.parts.insertions import additive_insertions
from rankwood.metrics.verbs import Divisor, Gain, divisor, gain


@uncounted
def power_discounts(ranked, values, base, k, room):
    """Fill a swap record with the discounts 1, b, b^2, ..., and 0 from k on."""
    by_rank(ranked, values, room.gain)
    fill_powers(room.discount, ranked.slot.size, base, k)
    return room


@uncounted
def positions_beyond(ranked, values, k, room):
    """Fill a swap record whose "discounts" are the number of positions beyond the k-th."""
    by_rank(ranked, values, room.gain)
    for i in each(ranked.slot.size):
        room.discount[i] = max(0, i + 1 - k)
    return room


@inner
def power_sum(ranked, values, base, k):
    """Return the sum of value times 1, b, b^2, ..., over the first k."""
    total, now = 0.0, 1.0
    for i in range(min(k, ranked.slot.size)):
        total += values[ranked.slot[i]] * now
        now *= base
    return total


@inner
def sum_beyond(ranked, values, k):
    """Return the sum of value times the number of positions beyond the k-th."""
    total = 0.0
    for i in range(k, ranked.slot.size):
        total += values[ranked.slot[i]] * (i + 1 - k)
    return total


@part
class ARP:
    r"""Average relevance position as a sum, :math:`\sum_p G_p \, p`: lower is better [wang2018].

    Parameters
    ----------
    gain : part
        Gain G of a label.
    divide_by : part
        `NoDivisor()`, or `Relevant()` for the mean position, weighted by gains.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import ARP, Relevant
    >>> rw.evaluate([ARP(), ARP(divide_by=Relevant())], [0, 2, 0, 2], [4.0, 3.0, 2.0, 1.0]).mean()
    {'ARP()': 12.0, 'ARP(divide_by=Relevant())': 3.0}
    """

    gain: Gain = Linear()
    divide_by: Divisor = NoDivisor()
    higher_is_better: ClassVar[bool] = False
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        n, total = label.size, 0.0
        for i in range(n):
            out[i] = gain(self.gain, label[i])
            total += out[i]
        for i in range(n):
            out[i] = out[i] / divisor(self.divide_by, n, n, total) if total > 0.0 else 0.0

    def rank_discount(self, discount, rank):
        return as_type_of(discount[0], rank + 1)

    @on_team
    def swap_record(self, ranked, values, room):
        return positions_beyond(ranked, values, 0, room)

    def value(self, ranked, values):
        return sum_beyond(ranked, values, 0)

    swap_delta = additive_swap


@part
class ARPK:
    r"""Distance of relevant documents from the first k, :math:`\sum_{p > k} b_p (p - k)` [lambdagap2025].

    Parameters
    ----------
    k : int
        Cutoff.
    rel : float
        Smallest label of a relevant document.

    Examples
    --------
    The relevant documents are at positions 2 and 4, one and three positions beyond the first.

    >>> import rankwood as rw
    >>> from rankwood.metrics import ARPK
    >>> rw.evaluate([ARPK(1)], [0, 1, 0, 1], [4.0, 3.0, 2.0, 1.0]).mean()
    {'ARPK(k=1)': 4.0}
    """

    k: int = 10
    rel: Positive = 1.0
    higher_is_better: ClassVar[bool] = False
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        for i in range(label.size):
            out[i] = 1.0 if label[i] >= self.rel else 0.0

    def rank_discount(self, discount, rank):
        return as_type_of(discount[0], max(0, rank + 1 - self.k))

    @on_team
    def swap_record(self, ranked, values, room):
        return positions_beyond(ranked, values, self.k, room)

    def value(self, ranked, values):
        return sum_beyond(ranked, values, self.k)

    swap_delta = additive_swap


@part
class ExpDCG:
    r"""DCG with exponential discounts, :math:`\sum_{p \le k} G_p \, b^{p-1}` [whichtricks2023].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    base : float
        Factor b from one discount to the next.
    gain : part
        Gain G of a label.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import ExpDCG
    >>> rw.evaluate([ExpDCG(base=0.5)], [0, 2, 1, 0], [4.0, 3.0, 2.0, 1.0]).mean()  # 2/2 + 1/4
    {'ExpDCG(base=0.5)': 1.25}
    """

    k: int | None = None
    base: Fraction = 0.85
    gain: Gain = Linear()
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        fill_gains(self.gain, label, out)

    def rank_discount(self, discount, rank):
        return power(self.base, rank) if rank < self.k else as_type_of(self.base, 0.0)  # type: ignore[operator]

    @on_team
    def swap_record(self, ranked, values, room):
        return power_discounts(ranked, values, self.base, self.k, room)

    def value(self, ranked, values):
        return power_sum(ranked, values, self.base, self.k)

    swap_delta, insertion_record = additive_swap, additive_insertions


@part
class RBP:
    r"""Rank-biased precision, :math:`(1 - p) \sum_{i \le k} p^{i-1} b_i` [moffat2008].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    p : float
        Probability that the user goes on to the next document.
    gain : part
        `AtLeast(rel)` for relevant or not; ``ExpChance()`` makes it graded.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import RBP
    >>> rw.evaluate([RBP(p=0.5)], [0, 1], [2.0, 1.0]).mean()
    {'RBP(p=0.5)': 0.25}
    """

    k: int | None = None
    p: Fraction = 0.8
    gain: Gain = AtLeast()
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    def label_values(self, label, discount, out):
        for i in range(label.size):
            out[i] = (1.0 - self.p) * gain(self.gain, label[i])

    def rank_discount(self, discount, rank):
        return power(self.p, rank) if rank < self.k else as_type_of(self.p, 0.0)  # type: ignore[operator]

    @on_team
    def swap_record(self, ranked, values, room):
        return power_discounts(ranked, values, self.p, self.k, room)

    def value(self, ranked, values):
        return power_sum(ranked, values, self.p, self.k)

    swap_delta, insertion_record = additive_swap, additive_insertions
