"""The step `write`: sums of pushes and Hessians, by place, then by slot, then to the caller's rows.

Pairs add to `PlaceSums` or, for models that score pairs of documents and need the Hessian of each pair, to
`PairSums`. How these get to the caller is a step: straight away, as the mean of several rankings, or lifted to ordered
pairs of documents.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.numeric.aliasing import add_noalias
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.scratch import Memory

#: Numbers of four anchors.
Four = namedtuple("Four", "first second third fourth")
#: Factors on the pushes and on the Hessians of a query.
Factors = namedtuple("Factors", "push hessian")
#: Sums by slot over all rankings.
SlotSums = namedtuple("SlotSums", "push hessian")
#: Derivatives by slot, and minus the mixed second derivatives by pair of slots.
FullDerivatives = namedtuple("FullDerivatives", "gradient hessian matrix")


@verb(kind="uncounted inline")
def clear(sums, size):
    """Set the sums of `size` documents to 0."""


@verb(kind="uncounted inline")
def add_anchor(sums, i, push, hessian):
    """Add what the partners of an anchor push it."""


@verb(kind="uncounted inline")
def add_partner(sums, i, j, push, hessian):
    """Add the pair of anchor i and partner j to the partner's sums."""


@verb(kind="uncounted inline")
def add_partner_of_four(sums, places, j, push, hessian):
    """Add the pairs of four anchors at `places` and partner j to the partner's sums; pushes are a `Four`."""


@verb(kind="uncounted inline")
def add_band(sums, distance, end, push, hessian):
    """Add the pairs of places i and i + distance for all i below `end`."""


class PlaceSums(namedtuple("PlaceSums", "push hessian")):
    """Sums of pushes and of Hessians by place."""

    __slots__ = ()

    def clear(self, size):
        for i in range(size):
            self.push[i] = self.hessian[i] = 0.0
        return 0

    def add_anchor(self, i, push, hessian):
        self.push[i] += push
        self.hessian[i] += hessian
        return 0

    def add_partner(self, i, j, push, hessian):
        add_noalias(self.push, self.hessian, j, -push, hessian)
        return 0

    def add_partner_of_four(self, places, j, push, hessian):
        pushes = (push.first + push.second) + (push.third + push.fourth)
        hessians = (hessian.first + hessian.second) + (hessian.third + hessian.fourth)
        add_noalias(self.push, self.hessian, j, -pushes, hessians)
        return 0

    def add_band(self, distance, end, push, hessian):
        for i in range(end):
            self.push[i] += push[i]
            self.hessian[i] += hessian[i]
        for i in range(end):
            self.push[i + distance] -= push[i]
            self.hessian[i + distance] += hessian[i]
        return 0


class PairSums(namedtuple("PairSums", "push hessian")):
    """Sums of pushes by place, and of Hessians by the places of anchor and partner."""

    __slots__ = ()

    def clear(self, size):
        for i in range(size):
            self.push[i] = 0.0
            for j in range(size):
                self.hessian[i, j] = 0.0
        return 0

    def add_anchor(self, i, push, hessian):
        self.push[i] += push
        return 0

    def add_partner(self, i, j, push, hessian):
        self.push[j] -= push
        self.hessian[i, j] += hessian
        return 0

    def add_partner_of_four(self, places, j, push, hessian):
        self.push[j] -= (push.first + push.second) + (push.third + push.fourth)
        self.hessian[places[0], j] += hessian.first
        self.hessian[places[1], j] += hessian.second
        self.hessian[places[2], j] += hessian.third
        self.hessian[places[3], j] += hessian.fourth
        return 0

    def add_band(self, distance, end, push, hessian):
        for i in range(end):
            self.push[i] += push[i]
            self.hessian[i, i + distance] += hessian[i]
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
def write(step, query, places, factors, scratch, out):
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

    def write(self, query, places, factors, scratch, out):
        for i in range(query.n):
            row = query.rows[query.start + places.slot[i]]
            out.grad[row] = factors.push * scratch.sums.push[i]
            out.hess[row] = factors.hessian * scratch.sums.hessian[i]
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
            scratch.totals.push[i] = scratch.totals.hessian[i] = 0.0
        return 0

    def collect(self, arranged, scratch):
        for i in range(arranged.n):
            slot = arranged.slot[i]
            scratch.totals.push[slot] += scratch.sums.push[i]
            scratch.totals.hessian[slot] += scratch.sums.hessian[i]
        return 0

    def write(self, query, places, factors, scratch, out):
        for i in range(query.n):
            row = query.rows[query.start + i]
            out.grad[row] = factors.push * scratch.totals.push[i]
            out.hess[row] = factors.hessian * scratch.totals.hessian[i]
        return 0


@part
class LiftedSums:
    """Models of pairs: pushes by slot and Hessians by pair of slots, lifted to ordered pairs of documents."""

    def allocate(self, memory: Memory) -> Any:
        """Return sums by place and by pair of places."""
        return PairSums(**memory.columns(("push",)), hessian=memory.matrix())

    def allocate_totals(self, memory: Memory) -> Any:
        """Return sums by slot and by pair of slots."""
        return FullDerivatives(**memory.columns(("gradient", "hessian")), matrix=memory.matrix())

    def start_query(self, n, scratch):
        for i in range(n):
            scratch.totals.gradient[i] = 0.0
            for j in range(n):
                scratch.totals.matrix[i, j] = 0.0
        return 0

    def collect(self, arranged, scratch):
        for i in range(arranged.n):
            a = arranged.slot[i]
            scratch.totals.gradient[a] -= scratch.sums.push[i]
            for j in range(arranged.n):
                b = arranged.slot[j]
                scratch.totals.matrix[a, b] += scratch.sums.hessian[i, j]
                scratch.totals.matrix[b, a] += scratch.sums.hessian[i, j]
        return 0

    def write(self, query, places, factors, scratch, out):
        totals = scratch.totals
        for i in range(query.n):
            totals.gradient[i] *= -factors.push
            totals.hessian[i] = _scale_row(totals.matrix, i, query.n, factors.hessian)
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
            slope = (totals.gradient[i] - totals.gradient[j]) / (n - 1)
            both = totals.matrix[i, j] + totals.matrix[j, i]
            hessian = (totals.hessian[i] + both + totals.hessian[j]) / (n - 1) ** 2
            out.grad[at], out.grad[at + 1] = slope, -slope
            out.hess[at] = out.hess[at + 1] = hessian
            at += 2
    return 0
