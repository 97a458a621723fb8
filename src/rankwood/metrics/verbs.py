"""What a metric can do, as verbs."""

import numpy as np

from rankwood._core.jit import verb


@verb
def gain(g, label):
    """Gain of a document with this label."""


@verb
def per(d, k, n, relevant):
    """What the metric of a query of n documents is divided by; `relevant` is the sum of gains."""


@verb
def worth(m, label, table, out):
    """Fill `out` with what each document is worth, from the labels of its query alone; once per data set."""


@verb
def columns(m, q, worth):
    """Per-rank record that `delta` reads, made anew for each ranking; `worth` is by slot."""


@verb
def value(m, q, worth):
    """Metric of a ranking; `worth` is by slot, and may be of more documents than are ranked."""


@verb
def delta(m, x, y, a, b):
    """Change of the metric when documents x and y swap ranks; a and b are their parts of the record."""


@verb
def move(m, q, worth):
    """Record by rank of what documents win by moving up one place, see `moves`; `worth` is by slot."""


def _as_it_is(m, label):
    return label


def grade(m, label):
    """Label as the metric reads it: 0 or 1, a chance, or by default as it is."""


grade = verb(grade, default=_as_it_is)


def _mean_worth(m, q, worth):
    """Value at the mean worth of tied documents: right for a sum of worth times discount."""
    n = q.slot.size
    mean = np.empty(worth.size)
    i = 0
    while i < n:
        j, total = i, 0.0
        while j < n and q.score[j] == q.score[i]:
            total += worth[q.slot[j]]
            j += 1
        for t in range(i, j):
            mean[q.slot[t]] = total / (j - i)
        i = j
    return value(m, q, mean)


def tied(m, q, worth):
    """Mean of the metric over all orders of documents with equal scores."""


tied = verb(tied, default=_mean_worth)
