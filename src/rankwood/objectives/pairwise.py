"""The pairwise objective and its kernel: the only pair loop in the package.

For each query: rank the documents, let the weight prepare its record, let the pair set and the labels
bring the documents into the order of the loop, in which every anchor's partners are a range of places.
Four anchors go over the same documents together: the loads, and the loads and stores of the partners'
sums, are shared, and the loop vectorises. The list is filled up with documents that are nobody's
partners: loops are as long as vectors are wide, and there is no remainder to do one by one.
"""

from collections import namedtuple
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rankwood import _check
from rankwood._jit import ALL, VERBS, Can, at, copied, cut, inline, inner, is_part, jit, like, part
from rankwood._rng import mix
from rankwood.metrics.query import SHORT, Query, arrange, choose, count, resort
from rankwood.objectives.labels import Binary, Graded, follow
from rankwood.objectives.losses import Logistic
from rankwood.objectives.noise import Still
from rankwood.objectives.pairs import All, Ordered, reads
from rankwood.objectives.scales import NoScale
from rankwood.objectives.verbs import (
    embed,
    facing,
    lay,
    lean,
    prepare,
    reach,
    relate,
    scale,
    select,
    shake,
    slope,
    span,
    split,
    units,
)
from rankwood.objectives.weights import Swap, looks_up, together

_APART = 256
_LANES = 8  # float32 numbers in a vector of 256 bits

#: What the pair loop sees of one document: `u` is what the loss made of its score, `rank` its rank, `own` its
#: part of the record that the weight prepared; `place` is its place in the order of the pair set, and if it is an
#: anchor its partners are at the places from `first` up to `end`.
Doc = namedtuple("Doc", "label score u rank own place first end")


@part
class Lambda:
    r"""A pairwise objective :math:`L = c \sum w_{xy} \, \ell(s_x - s_y)` over pairs with :math:`y_x > y_y`.

    Parameters
    ----------
    weight : part
        Weight w of a pair; a constant when the loss is differentiated.
    pairs : part
        Which pairs of ranks are visited. Pairs of equal labels count only in `Ordered` sets.
    loss : part
        Loss of one pair.
    scale : part
        Factor c on the query, given the sum of its lambdas.
    labels : part
        How labels are read: as grades, or as relevant and not.
    noise : part
        What the scores are disturbed by before documents are ranked. The loss sees them undisturbed.
    draws : int
        Rankings drawn if there is noise; the lambdas are their mean.
    """

    weight: Can("weight") = Swap()  # type: ignore[valid-type]
    pairs: Can("select") = All()  # type: ignore[valid-type]
    loss: Can("slope") = Logistic()  # type: ignore[valid-type]
    scale: Can("scale") = NoScale()  # type: ignore[valid-type]
    labels: Can("split") = Graded()  # type: ignore[valid-type]
    noise: Can("shake") = Still()  # type: ignore[valid-type]
    draws: int = 1

    def check(self) -> None:
        rel = 1.0 if isinstance(self.labels, Graded) else _own_rel(self.weight)
        if rel > 1.0:
            raise _check.InputError(
                f"{self.labels!r} makes labels 0 and 1, so that no document is relevant to a metric with "
                f"rel={rel:g}; leave the metric's rel at 1."
            )
        own_span = type(self.pairs).Raw in VERBS["span"].table  # type: ignore[attr-defined]
        if (
            getattr(self.pairs, "scattered", False)
            and own_span
            and not isinstance(self.pairs, Ordered)
        ):
            raise _check.InputError(
                f"{type(self.pairs).__name__} chooses its anchors itself (scattered), and they pair with "
                "everyone after them: it can't have a span too."
            )

    def ranks(self) -> int:
        """Return how much of the ranking is read: nothing, which documents are the first k, or all."""
        return together(reads(self.weight), reads(self.pairs))

    def kernel(self) -> tuple[Any, Any, tuple[Any, ...]]:
        """Return the objective as the kernel takes it, the kernel, and its options.

        Options are None or not: a kernel is compiled without what it doesn't need.
        """
        bare = self
        if isinstance(self.pairs, Ordered):  # equal labels pair too: there is nothing to put apart
            bare = replace(self, labels=Graded())
        depth = None if bare.ranks() == ALL else bare.ranks()
        band = _banded(bare) or None
        few = (getattr(bare.pairs, "few", False) and not band) or None
        scattered = getattr(bare.pairs, "scattered", False) or None
        # Two classes are put apart from a complete order; grades only ask where the anchors are.
        apart = isinstance(bare.labels, Binary)
        anchors = (None, scattered) if apart else (scattered, None)
        noisy = None if isinstance(bare.noise, Still) else True
        return bare, fill, (depth, few, band, *anchors, noisy)


def _banded(objective: Lambda) -> bool:
    """Tell whether every anchor's partners are as far away, and the loop can go over the anchors."""
    if isinstance(objective.labels, Binary) or looks_up(objective.weight):
        return False
    return getattr(objective.pairs, "band", False)


def _own_rel(part: Any) -> float:
    """Return the largest `rel` of the parts inside a part, at least 1."""
    own = [getattr(part, f.name) for f in fields(part)]
    inside = [_own_rel(x) for x in own if is_part(x)]
    return max([1.0, getattr(part, "rel", 1.0), *inside])


@inner
def _lambda(obj, r, x, y):
    """Lambda of x, the r-th anchor (that of y is its opposite), sum of what the pair pushes, and curvature."""
    own = facing(obj.weight, y.own, r)
    y = Doc(y.label, y.score, y.u, y.rank, own, y.place, y.first, y.end)
    above, below, bend = slope(obj.loss, x, y)
    return lean(obj.pairs, obj.weight, x, y, above, below, bend)


@inline
def _four(obj, x0, x1, x2, x3, docs, start, end, push, curve):
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
        curve[j] += (d0 + d1) + (d2 + d3)
    return (p0, p1, p2, p3), (c0, c1, c2, c3), total


@inner
def _rank(obj, depth, n, key, spare, slots, score, u):
    """Rank n documents, as far as `depth` asks for, and embed their scores; True if they are too far apart for that.

    The list is filled up to the size of `slots` with copies of the last document.
    """
    if depth is None:  # a question of types: what isn't needed isn't compiled
        arrange(key[:n], slots[:n])
    elif 0 < depth < n:
        choose(key[:n], slots, depth, spare)
    low = high = key[0]
    for i in range(n):
        low, high = (key[i] if key[i] < low else low), (key[i] if key[i] > high else high)
    middle = 0.5 * low + 0.5 * high
    for i in range(n):
        score[i] = key[i if depth is None else slots[i]] - middle
    for i in range(n, slots.size):
        slots[i], score[i] = slots[n - 1], score[n - 1]
    for i in range(slots.size):
        u[i] = embed(obj.loss, score[i])
    return high - middle > reach(obj.loss)


@inner
def _shuffle(obj, depth, n, draw, state, calm, key, spare, slots, score, u):
    """Rank n documents by noisy scores; `calm` has the scores themselves and what the loss made of them, by slot."""
    shake(obj.noise, calm[0, :n], draw, state, key[:n])
    if depth is None and n <= SHORT:
        count(key[:n], spare, slots)
    elif depth is None:
        for i in range(n):
            slots[i] = i
        resort(key[:n], slots[:n])
    elif 0 < depth < n:
        choose(key[:n], slots, depth, spare)
    for i in range(n):
        score[i], u[i] = calm[0, slots[i]], calm[1, slots[i]]
    for i in range(n, slots.size):
        slots[i], score[i], u[i] = slots[n - 1], score[n - 1], u[n - 1]


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
def _pairs(obj, docs, moved, wide, few, anchors, lead, start, end, push, curve):
    """Pairs of the anchors from `start` to `end`, four by four; return the sum of what they push.

    They are the documents at these places, or, where `anchors` is given, those it lists there; then the first
    `lead` of them are at their places.
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
        tiles = (np.int64(high - low) + _LANES - 1) // _LANES if high > low else 0
        a, z = np.uint64(low), np.uint64(np.int64(low) + tiles * _LANES)
        ranks = (x0.rank, x1.rank, x2.rank, x3.rank)
        relate(obj.weight, docs.own, ranks, docs.rank, moved, a, z)
        # A question of types again: most pair sets have no use for `_few`, and it isn't compiled.
        if few is not None and anchors is None and tiles == 1 and count == 4:
            total += _few(obj, (x0, x1, x2, x3), docs, push, curve)
            continue
        p, c, s = _four(obj, x0, x1, x2, x3, docs, a, z, push, curve)
        here = (i0, i1, i2, i3)
        for r in range(count):
            push[here[r]] += p[r]
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
            curve[i] += c
            push[j] -= p
            curve[j] += c
            total += t
    return total


@inline
def _band(obj, docs, m, n, pushed, bent, push, curve):
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
            curve[i] += bent[i]
        for i in range(end):
            push[i + distance] -= pushed[i]
            curve[i + distance] += bent[i]
    return total


@jit
def fill(
    obj,
    plan,
    order,
    depth,
    few,
    band,
    scattered,
    complete,
    noisy,
    state,
    scores,
    grad,
    hess,
    first,
    last,
):
    """Gradients and hessians of queries `first` to `last`; `order` keeps each query's last ranking."""
    longest = 0
    for q in range(first, last):
        n = plan.ptr[q + 1] - plan.ptr[q]
        longest = n if n > longest else longest
    room = longest + _LANES - 1
    keys, indices = np.empty((2, room)), np.empty((4, room), np.int64)
    # Rows far apart: loops check whether arrays are near each other and go another way if so, and the bits of
    # a query must not depend on the other queries of the batch.
    work = np.empty((9, room + _APART), plan.table.dtype)
    calm = np.empty((6 if noisy is not None else 0, room + _APART), plan.table.dtype)
    u, push, curve, rank = work[2], work[3], work[4], work[8]
    for i in range(rank.size):
        work[5, i] = rank[i] = i
    by_push, by_curve = units(obj.loss)
    # Functions count the owners of the arrays they are handed, and threads that count the owners of one
    # array wait for each other: inside the loop all of them are our own.
    ptr, rows, labels, offset = plan.ptr, plan.rows, plan.label, plan.ptr[first]
    worth, table = copied(plan.worth, offset, ptr[last]), plan.table.copy()
    for q in range(first, last):
        start, n = ptr[q], ptr[q + 1] - ptr[q]
        f = n + _LANES - 1
        label, score, slots, places = work[0, :f], work[1, :f], indices[0, :f], indices[1, :f]
        for i in range(n):
            slots[i] = order[start + i]
            keys[0, i] = scores[rows[start + (slots[i] if depth is None else i)]]
        wide = _rank(obj, depth, n, keys[0], keys[1], slots, score, u)
        for i in range(n):
            order[start + i] = slots[i]
        total, draws = like(by_push, 0.0), 1
        if noisy is not None:
            draws = obj.draws
            for i in range(n):
                calm[0, slots[i]], calm[1, slots[i]] = score[i], u[i]
                calm[2, i] = calm[3, i] = total
        for draw in range(draws):
            own_state = mix(state, q)
            if noisy is not None:
                own_state = mix(own_state, draw)
                _shuffle(obj, depth, n, draw, own_state, calm, calm[4], calm[5], slots, score, u)
            for i in range(f):
                push[i] = curve[i] = 0.0
                label[i] = np.nan
                places[i] = i
            for i in range(n):
                label[i] = labels[start + slots[i]]
            ranked = Query(label, score, slots, table)
            own = prepare(obj.weight, ranked, cut(worth[0], start - offset, start - offset + n))
            mine = cut(worth[1], start - offset, start - offset + n)
            m = select(obj.pairs, ranked, n, mine, places, own_state)
            if band is not None:
                moved = False
                docs = (label, score, rank, own)
                total += _band(obj, docs, m, n, work[6], work[7], push, curve)
            else:
                if complete is not None:
                    follow(places, m, n, indices[2])
                a, b, c = split(
                    obj.labels, label, n, m, obj.pairs, places, work[6], work[7], indices
                )
                moved, d = lay(obj.labels, (label, score, u, rank, own), places)
                docs = Doc(d[0], d[1], d[2], d[3], d[4], work[5], work[6], work[7])
                anchors, lead = None, 0
                if scattered is not None:
                    lead = _put(docs.place, places, m, n)
                    anchors = places
                total += _pairs(obj, docs, moved, wide, few, anchors, lead, 0, a, push, curve)
                total += _pairs(obj, docs, moved, wide, few, anchors, lead, b, c, push, curve)
            if noisy is not None:
                for i in range(n):
                    slot = slots[places[i] if moved else i]
                    calm[2, slot] += push[i]
                    calm[3, slot] += curve[i]
        if noisy is not None:
            for i in range(n):
                push[i], curve[i], slots[i], places[i] = calm[2, i], calm[3, i], i, i
        share = like(total, 1.0) / like(total, draws)
        factor = share * scale(obj.scale, share * by_push * (total + total))
        for i in range(n):
            row = rows[start + slots[places[i] if moved else i]]
            grad[row] = -factor * by_push * push[i]
            hess[row] = factor * by_curve * curve[i]


@inner
def _put(place, anchors, m, n):
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
