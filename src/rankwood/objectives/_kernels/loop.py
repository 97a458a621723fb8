"""The only pair loop in the package: four anchors at a time over the same documents, or a band of neighbours.

In the order of the pair set every anchor's partners are a range of places. Four anchors go over the same
documents together: the loads, and the loads and stores of the partners' sums, are shared, and the loop
vectorises. The list is filled up with documents that are nobody's partners: loops are as long as vectors
are wide, and there is no remainder to do one by one. Where partners are as far away from every anchor, vectors
are made of anchors instead.

`push` and `curve` are filled with sums by place. If `curve` is a matrix, it gets the curvature of each pair instead, in
the row of its anchor: what models that score pairs ask for.
"""

from collections import namedtuple

import numpy as np

from rankwood._core.jit import at, inline, inner, like
from rankwood.objectives._kernels.verbs import embed, facing, lean, reach, relate, slope, span

LANES = 8  # float32 numbers in a vector of 256 bits

#: What the pair loop sees of one document: `u` is what the loss made of its score, `rank` its rank, `own` its
#: part of the record that the weight prepared; `place` is its place in the order of the pair set, and if it is an
#: anchor its partners are at the places from `first` up to `end`.
Doc = namedtuple("Doc", "label score u rank own place first end")


@inner
def _lambda(obj, r, x, y):
    """Lambda of x, the r-th anchor (that of y is its opposite), sum of what the pair pushes, and curvature."""
    own = facing(obj.weight, y.own, r)
    y = Doc(y.label, y.score, y.u, y.rank, own, y.place, y.first, y.end)
    above, below, bend = slope(obj.loss, x, y)
    return lean(obj.pairs, obj.weight, x, y, above, below, bend)


@inline
def _four(obj, x0, x1, x2, x3, here, docs, start, end, push, curve):
    """Pairs of four anchors with documents `start` to `end`: the loop that must vectorise.

    The bounds are unsigned: a signed index might be negative, and every access would test for it.
    """
    p0 = p1 = p2 = p3 = c0 = c1 = c2 = c3 = total = like(x0.u, 0.0)
    for j in range(start, end):
        y = at(docs, j)
        q0, t0, d0 = _lambda(obj, 0, x0, y)
        q1, t1, d1 = _lambda(obj, 1, x1, y)
        q2, t2, d2 = _lambda(obj, 2, x2, y)
        q3, t3, d3 = _lambda(obj, 3, x3, y)
        p0 += q0
        p1 += q1
        p2 += q2
        p3 += q3
        c0 += d0
        c1 += d1
        c2 += d2
        c3 += d3
        total += (t0 + t1) + (t2 + t3)
        push[j] -= (q0 + q1) + (q2 + q3)
        if curve.ndim == 1:  # a question of types
            curve[j] += (d0 + d1) + (d2 + d3)
        else:
            curve[here[0], j] += d0
            curve[here[1], j] += d1
            curve[here[2], j] += d2
            curve[here[3], j] += d3
    return (p0, p1, p2, p3), (c0, c1, c2, c3), total


@inner
def _around(obj, docs, i):
    """Embed scores around anchor i: beyond `reach` of it a pair has no slope left."""
    edge = reach(obj.loss)
    for j in range(docs.label.size):
        away = docs.score[j] - docs.score[i]
        away = edge if away > edge else (-edge if away < -edge else away)
        docs.u[j] = embed(obj.loss, away)


@inner
def _anchor(obj, docs, i, counts):
    """Document i as an anchor; without partners, if it only fills up four."""
    x = at(docs, i)
    first, end = (x.first if counts else like(x.u, 2**30)), (x.end if counts else like(x.u, 0.0))
    own = facing(obj.weight, x.own, -1)
    return Doc(x.label, x.score, x.u, x.rank, own, x.place, first, end)


@inner
def pairs(obj, docs, order, moved, wide, few, anchors, lead, start, end, push, curve):
    """Pairs of the anchors from `start` to `end`, four by four; return the sum of what they push.

    They are the documents at these places, or, where `anchors` is given, those it lists there; then the first
    `lead` of them are at their places. `order` has the rank of each place.
    One call for all of them: each array that is handed to a function costs a count of its owners.
    """
    total = like(push[0], 0.0)
    for t in range(start, end, 1 if wide else 4):
        count = end - t
        if wide or count > 4:
            count = 1 if wide else 4
        i0, i1, i2, i3 = t, t + 1, t + 2, t + 3
        if anchors is not None:
            i0, i1, i2, i3 = anchors[i0], anchors[i1], anchors[i2], anchors[i3]
        if wide:
            _around(obj, docs, i0)
        x0, x1 = _anchor(obj, docs, i0, True), _anchor(obj, docs, i1, count > 1)
        x2, x3 = _anchor(obj, docs, i2, count > 2), _anchor(obj, docs, i3, count > 3)
        low, high = x0.first, x0.end
        low, high = (x1.first if x1.first < low else low), (x1.end if x1.end > high else high)
        low, high = (x2.first if x2.first < low else low), (x2.end if x2.end > high else high)
        low, high = (x3.first if x3.first < low else low), (x3.end if x3.end > high else high)
        if anchors is not None:  # partners may be anywhere behind the anchors that are in front
            low = like(low, t + 1 if t < lead else lead)
        tiles = (np.int64(high - low) + LANES - 1) // LANES if high > low else 0
        a, z = np.uint64(low), np.uint64(np.int64(low) + tiles * LANES)
        ranks = (x0.rank, x1.rank, x2.rank, x3.rank)
        relate(obj.weight, docs.own, ranks, order, moved, a, z)
        # A question of types again: most pair sets have no use for `_few`, and it isn't compiled.
        if few is not None and anchors is None and tiles == 1 and count == 4:
            total += _few(obj, (x0, x1, x2, x3), docs, push, curve)
            continue
        here = (i0, i1, i2, i3)
        p, c, s = _four(obj, x0, x1, x2, x3, here, docs, a, z, push, curve)
        for r in range(count):
            push[here[r]] += p[r]
            if curve.ndim == 1:
                curve[here[r]] += c[r]
        total += s
    return total


@inner
def _few(obj, anchors, docs, push, curve):
    """Pairs of four anchors that have few partners, one by one; return the sum of what they push."""
    total = like(push[0], 0.0)
    for r in range(4):
        x = anchors[r]
        i = np.uint64(x.place)
        for j in range(np.uint64(x.first), np.uint64(x.end)):
            p, t, c = _lambda(obj, r, x, at(docs, j))
            push[i] += p
            push[j] -= p
            if curve.ndim == 1:
                curve[i] += c
                curve[j] += c
            else:
                curve[i, j] += c
            total += t
    return total


@inline
def band(obj, docs, m, n, pushed, bent, push, curve):
    """Pairs of m anchors with documents at the same distances from each: distance by distance, in vectors of anchors.

    A pair's scores are embedded around its anchor: an exponential a pair, but no score is too far away.
    """
    total = like(push[0], 0.0)
    low, high = span(obj.pairs, 0, n)
    edge = reach(obj.loss)
    far = like(total, 2**30)
    middle = embed(obj.loss, total)
    for distance in range(np.uint64(low), np.uint64(high)):
        left = n - np.int64(distance)
        end = np.uint64((m if m < left else left) if left > 0 else 0)
        for i in range(end):
            a, b = at(docs, i), at(docs, i + distance)
            away = b[1] - a[1]
            away = edge if away > edge else (-edge if away < -edge else away)
            mine = facing(obj.weight, a[3], -1)
            x = Doc(a[0], a[1], middle, a[2], mine, middle, -far, far)
            y = Doc(b[0], b[1], embed(obj.loss, away), b[2], b[3], middle, far, far)
            p, t, c = _lambda(obj, 0, x, y)
            pushed[i], bent[i] = p, c
            total += t
        for i in range(end):
            push[i] += pushed[i]
            if curve.ndim == 1:
                curve[i] += bent[i]
            else:
                curve[i, i + distance] += bent[i]
        for i in range(end):
            push[i + distance] -= pushed[i]
            if curve.ndim == 1:
                curve[i + distance] += bent[i]
    return total


@inner
def put(place, anchors, m, n):
    """Fill in the places where m anchors are scattered over n documents; return how many are at theirs, in front."""
    lead = 0
    while lead < m and anchors[lead] == lead:
        lead += 1
    for i in range(n):  # behind the anchors
        place[i] = n - 1
    for i in range(n, place.size):  # what only fills up: behind everyone's partners
        place[i] = n
    for i in range(m):
        place[anchors[i]] = i
    return lead
