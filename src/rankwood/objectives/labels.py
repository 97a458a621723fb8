"""How an objective reads labels: as grades, or as relevant and not."""

import numpy as np

from rankwood import _check
from rankwood._jit import part, take
from rankwood.objectives.verbs import lay, span


@part
class Graded:
    """Labels as they are: a pair counts if its labels differ."""

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return the labels that the objective sees."""
        return y

    def split(self, label, n, m, pairs, order, first, end, spare):
        for i in range(m):
            a, b = span(pairs, i, n)
            first[i], end[i] = a, b
        return m, 0, 0

    def lay(self, pairs, docs, order):
        return lay(pairs, pairs, docs, order)


@part
class Binary:
    """Two classes, relevant (label of at least `rel`) or not; the loop visits no pair inside a class.

    Each class keeps the working order of the pair set, so the partners of an anchor, a range of that
    order, are a range of the other class.
    """

    rel: float = 1.0

    def check(self) -> None:
        _check.positive(self.rel, "Binary.rel")

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return 1 for relevant documents and 0 for others."""
        return (y >= self.rel).astype(np.float64)

    def split(self, label, n, m, pairs, order, first, end, spare):
        # before[p]: relevant documents at the places before p of the pair set's order
        before, ranks = spare[0], spare[1]
        relevant = 0
        for p in range(n):
            ranks[p] = order[p]
            before[p] = relevant
            if label[order[p]] > 0:
                relevant += 1
        before[n] = relevant
        ups, downs = 0, relevant
        for p in range(n):
            a, b = (0, 0) if p >= m else span(pairs, p, n)
            a, b = min(a, n), min(b, n)
            if label[ranks[p]] > 0:
                order[ups] = ranks[p]
                first[ups], end[ups] = relevant + a - before[a], relevant + b - before[b]
                ups += 1
            else:
                order[downs] = ranks[p]
                first[downs], end[downs] = before[a], before[b]
                downs += 1
        anchors = before[m]
        return anchors, relevant, relevant + m - anchors

    def lay(self, pairs, docs, order):
        return take(docs, order)
