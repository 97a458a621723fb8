"""The steps `arrange` and `visit`: each document visits its partners, and the anchors whose partner it is."""

from collections import namedtuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted_inline
from rankwood._kernels.cuda.team import barrier, broadcast, set_alone, team_size, thread
from rankwood._kernels.each import each
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood._kernels.records import document
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.records import Doc, DocBlock, RankIsPlace
from rankwood.objectives._kernels.verbs import (
    ANCHOR_ITSELF,
    count_anchors,
    embed,
    largest_score,
    list_anchors,
    look_up,
    pair_derivatives,
    pair_gradient,
    partners,
    seen_by,
)

_NOWHERE = 2**30  # a turn behind every list

#: The number of anchors of a query, the query's own number, and the `AnchorBounds` of all queries.
Anchors = namedtuple("Anchors", "m query bounds")

# Anchors.


@verb(kind="uncounted inline")
def find_anchors(step, objective, ranked, values, state, columns):
    """Return the number of anchors; fill in their turns if they are listed."""


@verb(kind="uncounted inline")
def turn_of(step, rank, columns):
    """Return the turn of a document."""


@verb(kind="uncounted inline")
def rank_of_anchor(step, turn, columns):
    """Return the rank of an anchor."""


@verb(kind="uncounted inline")
def candidates(step, first, end, n):
    """Return the first rank and the end of the ranks among which partners with turns from `first` to `end` are."""


@verb(kind="uncounted inline")
def is_partner(step, rank, first, end, columns):
    """Tell whether a candidate has a turn from `first` to `end`."""


@verb(kind="uncounted inline")
def anchors_of(step, turn, anchors):
    """Return the first turn and the end of the anchors that may have a document as their partner."""


@part
class FirstAnchors:
    """Anchors are the first documents of the ranking."""

    def find_anchors(self, objective, ranked, values, state, columns):
        m = count_anchors(objective.pairs, ranked.n)
        return m if m < ranked.n else ranked.n

    def turn_of(self, rank, columns):
        return rank

    def rank_of_anchor(self, turn, columns):
        return turn

    def candidates(self, first, end, n):
        return np.int64(first), np.int64(end if end < n else n)

    def is_partner(self, rank, first, end, columns):
        return True

    def anchors_of(self, turn, anchors):
        start = np.int64(anchors.bounds.start[anchors.query])
        if start < 0:
            return np.int64(0), np.int64(anchors.m)
        at = start + turn
        return np.int64(anchors.bounds.low[at]), np.int64(anchors.bounds.high[at])


@part
class ListedDeviceAnchors:
    """The pair set lists its anchors: they have the first turns, all others the last."""

    def find_anchors(self, objective, ranked, values, state, columns):
        m = np.int64(0)
        for i in each(ranked.n):
            columns.order[i] = i
            columns.turn[i] = ranked.n - 1
        barrier()
        if thread() == 0:
            set_alone(1)
            m = np.int64(
                list_anchors(objective.pairs, ranked, values, state, columns.pairs, columns.order)
            )
            set_alone(0)
        m = broadcast(m)
        for i in each(m):
            columns.turn[columns.order[i]] = i
        barrier()
        return m

    def turn_of(self, rank, columns):
        return np.int64(columns.turn[rank])

    def rank_of_anchor(self, turn, columns):
        return np.int64(columns.order[turn])

    def candidates(self, first, end, n):
        return np.int64(0), np.int64(n)

    def is_partner(self, rank, first, end, columns):
        return first <= columns.turn[rank] and columns.turn[rank] < end

    def anchors_of(self, turn, anchors):
        return np.int64(0), np.int64(anchors.m)


# Visit.


@uncounted_inline
def _document(objective, docs, own, r, i):
    """Return document i as the r-th anchor sees it; its range of turns as an anchor holds every turn."""
    doc = document(docs, i)
    here, far = as_type_of(doc.score, 0.0), as_type_of(doc.score, _NOWHERE)
    seen = seen_by(objective.weight, document(own, i), r)
    rank = as_type_of(doc.score, i)
    return Doc(doc.label, doc.score, doc.embedded, rank, seen, here, -far, far)


@uncounted_inline
def _embedded_around(loss, score, center):
    """Return a score embedded around another: at `largest_score` from it a pair has no slope left."""
    edge, away = largest_score(loss), score - center
    return embed(loss, edge if away > edge else (-edge if away < -edge else away))


@uncounted_inline
def _pair(objective, a, docs, own, j, embed_per_anchor):
    """Return push, size and Hessian of the pair of document a and document j, as a sees it."""
    block = DocBlock(np.uint64(j), np.uint64(j + 1), RankIsPlace())
    look_up(objective.weight, own, (a, a, a, a), block)
    b = _document(objective, docs, own, 0, j)
    embedded = (
        _embedded_around(objective.loss, b.score, a.score) if embed_per_anchor else b.embedded
    )
    b = Doc(b.label, b.score, embedded, b.rank, b.own, b.turn, b.first, b.end)
    derivatives = pair_derivatives(objective.loss, a, b)
    return pair_gradient(objective.pairs, objective.weight, a, b, derivatives)


@uncounted_inline
def visit_partners(objective, steps, ranked, own, anchors, embed_per_anchor, columns):
    """Add pushes and Hessians of the pairs of each document to its sums; return the sizes of this thread's pairs.

    Loops are `while` loops: a `range` of Numba has a counter of its own, which CUDA's compiler doesn't remove.
    """
    docs, n, m = columns.docs, ranked.n, anchors.m
    total = as_type_of(ranked.score[0], 0.0)
    i, step = thread(), team_size()
    while i < n:
        a = _document(objective, docs, own, ANCHOR_ITSELF, i)
        embedded = (
            _embedded_around(objective.loss, a.score, a.score) if embed_per_anchor else a.embedded
        )
        a = Doc(a.label, a.score, embedded, a.rank, a.own, a.turn, a.first, a.end)
        turn = turn_of(steps.anchors, i, columns)
        push_sum = hessian_sum = as_type_of(total, 0.0)
        if turn < m:
            first, end = partners(objective.pairs, turn, n)
            j, high = candidates(steps.anchors, first, end, n)
            while j < high:
                if is_partner(steps.anchors, j, first, end, columns):
                    push, size, hessian = _pair(objective, a, docs, own, j, embed_per_anchor)
                    push_sum += push
                    hessian_sum += hessian
                    total += size
                j += 1
        t, stop = anchors_of(steps.anchors, turn, anchors)
        while t < stop:
            first, end = partners(objective.pairs, t, n)
            if first <= turn and turn < end:
                j = rank_of_anchor(steps.anchors, t, columns)
                push, _, hessian = _pair(objective, a, docs, own, j, embed_per_anchor)
                push_sum += push
                hessian_sum += hessian
            t += 1
        slot = ranked.slot[i]
        columns.push[slot] += push_sum
        columns.hessian[slot] += hessian_sum
        i += step
    return total
