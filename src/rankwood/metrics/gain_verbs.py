"""Verbs of what metrics are made of: gains of labels, and divisors."""

from typing import Annotated, Any

from rankwood._kernels.parts import Can
from rankwood._kernels.verbs import verb


@verb(kind="uncounted")
def gain(gain, label):
    """Return the gain of a document with this label.

    Parameters
    ----------
    gain : part
        The gain of a metric.
    label : float
        A label.

    Returns
    -------
    float
        Its gain, or the probability that the document satisfies.

    Examples
    --------
    >>> from rankwood.extend import gain
    >>> from rankwood.metrics import Exp, Linear
    >>> gain(Exp(), 3.0), gain(Linear(), 3.0)
    (7.0, 3.0)
    """


@verb(kind="uncounted")
def divisor(divisor, k, n, relevant):
    """Return what the metric of a query is divided by.

    Parameters
    ----------
    divisor : part
        The divisor of a metric.
    k : int
        Cutoff; `ALL` means no cutoff.
    n : int
        Number of documents of the query.
    relevant : float
        Number of relevant documents, or the sum of gains.

    Returns
    -------
    float
        The divisor.

    Examples
    --------
    >>> from rankwood.extend import divisor
    >>> from rankwood.metrics import Places, Reachable
    >>> divisor(Places(), 10, 5, 3.0), divisor(Reachable(), 10, 5, 3.0)
    (5.0, 3.0)
    """


@verb(kind="uncounted")
def rank_discount(metric, discount, rank):
    r"""Return what a metric multiplies the value of the document at a rank by, if it is a sum of such products.

    A metric with this verb is :math:`\sum_i f(y_i) \, g(i)`: `label_values` is f, and this verb is g. A metric may be
    of this form for some lists only, as the reciprocal rank is for lists with one relevant document.

    Parameters
    ----------
    metric : part
        The metric.
    discount : array of float
        The discounts 1 / log2(2 + rank) by rank.
    rank : int
        A rank, from 0.

    Returns
    -------
    float
        The factor g.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import rank_discount
    >>> from rankwood.metrics import ARP, RR
    >>> float(rank_discount(RR(4), np.ones(4), 3)), float(rank_discount(ARP(), np.ones(4), 3))
    (0.25, 4.0)
    """


#: A field that takes a gain.
Gain = Annotated[Any, Can("gain")]
#: A field that takes a divisor.
Divisor = Annotated[Any, Can("divisor")]
