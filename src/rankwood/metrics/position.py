"""Sums over positions that don't end at a cutoff: average relevance position, RBP, exponential DCG."""

from typing import ClassVar

from rankwood._core import checks
from rankwood._core.former import renamed_fields
from rankwood._core.jit import Can, inner, like, part
from rankwood.metrics.additive import Gains, by_rank, check_fraction, sum_delta
from rankwood.metrics.divisors import NoDivisor
from rankwood.metrics.gains import AtLeast, Linear
from rankwood.metrics.insertions import sum_moves
from rankwood.metrics.verbs import gain, per


@inner
def powers(q, worth, base, k):
    """Record with the discounts 1, b, b^2, ..., and 0 from k on."""
    both = by_rank(q, worth, 2)
    now = like(both[0, 0], 1.0)
    for i in range(q.slot.size):
        both[1, i] = now if i < k else like(now, 0.0)
        now *= base
    return Gains(both[0], both[1])


@inner
def places_after(q, worth, k):
    """Record with the "discounts" of how far each place is beyond the k-th."""
    both = by_rank(q, worth, 2)
    for i in range(q.slot.size):
        both[1, i] = max(0, i + 1 - k)
    return Gains(both[0], both[1])


@inner
def power_sum(q, worth, base, k):
    """Sum of worth times 1, b, b^2, ..., over the first k."""
    total, now = 0.0, 1.0
    for i in range(min(k, q.slot.size)):
        total += worth[q.slot[i]] * now
        now *= base
    return total


@inner
def distance_sum(q, worth, k):
    """Sum of worth times places beyond the k-th."""
    total = 0.0
    for i in range(k, q.slot.size):
        total += worth[q.slot[i]] * (i + 1 - k)
    return total


@renamed_fields(per="divide_by")
@part
class ARP:
    r"""Average relevance position as a sum, :math:`\sum_p G_p \, p`: lower is better [wang2018].

    ``divide_by=Relevant()`` divides by the sum of gains, which makes it the mean position.
    """

    gain: Can("gain") = Linear()  # type: ignore[valid-type]
    divide_by: Can("per") = NoDivisor()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False

    def worth(self, label, table, out):
        total = 0.0
        for i in range(label.size):
            out[i] = gain(self.gain, label[i])
            total += out[i]
        for i in range(label.size):
            divisor = per(self.divide_by, label.size, label.size, total)
            out[i] = out[i] / divisor if total > 0.0 else 0.0

    def columns(self, q, worth):
        return places_after(q, worth, 0)

    def value(self, q, worth):
        return distance_sum(q, worth, 0)

    delta = sum_delta


@part
class ARPK:
    r"""Distance of relevant documents from the first k, :math:`\sum_{p > k} b_p (p - k)` [lambdagap2025]."""

    k: int = 10
    rel: float = 1.0
    normalised: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False

    def check(self) -> None:
        """Raise if a label of 0 would be relevant."""
        checks.positive(self.rel, "ARPK.rel")

    def worth(self, label, table, out):
        for i in range(label.size):
            out[i] = 1.0 if label[i] >= self.rel else 0.0

    def columns(self, q, worth):
        return places_after(q, worth, self.k)

    def value(self, q, worth):
        return distance_sum(q, worth, self.k)

    delta = sum_delta


@part
class ExpDCG:
    r"""Gains with discounts that fall by the same factor, :math:`\sum_{p \le k} G_p \, b^{p-1}` [whichtricks2023]."""

    k: int | None = None
    base: float = 0.85
    gain: Can("gain") = Linear()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise unless discounts fall."""
        check_fraction(self.base, "ExpDCG.base")

    def worth(self, label, table, out):
        for i in range(label.size):
            out[i] = gain(self.gain, label[i])

    def columns(self, q, worth):
        return powers(q, worth, self.base, self.k)

    def value(self, q, worth):
        return power_sum(q, worth, self.base, self.k)

    delta, move = sum_delta, sum_moves


@part
class RBP:
    r"""Rank-biased precision, :math:`(1 - p) \sum_{i \le k} p^{i-1} b_i` [moffat2008].

    A user goes on to the next document with probability p. ``gain=ExpChance()`` makes it graded.
    """

    k: int | None = None
    p: float = 0.8
    gain: Can("gain") = AtLeast()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise unless p is a probability."""
        check_fraction(self.p, "RBP.p")

    def worth(self, label, table, out):
        for i in range(label.size):
            out[i] = (1.0 - self.p) * gain(self.gain, label[i])

    def columns(self, q, worth):
        return powers(q, worth, self.p, self.k)

    def value(self, q, worth):
        return power_sum(q, worth, self.p, self.k)

    delta, move = sum_delta, sum_moves
