"""What metrics share that are a sum of worth times discount: they differ in these two only."""

from collections import namedtuple

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import inner

#: Record of such a metric, by rank.
Gains = namedtuple("Gains", "gain discount")


@inner
def by_rank(q, worth, rows):
    """Rows by rank, in one piece; the first is filled with what the document at each rank is worth."""
    n = q.slot.size
    table = np.empty((rows, n), worth.dtype)
    for i in range(n):
        table[0, i] = worth[q.slot[i]]
    return table


@inner
def inverse_places(out, k):
    """Fill `out` with 1 over the place, and 0 beyond k."""
    for i in range(out.size):
        out[i] = 1.0 / (i + 1) if i < k else 0.0


def sum_delta(self, x, y, a, b):
    """Change by a swap of a metric with the record `Gains`."""
    return (b.gain - a.gain) * (a.discount - b.discount)


def check_fraction(value: float, name: str) -> None:
    """Raise unless a value is between 0 and 1, both excluded."""
    if not 0 < value < 1:
        raise checks.InputError(f"{name} must be between 0 and 1, got {value:g}.")
