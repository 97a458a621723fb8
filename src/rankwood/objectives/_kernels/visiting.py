"""The step `visit` on a CPU: anchors visit their partners.

`FourAtATime` is the usual loop. Four anchors visit the same documents together: they share the loads, and the loads and
stores of the partners' sums, and the loop vectorises over documents. Lists are padded to a multiple of sixteen, with
documents that are nobody's partners; each sum of an anchor is made in sixteen lanes (`lanes.py`). If partners lie
at the same few rank distances from every anchor, `Bands` vectorises over anchors instead. With `OneByOne` each anchor
has a loop of its own, for anchors with few partners.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.each import sum_of
from rankwood._kernels.numeric.aliasing import store_noalias
from rankwood._kernels.numeric.lanes import LANES, sum_lanes, zero_lanes
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood._kernels.records import document, documents
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.records import (
    Doc,
    DocBlock,
    beside,
    first_partner,
    place_of_anchor,
)
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.sums import (
    Four,
    add_anchor,
    add_band,
    add_partner,
    add_partner_of_four,
    clear,
)
from rankwood.objectives._kernels.verbs import (
    ANCHOR_ITSELF,
    embed,
    largest_score,
    look_up,
    pair_derivatives,
    pair_gradient,
    partners,
    seen_by,
)

_NOWHERE = 2**30  # a turn behind every list
#: Push, Hessian and size of the pairs of a band, by the place of the anchor.
BandColumns = namedtuple("BandColumns", "push hessian size")


@verb(kind="uncounted inline")
def visit(step, objective, arranged, embed_per_anchor, scratch):
    """Add all pairs to the sums by place; return the sum of the sizes of their pushes.

    If `embed_per_anchor`, scores are too far apart to be embedded together: they are embedded around each anchor.
    """


def _no_padding(step, n):
    return n


@verb(default=_no_padding, kind="uncounted inline")
def padded_length(step, n):
    """Return the length to which a list of n documents is padded for the loop."""


@uncounted
def gradient_of(objective, r, a, b):
    """Return push, size and Hessian of the pair of the r-th of four anchors, a, and document b."""
    b = beside(b, seen_by(objective.weight, b.own, r))
    derivatives = pair_derivatives(objective.loss, a, b)
    return pair_gradient(objective.pairs, objective.weight, a, b, derivatives)


@uncounted
def anchor(objective, docs, i, counts):
    """Return document i as an anchor; without partners, if it only completes four."""
    a = document(docs, i)
    first = a.first if counts else as_type_of(a.score, _NOWHERE)
    end = a.end if counts else as_type_of(a.score, 0.0)
    own = seen_by(objective.weight, a.own, ANCHOR_ITSELF)
    return Doc(a.label, a.score, a.embedded, a.rank, own, a.turn, first, end)


@uncounted
def _clamp(x, edge):
    """Return x, or the nearer of -edge and edge."""
    return edge if x > edge else (-edge if x < -edge else x)


@uncounted
def embed_around(loss, docs, i):
    """Embed all scores around that of anchor i: at `largest_score` from it a pair has no slope left."""
    edge = largest_score(loss)
    for j in range(docs.label.size):
        away = docs.score[j] - docs.score[i]
        docs.embedded[j] = embed(loss, _clamp(away, edge))


@uncounted_inline
def _visit_block(objective, anchors, places, docs, block, sums):
    """Visit the pairs of four anchors with a block of documents: the loop that must vectorise.

    The bounds are unsigned: a signed index might be negative, and every access would test for it.
    """
    a0, a1, a2, a3 = anchors
    zero = as_type_of(a0.score, 0.0)
    p0, p1, p2, p3 = zero_lanes(zero), zero_lanes(zero), zero_lanes(zero), zero_lanes(zero)
    h0, h1, h2, h3 = zero_lanes(zero), zero_lanes(zero), zero_lanes(zero), zero_lanes(zero)
    sizes = zero_lanes(zero)
    for start in range(block.start, block.end, np.uint64(LANES)):
        for lane in range(np.uint64(LANES)):
            j = start + lane
            b = document(docs, j)
            push0, size0, hessian0 = gradient_of(objective, 0, a0, b)
            push1, size1, hessian1 = gradient_of(objective, 1, a1, b)
            push2, size2, hessian2 = gradient_of(objective, 2, a2, b)
            push3, size3, hessian3 = gradient_of(objective, 3, a3, b)
            p0[lane] += push0
            p1[lane] += push1
            p2[lane] += push2
            p3[lane] += push3
            h0[lane] += hessian0
            h1[lane] += hessian1
            h2[lane] += hessian2
            h3[lane] += hessian3
            sizes[lane] += (size0 + size1) + (size2 + size3)
            push, hessian = (
                Four(push0, push1, push2, push3),
                Four(hessian0, hessian1, hessian2, hessian3),
            )
            add_partner_of_four(sums, places, j, push, hessian)
    pushes = (sum_lanes(p0), sum_lanes(p1), sum_lanes(p2), sum_lanes(p3))
    hessians = (sum_lanes(h0), sum_lanes(h1), sum_lanes(h2), sum_lanes(h3))
    return pushes, hessians, sum_lanes(sizes)


@verb(kind="uncounted")
def visit_run(step, objective, arranged, run, embed_per_anchor, sums):
    """Visit the pairs of the anchors of one run, from the `run[0]`-th to the `run[1]`-th."""


def _visit_runs(self, objective, arranged, embed_per_anchor, scratch):
    at, sums = arranged.anchors, scratch.sums
    clear(sums, arranged.padded)
    total = visit_run(self, objective, arranged, (0, at.stop), embed_per_anchor, sums)
    return total + visit_run(self, objective, arranged, (at.again, at.end), embed_per_anchor, sums)


def _no_columns(self: Any, memory: Memory) -> tuple[()]:
    """Return nothing: a visit by anchors keeps no columns."""
    return ()


@part
class FourAtATime:
    """Four anchors visit the same documents together."""

    visit, allocate = _visit_runs, _no_columns

    def padded_length(self, n):
        return (n + LANES - 1) // LANES * LANES

    def visit_run(self, objective, arranged, run, embed_per_anchor, sums):
        docs, anchors, stop = arranged.docs, arranged.anchors, run[1]
        total = as_type_of(docs.score[0], 0.0)
        together = 1 if embed_per_anchor else 4
        for t in range(run[0], stop, together):
            number = min(together, stop - t)
            last = stop - 1  # which also stands for anchors that would complete the last four
            places = (
                place_of_anchor(anchors, t),
                place_of_anchor(anchors, min(t + 1, last)),
                place_of_anchor(anchors, min(t + 2, last)),
                place_of_anchor(anchors, min(t + 3, last)),
            )
            if embed_per_anchor:
                embed_around(objective.loss, docs, places[0])
            a0 = anchor(objective, docs, places[0], True)
            a1 = anchor(objective, docs, places[1], number > 1)
            a2 = anchor(objective, docs, places[2], number > 2)
            a3 = anchor(objective, docs, places[3], number > 3)
            low = min(min(a0.first, a1.first), min(a2.first, a3.first))
            high = max(max(a0.end, a1.end), max(a2.end, a3.end))
            low = first_partner(anchors, t, low)
            n_blocks = (np.int64(high - low) + LANES - 1) // LANES if high > low else 0
            # A block may begin before its first partner; it must not end behind the padding.
            start = min(np.int64(low), arranged.padded - n_blocks * LANES)
            block = DocBlock(np.uint64(start), np.uint64(start + n_blocks * LANES), arranged.ranks)
            look_up(objective.weight, docs.own, (a0, a1, a2, a3), block)
            push, hessian, size = _visit_block(
                objective, (a0, a1, a2, a3), places, docs, block, sums
            )
            for r in range(number):
                add_anchor(sums, places[r], push[r], hessian[r])
            total += size
        return total


@uncounted_inline
def _visit_alone(objective, a, i, docs, block, sums):
    """Visit the pairs of one anchor, at place i, with a block of documents: sixteen at a time, then one by one."""
    push_sum = hessian_sum = size_sum = as_type_of(a.score, 0.0)
    in_blocks = (block.end - block.start) // np.uint64(LANES) * np.uint64(LANES)
    rest = block.start + in_blocks
    if in_blocks > np.uint64(0):
        pushes, hessians, sizes = zero_lanes(push_sum), zero_lanes(push_sum), zero_lanes(push_sum)
        for start in range(block.start, rest, np.uint64(LANES)):
            for lane in range(np.uint64(LANES)):
                j = start + lane
                push, size, hessian = gradient_of(objective, 0, a, document(docs, j))
                pushes[lane] += push
                hessians[lane] += hessian
                sizes[lane] += size
                add_partner(sums, i, j, push, hessian)
        push_sum, hessian_sum = sum_lanes(pushes), sum_lanes(hessians)
        size_sum = sum_lanes(sizes)
    for j in range(rest, block.end):
        push, size, hessian = gradient_of(objective, 0, a, document(docs, j))
        push_sum, hessian_sum = push_sum + push, hessian_sum + hessian
        size_sum += size
        add_partner(sums, i, j, push, hessian)
    return push_sum, hessian_sum, size_sum


@part
class OneByOne:
    """Each anchor visits its partners alone: for sets in which most anchors have few partners."""

    visit, allocate = _visit_runs, _no_columns

    def visit_run(self, objective, arranged, run, embed_per_anchor, sums):
        docs = arranged.docs
        total = as_type_of(docs.score[0], 0.0)
        for t in range(run[0], run[1]):
            i = np.uint64(place_of_anchor(arranged.anchors, t))
            if embed_per_anchor:
                embed_around(objective.loss, docs, i)
            a = anchor(objective, docs, i, True)
            end = max(a.first, a.end)  # the last anchors may have no partners
            block = DocBlock(np.uint64(a.first), np.uint64(end), arranged.ranks)
            look_up(objective.weight, docs.own, (a, a, a, a), block)
            push, hessian, size = _visit_alone(objective, a, i, docs, block, sums)
            add_anchor(sums, i, push, hessian)
            total += size
        return total


@part
class Bands:
    """Partners lie at the same few rank distances from every anchor: vectors of anchors, distance by distance.

    The scores of a pair are embedded around its anchor, which takes an exponential a pair, but no score is too far
    away.
    """

    def allocate(self, memory: Memory) -> Any:
        """Return columns of one band."""
        return memory.record(BandColumns)

    def visit(self, objective, arranged, embed_per_anchor, scratch):
        docs, m, n = arranged.docs, arranged.anchors.stop, arranged.n
        band = scratch.visiting
        clear(scratch.sums, arranged.padded)
        total = as_type_of(docs.score[0], 0.0)
        edge, far = largest_score(objective.loss), as_type_of(total, _NOWHERE)
        center = embed(objective.loss, total)
        here = total  # every pair of a band counts: any turn will do
        low, high = partners(objective.pairs, 0, n)
        for distance in range(np.uint64(low), np.uint64(high)):
            left = n - np.int64(distance)
            end = np.uint64((m if m < left else left) if left > 0 else 0)
            for i in range(end):
                j = i + distance
                own = seen_by(objective.weight, document(docs.own, i), ANCHOR_ITSELF)
                label, score, rank = document((docs.label, docs.score, docs.rank), i)
                a = Doc(label, score, center, rank, own, here, -far, far)
                own = document(docs.own, j)
                label, score, rank = document((docs.label, docs.score, docs.rank), j)
                embedded = embed(objective.loss, _clamp(score - a.score, edge))
                b = Doc(label, score, embedded, rank, own, here, far, far)
                pair_push, pair_size, pair_hessian = gradient_of(objective, 0, a, b)
                store_noalias(
                    (band.push, band.size, band.hessian), i, (pair_push, pair_size, pair_hessian)
                )
            total += sum_of(documents(band.size, 0, np.int64(end)))
            add_band(scratch.sums, distance, end, band.push, band.hessian)
        return total
