"""What a metric can do, as verbs.

`values` is what `label_values` made of the labels, once per data set, by slot. `room` is memory for one query: a record
with the columns that the metric names in `swap_columns`. Verbs that fill it allocate nothing.
"""

from typing import Annotated, Any

import numpy as np

from rankwood._kernels.compile.jit import inner
from rankwood._kernels.parts import Can
from rankwood._kernels.verbs import verb
from rankwood.metrics.gain_verbs import Divisor, Gain, divisor, gain, rank_discount

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
    "rank_discount",
    "swap_delta",
    "swap_record",
    "value",
]


@verb
def label_values(part, label, discount, out):
    """Fill `out` with one number for each document, from the labels of its query alone; called once per data set.

    Parameters
    ----------
    part : part
        A metric, a pair set, or an objective without pairs.
    label : array of float
        Labels of one query, by slot.
    discount : array of float
        The discounts 1 / log2(1 + position) of the positions.
    out : array of float
        The numbers, by slot.

    Examples
    --------
    Precision at 2 divides relevant documents by 2.

    >>> import numpy as np
    >>> from rankwood.extend import label_values
    >>> from rankwood.metrics import Precision
    >>> out = np.empty(3)
    >>> label_values(Precision(2), np.array([0.0, 2.0, 1.0]), np.ones(3), out)
    >>> out.tolist()
    [0.0, 0.5, 0.5]
    """


@verb(kind="uncounted")
def swap_record(metric, ranked, values, room):
    """Fill `room` for a ranking and return the record by rank that `swap_delta` reads.

    Parameters
    ----------
    metric : part
        The metric.
    ranked : Ranked
        The documents of one query by rank.
    values : array of float
        What `label_values` computed, by slot.
    room : record
        The columns that the metric names in `swap_columns`.

    Returns
    -------
    record
        Columns by rank and constants.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from rankwood.extend import Ranked, swap_record
    >>> from rankwood.metrics import Precision
    >>> ranked = Ranked(3, np.zeros(3), np.zeros(3), np.array([2, 0, 1]), np.ones(3))
    >>> room = SimpleNamespace(gain=np.empty(3), discount=np.empty(3))
    >>> record = swap_record(Precision(2), ranked, np.array([0.0, 0.5, 0.5]), room)
    >>> record.gain.tolist(), record.discount.tolist()
    ([0.5, 0.0, 0.5], [1.0, 1.0, 0.0])
    """


@verb
def value(metric, ranked, values):
    """Return the metric of a ranking.

    Parameters
    ----------
    metric : part
        The metric.
    ranked : Ranked
        The documents of one query by rank.
    values : array of float
        What `label_values` computed, by slot; it may have more documents than are ranked.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import Ranked, value
    >>> from rankwood.metrics import Precision
    >>> ranked = Ranked(3, np.zeros(3), np.zeros(3), np.array([2, 0, 1]), np.ones(3))
    >>> float(value(Precision(2), ranked, np.array([0.0, 0.5, 0.5])))
    0.5
    """


@verb(kind="uncounted")
def swap_delta(metric, a, b):
    """Return the change of the metric when documents a and b swap ranks.

    Parameters
    ----------
    metric : part
        The metric.
    a, b : document
        The documents; `own` is the entry of what `swap_record` returned.

    Returns
    -------
    float
        The metric after the swap less the metric before it.

    Examples
    --------
    An irrelevant document within the cutoff and a relevant one behind it swap ranks.

    >>> from types import SimpleNamespace
    >>> from rankwood.extend import swap_delta
    >>> from rankwood.metrics import Precision
    >>> a = SimpleNamespace(own=SimpleNamespace(gain=0.0, discount=1.0))
    >>> b = SimpleNamespace(own=SimpleNamespace(gain=0.5, discount=0.0))
    >>> swap_delta(Precision(2), a, b)
    0.5
    """


@verb(kind="uncounted")
def insertion_record(metric, ranked, values, room):
    """Fill `room` with what the metric gains when a document moves up past another.

    Parameters
    ----------
    metric : part
        The metric.
    ranked : Ranked
        The documents of one query by rank.
    values : array of float
        What `label_values` computed, by slot.
    room : Insertions
        The columns to fill.

    Returns
    -------
    Insertions
        The record that is filled.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import Insertions, Ranked, insertion_record
    >>> from rankwood.metrics import Precision
    >>> ranked = Ranked(3, np.zeros(3), np.zeros(3), np.arange(3), np.ones(3))
    >>> room = Insertions(*np.empty((4, 3)))
    >>> insertion_record(Precision(2), ranked, np.array([0.0, 0.5, 0.5]), room).below.tolist()
    [0.0, 1.0, 0.0]
    """


def _label_itself(metric, label):
    return label


@verb(default=_label_itself, kind="uncounted")
def as_relevance(metric, label):
    """Return the label as the metric reads it: 0 or 1, a probability, or by default the label itself.

    Parameters
    ----------
    metric : part
        The metric.
    label : float
        A label.

    Returns
    -------
    float
        What the metric makes of it.

    Examples
    --------
    >>> from rankwood.extend import as_relevance
    >>> from rankwood.metrics import DCG, Precision
    >>> as_relevance(DCG(), 3.0), float(as_relevance(Precision(rel=2), 3.0))
    (3.0, 1.0)
    """


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
    """Return the mean of the metric over all orders of documents that tie.

    By default it is the value at the mean `label_values` of tied documents. That is right for metrics that are sums of
    value times discount; others have the method.

    Parameters
    ----------
    metric : part
        The metric.
    ranked : Ranked
        The documents of one query by rank.
    values : array of float
        What `label_values` computed, by slot.

    Returns
    -------
    float
        The mean.

    Examples
    --------
    All scores are equal, and one of two documents is relevant.

    >>> import numpy as np
    >>> from rankwood.extend import Ranked, mean_over_ties
    >>> from rankwood.metrics import Precision
    >>> ranked = Ranked(2, np.zeros(2), np.zeros(2), np.arange(2), np.ones(2))
    >>> float(mean_over_ties(Precision(1), ranked, np.array([1.0, 0.0])))
    0.5
    """


#: A field that takes a metric with `swap_delta`.
SwapMetric = Annotated[Any, Can("swap_delta", needs=("swap_record", "label_values"))]
#: A field that takes a metric with `insertion_record`.
InsertionMetric = Annotated[Any, Can("insertion_record", needs=("label_values",))]


def higher_is_better(metric: Any) -> bool:
    """Tell whether more of a metric is better, as of all but ARP and its kin."""
    return getattr(metric, "higher_is_better", True)


def is_normalised(metric: Any) -> bool:
    """Tell whether a metric is at most 1, so that a query without relevant documents may count as 1."""
    return getattr(metric, "normalised", False)
