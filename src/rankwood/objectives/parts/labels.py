"""How an objective reads labels: as grades, or as relevant and not."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import inner, part, take
from rankwood.objectives._kernels.verbs import span


@part
class Graded:
    """Labels as they are: a pair counts if its labels differ."""

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return the labels that the objective sees."""
        return y

    def split(self, label, n, m, pairs, order, first, end, spare):
        for p in range(m):
            a, b = span(pairs, p, n)
            first[order[p]], end[order[p]] = a, b
        return m, 0, 0

    def lay(self, docs, order):
        return False, docs


@part
class Binary:
    """Two classes, relevant (label of at least `rel`) or not; the loop visits no pair inside a class.

    Each class keeps the working order of the pair set, so the partners of an anchor, a range of that
    order, are a range of the other class.
    """

    rel: float = 1.0

    def check(self) -> None:
        checks.positive(self.rel, "Binary.rel")

    def read(self, y: np.ndarray) -> np.ndarray:
        """Return 1 for relevant documents and 0 for others."""
        return (y >= self.rel).astype(np.float64)

    def split(self, label, n, m, pairs, order, first, end, spare):
        # before[p]: relevant documents at the places before p of the pair set's order. Labels come in no
        # order that could be foreseen, so there are no branches on them.
        before, ranks = spare[2], spare[3]
        relevant = np.int64(0)
        for p in range(n):
            ranks[p] = order[p]
            before[p] = relevant
            relevant += np.int64(label[order[p]])
        before[n] = relevant
        for p in range(n):
            up = np.int64(label[ranks[p]])
            here = before[p] if up else relevant + p - before[p]
            order[here] = ranks[p]
            if p < m:
                a, b = span(pairs, p, n)
                a, b = (a if a < n else n), (b if b < n else n)
                first[here] = relevant + a - before[a] if up else before[a]
                end[here] = relevant + b - before[b] if up else before[b]
        anchors = before[m]
        return anchors, relevant, relevant + m - anchors

    def lay(self, docs, order):
        return True, take(docs, order)


@inner
def follow(order, m, n, spare):
    """Let the other documents follow the m anchors of `order`, by rank."""
    for r in range(n):
        spare[r] = 0
    for p in range(m):
        spare[order[p]] = 1
    rest = m
    for r in range(n):
        if spare[r] == 0:
            order[rest] = r
            rest += 1


def read(objective: Any, y: np.ndarray) -> np.ndarray:
    """Return the labels that an objective sees: as its own part says, or as they are."""
    return objective.labels.read(y) if hasattr(objective, "labels") else y
