r"""Metrics of a user who reads downwards until satisfied: ERR, PFound.

Both are :math:`\sum_p d_p \, r_p \prod_{q < p} (1 - r_q)`, r being the probability that a document satisfies; they
differ in the discount d, which is 0 beyond k.
"""

from typing import ClassVar

import numpy as np

from rankwood._kernels.compile.jit import inner, uncounted
from rankwood._kernels.each import fill_powers
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Fraction, part
from rankwood._util import checks
from rankwood.metrics.parts.additive import by_rank, inverse_positions
from rankwood.metrics.parts.gains import ExpChance, LinearChance, fill_gains
from rankwood.metrics.parts.insertions import SMALLEST_MISS, cascade_insertions
from rankwood.metrics.verbs import Gain, gain

#: The probability r, the discount d, and what a swap needs: for a above b it changes the metric by
#: (r_b - r_a) (head_a + rate_a tail_b).
_COLUMNS = ("chance", "discount", "head", "rate", "tail")


@uncounted
def cascade(room, n, padded):
    """Fill the rest of a swap record, given probabilities and discounts.

    With P the probability to reach a position and U the metric's share from there on (a sum from the end, which
    keeps its relative accuracy), a swap of a and b below it changes the metric by (r_b - r_a) times
    P_a d_a - (U_{a+1} - U_b) / (1 - r_a) - P_b d_b / (1 - r_a).
    """
    one = as_type_of(room.chance[0], 1.0)
    reach = one
    for i in range(n):
        missed = max(one - room.chance[i], as_type_of(one, SMALLEST_MISS))
        room.head[i] = reach
        room.rate[i] = one / missed
        reach *= missed
    beyond = as_type_of(one, 0.0)
    for i in range(n - 1, -1, -1):
        here = room.head[i] * room.discount[i]
        room.head[i] = here - beyond * room.rate[i]
        beyond += room.chance[i] * here
        room.tail[i] = beyond - here
    for i in range(n, padded):
        room.head[i] = room.rate[i] = room.tail[i] = as_type_of(one, 0.0)
    return room


@inner
def tied_cascade(ranked, values, discount):
    """Return the mean over the orders of tied documents, one run of ties after the other.

    In a random order of g documents the probability to get past the first t is the mean m_t of the products
    of t of their (1 - r); documents are added one by one, each of the means changing in place.
    """
    n = ranked.slot.size
    mean = np.empty(n + 1)
    reach, total = 1.0, 0.0
    i = 0
    while i < n:
        j, past = i, 1.0
        mean[0] = 1.0
        while j < n and ranked.score[j] == ranked.score[i]:
            j += 1
            g = j - i
            missed = 1.0 - values[ranked.slot[j - 1]]
            past *= missed
            mean[g] = mean[g - 1] * missed
            for t in range(g - 1, 0, -1):
                mean[t] += (missed * mean[t - 1] - mean[t]) * t / g
        for t in range(j - i):
            total += reach * discount[i + t] * (mean[t] - mean[t + 1])
        reach *= past
        i = j
    return total


def _label_values(self, label, discount, out):
    fill_gains(self.gain, label, out)


def _relevance(self, label):
    return as_type_of(label, gain(self.gain, label))


def _check_chances(self, y):
    """Raise unless the gain makes probabilities of all labels: numbers from 0 to 1."""
    if isinstance(self.gain, (ExpChance, LinearChance)):
        return  # they check labels themselves
    for row in (int(np.argmax(y)), int(np.argmin(y))) if y.size else ():
        chance = self.gain.gain(float(y[row]))
        if not 0 <= chance <= 1:
            raise checks.InputError(
                f"{type(self).__name__} needs chances from 0 to 1, but {self.gain!r} makes {chance:g} of the label "
                f"{y[row]:g} at row {row}; use LinearChance(max_label={y.max():g})."
            )


def _swap_delta(self, a, b):
    if_above, if_below = a.own.head + a.own.rate * b.own.tail, b.own.head + b.own.rate * a.own.tail
    change = (b.own.chance - a.own.chance) * if_above
    other = (a.own.chance - b.own.chance) * if_below
    return change if a.own.discount > b.own.discount else other


@part
class ERR:
    r"""Expected reciprocal rank, :math:`\sum_{p \le k} \frac{r_p}{p} \prod_{q < p} (1 - r_q)` [chapelle2009].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    gain : part
        Probability r that a document satisfies: `ExpChance(max_label)`, `LinearChance(max_label)`.

    Examples
    --------
    With labels up to 2, a document of label 2 satisfies with probability 3/4.

    >>> import rankwood as rw
    >>> from rankwood.metrics import ERR, ExpChance
    >>> rw.evaluate([ERR(gain=ExpChance(max_label=2))], [0, 2], [2.0, 1.0]).mean()
    {'ERR(gain=ExpChance(max_label=2.0))': 0.375}
    """

    k: int | None = None
    gain: Gain = ExpChance()
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = _COLUMNS

    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.chance)
        inverse_positions(room.discount, ranked.slot.size, self.k)
        return cascade(room, ranked.n, ranked.slot.size)

    def insertion_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        inverse_positions(room.below, ranked.slot.size, self.k)
        return cascade_insertions(room, ranked.slot.size)

    def mean_over_ties(self, ranked, values):
        discount = np.empty(ranked.slot.size)
        inverse_positions(discount, discount.size, self.k)
        return tied_cascade(ranked, values, discount)

    def value(self, ranked, values):
        total, reach = 0.0, 1.0
        for i in range(min(self.k, ranked.slot.size)):
            chance = values[ranked.slot[i]]
            total += reach * chance / (i + 1)
            reach *= 1.0 - chance
        return total

    label_values, swap_delta, as_relevance = _label_values, _swap_delta, _relevance
    check_labels = _check_chances


@part
class PFound:
    r"""Probability to be satisfied, :math:`\sum_{p \le k} d^{p-1} r_p \prod_{q < p} (1 - r_q)` [gulin2011].

    Parameters
    ----------
    k : int, optional
        Cutoff; None means the whole list.
    gain : part
        Probability r that a document satisfies: `ExpChance(max_label)`, `LinearChance(max_label)`.
    decay : float
        Probability d that the user goes on after a document that did not satisfy.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import LinearChance, PFound
    >>> rw.evaluate([PFound(gain=LinearChance(2), decay=0.5)], [1, 2], [2.0, 1.0]).mean()  # 1/2 + 1/2 · 1/2 · 1
    {'PFound(gain=LinearChance(max_label=2.0), decay=0.5)': 0.75}
    """

    k: int | None = None
    gain: Gain = LinearChance()
    decay: Fraction = 0.85
    normalised: ClassVar[bool] = True
    swap_columns: ClassVar[tuple[str, ...]] = _COLUMNS

    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.chance)
        fill_powers(room.discount, ranked.slot.size, self.decay, self.k)
        return cascade(room, ranked.n, ranked.slot.size)

    def insertion_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        fill_powers(room.below, ranked.slot.size, self.decay, self.k)
        return cascade_insertions(room, ranked.slot.size)

    def mean_over_ties(self, ranked, values):
        discount = np.empty(ranked.slot.size)
        fill_powers(discount, discount.size, self.decay, self.k)
        return tied_cascade(ranked, values, discount)

    def value(self, ranked, values):
        total, reach = 0.0, 1.0
        for i in range(min(self.k, ranked.slot.size)):
            chance = values[ranked.slot[i]]
            total += reach * chance
            reach *= (1.0 - chance) * self.decay
        return total

    label_values, swap_delta, as_relevance = _label_values, _swap_delta, _relevance
    check_labels = _check_chances
