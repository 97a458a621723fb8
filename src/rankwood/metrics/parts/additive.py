"""What metrics share that are a sum of value times discount: they differ in these two only."""

from collections import namedtuple

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import each

#: Swap record of such a metric, by rank.
Gains = namedtuple("Gains", "gain discount")
GAINS_COLUMNS = Gains._fields


@uncounted
def by_rank(ranked, values, column):
    """Fill a column by rank with values that are by slot."""
    for i in each(ranked.slot.size):
        column[i] = values[ranked.slot[i]]


@uncounted
def inverse_positions(column, n, k):
    """Fill a column with 1 / position, and 0 beyond k."""
    for i in each(n):
        column[i] = 1.0 / (i + 1) if i < k else 0.0


def is_additive(metric):
    """Tell whether the record of a metric has a gain and a discount, and its change by a swap is made of them."""
    return getattr(type(metric), "swap_delta", None) is additive_swap


def additive_swap(self, a, b):
    """Return the change by a swap of a metric whose record has a gain and a discount."""
    return (b.own.gain - a.own.gain) * (a.own.discount - b.own.discount)
