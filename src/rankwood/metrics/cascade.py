r"""Metrics of a user who reads downwards until satisfied: ERR, PFound.

Both are :math:`\sum_p d_p \, r_p \prod_{q < p} (1 - r_q)`, r being the chance that a document satisfies;
they differ in the discount d, which is 0 beyond k.
"""

from collections import namedtuple
from typing import ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import Can, inner, like, part
from rankwood.metrics.additive import by_rank, check_fraction, inverse_places
from rankwood.metrics.gains import ExpChance, LinearChance, all_gains
from rankwood.metrics.insertions import SURE, chance_moves
from rankwood.metrics.verbs import gain

#: Record by rank: the chance r, the discount d, and what a swap needs: for a above b it changes the metric
#: by (r_b - r_a) (head_a + rate_a tail_b).
Cascade = namedtuple("Cascade", "chance discount head rate tail")


@inner
def cascade(table, n):
    """Fill what a swap needs, given chances and discounts.

    With P the chance to get to a place and U the metric's share from there on (a sum from the end, which
    keeps its relative accuracy), a swap of a and b below it changes the metric by (r_b - r_a) times
    P_a d_a - (U_{a+1} - U_b) / (1 - r_a) - P_b d_b / (1 - r_a).
    """
    one = like(table[0, 0], 1.0)
    reach = one
    for i in range(n):
        missed = max(one - table[0, i], like(one, SURE))
        table[2, i] = reach
        table[3, i] = one / missed
        reach *= missed
    beyond = like(one, 0.0)
    for i in range(n - 1, -1, -1):
        here = table[2, i] * table[1, i]
        table[2, i] = here - beyond * table[3, i]
        beyond += table[0, i] * here
        table[4, i] = beyond - here
    for i in range(n, table.shape[1]):  # what fills up a list needs some numbers
        table[2, i] = table[3, i] = table[4, i] = like(one, 0.0)
    return Cascade(table[0], table[1], table[2], table[3], table[4])


@inner
def tied_cascade(q, worth, discount):
    """Mean over the orders of tied documents, one run of ties after the other.

    In a random order of g documents the chance to get past the first t is the mean m_t of the products
    of t of their (1 - r); documents are added one by one, each of the means changing in place.
    """
    n = q.slot.size
    mean = np.empty(n + 1)
    reach, total = 1.0, 0.0
    i = 0
    while i < n:
        j, past = i, 1.0
        mean[0] = 1.0
        while j < n and q.score[j] == q.score[i]:
            j += 1
            g = j - i
            missed = 1.0 - worth[q.slot[j - 1]]
            past *= missed
            mean[g] = mean[g - 1] * missed
            for t in range(g - 1, 0, -1):
                mean[t] += (missed * mean[t - 1] - mean[t]) * t / g
        for t in range(j - i):
            total += reach * discount[i + t] * (mean[t] - mean[t + 1])
        reach *= past
        i = j
    return total


def _worth(self, label, table, out):
    all_gains(self.gain, label, out)


def _grade(self, label):
    return like(label, gain(self.gain, label))


def _check_chances(self, y):
    """Raise unless the gain makes chances of all labels: numbers from 0 to 1."""
    if isinstance(self.gain, (ExpChance, LinearChance)):
        return  # they look for themselves
    for row in (int(np.argmax(y)), int(np.argmin(y))) if y.size else ():
        chance = self.gain.gain(float(y[row]))
        if not 0 <= chance <= 1:
            raise checks.InputError(
                f"{type(self).__name__} needs chances from 0 to 1, but {self.gain!r} makes {chance:g} of the label "
                f"{y[row]:g} at row {row}; use LinearChance(max_label={y.max():g})."
            )


def _delta(self, x, y, a, b):
    if_above, if_below = a.head + a.rate * b.tail, b.head + b.rate * a.tail
    change = (b.chance - a.chance) * if_above
    other = (a.chance - b.chance) * if_below
    return change if a.discount > b.discount else other


@inner
def decays(out, decay, k):
    """Fill `out` with 1, d, d^2, ..., and 0 beyond k."""
    now = 1.0
    for i in range(out.size):
        out[i] = now if i < k else 0.0
        now *= decay


def _err(self, q, worth):
    total, reach = 0.0, 1.0
    for i in range(min(self.k, q.slot.size)):
        chance = worth[q.slot[i]]
        total += reach * chance / (i + 1)
        reach *= 1.0 - chance
    return total


def _pfound(self, q, worth):
    total, reach = 0.0, 1.0
    for i in range(min(self.k, q.slot.size)):
        chance = worth[q.slot[i]]
        total += reach * chance
        reach *= (1.0 - chance) * self.decay
    return total


@part
class ERR:
    r"""Expected reciprocal rank, :math:`\sum_{p \le k} \frac{r_p}{p} \prod_{q < p} (1 - r_q)` [chapelle2009]."""

    k: int | None = None
    gain: Can("gain") = ExpChance()  # type: ignore[valid-type]
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def columns(self, q, worth):
        table = by_rank(q, worth, 5)
        inverse_places(table[1], self.k)
        return cascade(table, min(q.slot.size, worth.size))

    def move(self, q, worth):
        table = by_rank(q, worth, 4)
        inverse_places(table[1], self.k)
        return chance_moves(table)

    def tied(self, q, worth):
        discount = np.empty(q.slot.size)
        inverse_places(discount, self.k)
        return tied_cascade(q, worth, discount)

    worth, value, delta, grade = _worth, _err, _delta, _grade
    check_labels = _check_chances


@part
class PFound:
    r"""Chance to be satisfied, :math:`\sum_{p \le k} d^{p-1} r_p \prod_{q < p} (1 - r_q)` [gulin2011].

    The user gives up after each document with probability 1 - d.
    """

    k: int | None = None
    gain: Can("gain") = LinearChance()  # type: ignore[valid-type]
    decay: float = 0.85
    normalised: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = True

    def check(self) -> None:
        """Raise unless the decay is a probability."""
        check_fraction(self.decay, "PFound.decay")

    def columns(self, q, worth):
        table = by_rank(q, worth, 5)
        decays(table[1], self.decay, self.k)
        return cascade(table, min(q.slot.size, worth.size))

    def move(self, q, worth):
        table = by_rank(q, worth, 4)
        decays(table[1], self.decay, self.k)
        return chance_moves(table)

    def tied(self, q, worth):
        discount = np.empty(q.slot.size)
        decays(discount, self.decay, self.k)
        return tied_cascade(q, worth, discount)

    worth, value, delta, grade = _worth, _pfound, _delta, _grade
    check_labels = _check_chances
