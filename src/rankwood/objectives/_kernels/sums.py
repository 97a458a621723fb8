"""The last step: sums of pushes and curvatures, by place, then by slot, then to the caller's rows.

Pairs add to `PlaceSums` or, for models that score pairs of documents and need the curvature of each pair, to
`PairSums`. How these get to the caller is a step: straight away, as the mean of several rankings, or lifted to ordered
pairs of documents.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._core.compile import uncounted, uncounted_inline
from rankwood._core.numeric import as_type_of
from rankwood._core.parts import part
from rankwood._core.verbs import verb
from rankwood.objectives._kernels.scratch import Memory

#: Numbers of four anchors.
Four = namedtuple("Four", "first second third fourth")
#: Factors on the pushes and on the curvatures of a query.
Factors = namedtuple("Factors", "push curve")
#: Sums by slot over all rankings.
SlotSums = namedtuple("SlotSums", "push curve")
#: The same with the curvature of each pair of slots, and its sum by slot.
SlotPairSums = namedtuple("SlotPairSums", "push curve matrix")


@verb(kind="uncounted inline")
def clear(sums, size):
    """Set the sums of `size` documents to 0."""


@verb(kind="uncounted inline")
def add_anchor(sums, i, push, curve):
    """Add what the partners of an anchor push it."""


@verb(kind="uncounted inline")
def add_partner(sums, i, j, push, curve):
    """Add the pair of anchor i and partner j to the partner's sums."""


@verb(kind="uncounted inline")
def add_partner_of_four(sums, places, j, push, curve):
    """Add the pairs of four anchors at `places` and partner j to the partner's sums; pushes are a `Four`."""


@verb(kind="uncounted inline")
def add_band(sums, distance, end, push, curve):
    """Add the pairs of places i and i + distance for all i below `end`."""


class PlaceSums(namedtuple("PlaceSums", "push curve")):
    """Sums of pushes and of curvatures by place."""

    __slots__ = ()

    def clear(self, size):
        for i in range(size):
            self.push[i] = self.curve[i] = 0.0
        return 0

    def add_anchor(self, i, push, curve):
        self.push[i] += push
        self.curve[i] += curve
        return 0

    def add_partner(self, i, j, push, curve):
        self.push[j] -= push
        self.curve[j] += curve
        return 0

    def add_partner_of_four(self, places, j, push, curve):
        self.push[j] -= (push.first + push.second) + (push.third + push.fourth)
        self.curve[j] += (curve.first + curve.second) + (curve.third + curve.fourth)
        return 0

    def add_band(self, distance, end, push, curve):
        for i in range(end):
            self.push[i] += push[i]
            self.curve[i] += curve[i]
        for i in range(end):
            self.push[i + distance] -= push[i]
            self.curve[i + distance] += curve[i]
        return 0


class PairSums(namedtuple("PairSums", "push curve")):
    """Sums of pushes by place, and of curvatures by the places of anchor and partner."""

    __slots__ = ()

    def clear(self, size):
        for i in range(size):
            self.push[i] = 0.0
            for j in range(size):
                self.curve[i, j] = 0.0
        return 0

    def add_anchor(self, i, push, curve):
        self.push[i] += push
        return 0

    def add_partner(self, i, j, push, curve):
        self.push[j] -= push
        self.curve[i, j] += curve
        return 0

    def add_partner_of_four(self, places, j, push, curve):
        self.push[j] -= (push.first + push.second) + (push.third + push.fourth)
        self.curve[places[0], j] += curve.first
        self.curve[places[1], j] += curve.second
        self.curve[places[2], j] += curve.third
        self.curve[places[3], j] += curve.fourth
        return 0

    def add_band(self, distance, end, push, curve):
        for i in range(end):
            self.push[i] += push[i]
            self.curve[i, i + distance] += curve[i]
        for i in range(end):
            self.push[i + distance] -= push[i]
        return 0


@verb(kind="uncounted inline")
def start_query(step, n, scratch):
    """Prepare for the rankings of a query of n documents."""


@verb(kind="uncounted inline")
def collect(step, arranged, scratch):
    """Add the sums of one ranking to those of the query."""


@verb(kind="uncounted inline")
def write(step, query, arranged, factors, scratch, out):
    """Write gradients and Hessians of a query to where the caller wants them."""


@part
class DocumentSums:
    """One ranking: its sums are written straight to the rows of the documents."""

    def allocate(self, memory: Memory) -> Any:
        """Return sums by place."""
        return memory.record(PlaceSums)

    def allocate_totals(self, memory: Memory) -> Any:
        """Return nothing: there is one ranking."""
        return ()

    def start_query(self, n, scratch):
        return 0

    def collect(self, arranged, scratch):
        return 0

    def write(self, query, arranged, factors, scratch, out):
        for i in range(query.n):
            row = query.rows[query.start + arranged.slot[i]]
            out.grad[row] = factors.push * scratch.sums.push[i]
            out.hess[row] = factors.curve * scratch.sums.curve[i]
        return 0


@part
class MeanDocumentSums:
    """Several rankings: sums by slot, then written to the rows of the documents."""

    def allocate(self, memory: Memory) -> Any:
        """Return sums by place."""
        return memory.record(PlaceSums)

    def allocate_totals(self, memory: Memory) -> Any:
        """Return sums by slot."""
        return memory.record(SlotSums)

    def start_query(self, n, scratch):
        for i in range(n):
            scratch.totals.push[i] = scratch.totals.curve[i] = 0.0
        return 0

    def collect(self, arranged, scratch):
        for i in range(arranged.n):
            slot = arranged.slot[i]
            scratch.totals.push[slot] += scratch.sums.push[i]
            scratch.totals.curve[slot] += scratch.sums.curve[i]
        return 0

    def write(self, query, arranged, factors, scratch, out):
        for i in range(query.n):
            row = query.rows[query.start + i]
            out.grad[row] = factors.push * scratch.totals.push[i]
            out.hess[row] = factors.curve * scratch.totals.curve[i]
        return 0


@part
class LiftedSums:
    """Models of pairs: pushes by slot and curvatures by pair of slots, lifted to ordered pairs of documents."""

    def allocate(self, memory: Memory) -> Any:
        """Return sums by place and by pair of places."""
        return PairSums(**memory.columns(("push",)), curve=memory.matrix())

    def allocate_totals(self, memory: Memory) -> Any:
        """Return sums by slot and by pair of slots."""
        return SlotPairSums(**memory.columns(("push", "curve")), matrix=memory.matrix())

    def start_query(self, n, scratch):
        for i in range(n):
            scratch.totals.push[i] = 0.0
            for j in range(n):
                scratch.totals.matrix[i, j] = 0.0
        return 0

    def collect(self, arranged, scratch):
        for i in range(arranged.n):
            a = arranged.slot[i]
            scratch.totals.push[a] += scratch.sums.push[i]
            for j in range(arranged.n):
                b = arranged.slot[j]
                scratch.totals.matrix[a, b] += scratch.sums.curve[i, j]
                scratch.totals.matrix[b, a] += scratch.sums.curve[i, j]
        return 0

    def write(self, query, arranged, factors, scratch, out):
        totals = scratch.totals
        for i in range(query.n):
            totals.push[i] *= factors.push
            totals.curve[i] = _scale_row(totals.matrix, i, query.n, factors.curve)
        return lift(query.n, totals, out, out.start[query.number])


@uncounted
def _scale_row(matrix, i, n, factor):
    """Multiply a row of a matrix by a factor and return its sum."""
    total = as_type_of(factor, 0.0)
    for j in range(n):
        matrix[i, j] *= factor
        total += matrix[i, j]
    return total


@uncounted_inline
def lift(n, totals, out, start):
    """Write derivatives by the scores of ordered pairs, from `start` on [bivariate2024].

    A document's score is the sum of s_ij - s_ji over the others, divided by n - 1. `matrix` holds minus the mixed
    second derivatives. Pairs come in the order (0, 1), (1, 0), (0, 2), (2, 0), ..., (1, 2), (2, 1), ... of slots.
    """
    at = np.int64(start)
    for i in range(n):
        for j in range(i + 1, n):
            push = (totals.push[i] - totals.push[j]) / (n - 1)
            both = totals.matrix[i, j] + totals.matrix[j, i]
            curve = (totals.curve[i] + both + totals.curve[j]) / (n - 1) ** 2
            out.grad[at], out.grad[at + 1] = push, -push
            out.hess[at] = out.hess[at + 1] = curve
            at += 2
    return 0
