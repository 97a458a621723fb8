"""What a metric can do, as verbs.

`values` is what `label_values` made of the labels, once per data set, by slot. `room` is memory for one query: a record
with the columns that the metric names in `swap_columns`. Verbs that fill it allocate nothing.
"""

from typing import Annotated, Any

import numpy as np

from rankwood._core.compile import inner
from rankwood._core.parts import Can
from rankwood._core.verbs import verb

__all__ = [
    "Divisor",
    "Gain",
    "InsertionMetric",
    "SwapMetric",
    "as_relevance",
    "divisor",
    "gain",
    "insertion_record",
    "label_values",
    "mean_over_ties",
    "swap_delta",
    "swap_record",
    "value",
]


@verb(kind="uncounted")
def gain(gain, label):
    """Return the gain of a document with this label."""


@verb(kind="uncounted")
def divisor(divisor, k, n, relevant):
    """Return what the metric of a query of n documents is divided by; `relevant` is the sum of gains."""


@verb
def label_values(part, label, discount, out):
    """Fill `out` with one number for each document, from the labels of its query alone; called once per data set."""


@verb(kind="uncounted")
def swap_record(metric, ranked, values, room):
    """Fill `room` for a ranking and return the record by rank that `swap_delta` reads."""


@verb
def value(metric, ranked, values):
    """Return the metric of a ranking; `values` may be of more documents than are ranked."""


@verb(kind="uncounted")
def swap_delta(metric, a, b):
    """Return the change of the metric when documents a and b swap ranks; `a.own` is a's entry of `swap_record`."""


@verb(kind="uncounted")
def insertion_record(metric, ranked, values, room):
    """Fill `room`, an `Insertions`, with what documents gain by moving up one rank."""


def _label_itself(metric, label):
    return label


@verb(default=_label_itself, kind="uncounted")
def as_relevance(metric, label):
    """Return the label as the metric reads it: 0 or 1, a probability, or by default the label itself."""


@inner
def tied_run(ranked, values, i):
    """Return where the run of tied documents that starts at rank i ends, and the sum of their values."""
    j, total = i, 0.0
    while j < ranked.slot.size and ranked.score[j] == ranked.score[i]:
        total += values[ranked.slot[j]]
        j += 1
    return j, total


def _value_of_means(metric, ranked, values):
    """Value with the mean value of tied documents for each: right for a sum of value times discount."""
    n = ranked.slot.size
    mean = np.empty(values.size)
    i = 0
    while i < n:
        j, total = tied_run(ranked, values, i)
        for t in range(i, j):
            mean[ranked.slot[t]] = total / (j - i)
        i = j
    return value(metric, ranked, mean)


@verb(default=_value_of_means)
def mean_over_ties(metric, ranked, values):
    """Return the mean of the metric over all orders of documents that tie."""


#: Kinds of fields.
Gain = Annotated[Any, Can("gain")]
Divisor = Annotated[Any, Can("divisor")]
SwapMetric = Annotated[Any, Can("swap_delta", needs=("swap_record", "label_values"))]
InsertionMetric = Annotated[Any, Can("insertion_record", needs=("label_values",))]


def higher_is_better(metric: Any) -> bool:
    """Tell whether more of a metric is better, as of all but ARP and its kin."""
    return getattr(metric, "higher_is_better", True)


def is_normalised(metric: Any) -> bool:
    """Tell whether a metric is at most 1, so that a query without relevant documents may count as 1."""
    return getattr(metric, "normalised", False)
