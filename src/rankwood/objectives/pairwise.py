"""The pairwise objective and its kernel: the only pair loop in the package.

For each query: rank the documents, let the weight prepare its record, let the pair set and the labels
bring the documents into the order of the loop, in which every anchor's partners are a range of places.
Four anchors go over the same documents together: the loads, and the loads and stores of the partners'
sums, are shared, and the loop vectorises. The list is filled up with documents that are nobody's
partners: loops are as long as vectors are wide, and there is no remainder to do one by one.
"""

from collections import namedtuple

import numpy as np

from rankwood._jit import ALL, Can, at, cut, inner, jit, like, part
from rankwood._rng import mix
from rankwood.metrics.query import Query, arrange, choose
from rankwood.objectives.labels import Graded
from rankwood.objectives.losses import Logistic
from rankwood.objectives.pairs import All, reads
from rankwood.objectives.scales import NoScale
from rankwood.objectives.verbs import (
    embed,
    lay,
    lean,
    prepare,
    reach,
    scale,
    select,
    slope,
    split,
    units,
)
from rankwood.objectives.weights import Swap, together

_LANES = 8  # float32 numbers in a vector of 256 bits

#: What the pair loop sees of one document: `u` is what the loss made of its score, `rank` its rank, `own` its
#: part of the record that the weight prepared; `place` is its place in the loop, and if it is an anchor its
#: partners are at the places from `first` up to `end`.
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
    """

    weight: Can("weight") = Swap()  # type: ignore[valid-type]
    pairs: Can("select") = All()  # type: ignore[valid-type]
    loss: Can("slope") = Logistic()  # type: ignore[valid-type]
    scale: Can("scale") = NoScale()  # type: ignore[valid-type]
    labels: Can("split") = Graded()  # type: ignore[valid-type]

    def ranks(self) -> int:
        """Return how much of the ranking is read: nothing, which documents are the first k, or all."""
        return together(reads(self.weight), reads(self.pairs))


@inner
def _lambda(obj, x, y):
    """Lambda of x (that of y is its opposite), sum of what the pair pushes, and curvature."""
    above, below, bend = slope(obj.loss, x, y)
    return lean(obj.pairs, obj.weight, x, y, above, below, bend)


@inner
def _four(obj, x0, x1, x2, x3, docs, start, end, push, curve):
    """Pairs of four anchors with documents `start` to `end`: the loop that must vectorise.

    The bounds are unsigned: a signed index might be negative, and every access would test for it.
    """
    p0 = p1 = p2 = p3 = c0 = c1 = c2 = c3 = total = like(x0.u, 0.0)
    for j in range(start, end):
        y = at(docs, j)
        q0, t0, d0 = _lambda(obj, x0, y)
        q1, t1, d1 = _lambda(obj, x1, y)
        q2, t2, d2 = _lambda(obj, x2, y)
        q3, t3, d3 = _lambda(obj, x3, y)
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
def _rank(obj, plan, q, order, depth, scores, key, spare, slots, label, score, u):
    """Rank a query, as far as `depth` asks for, and embed its scores; True if they are too far apart for that.

    The list is filled up to the size of `slots` with copies of the last document without a label.
    """
    start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
    slot = order[start : start + n]
    for i in range(n):
        if depth != ALL:
            slot[i] = i
        key[i] = scores[plan.rows[start + slot[i]]]
    if depth == ALL:
        arrange(key[:n], slot)
    elif 0 < depth < n:
        choose(key[:n], slot, depth, spare[:n])
    low = high = key[0]
    for i in range(n):
        low, high = min(low, key[i]), max(high, key[i])
    middle = 0.5 * low + 0.5 * high
    for i in range(slots.size):
        here = min(i, n - 1)
        slots[i] = slot[here]
        label[i] = plan.label[start + slot[here]] if i < n else np.nan
        score[i] = key[here] - middle
        u[i] = embed(obj.loss, score[i])
    return high - middle > reach(obj.loss)


@inner
def _around(obj, docs, i):
    """Embed scores around anchor i: beyond `reach` of it a pair has no slope left."""
    edge = reach(obj.loss)
    for j in range(docs.u.size):
        docs.u[j] = embed(obj.loss, min(max(docs.score[j] - docs.score[i], -edge), edge))


@inner
def _anchor(docs, i, counts):
    """Document i; without partners, if it only fills up a tile."""
    x = at(docs, i)
    none = like(x.u, 0.0)
    first, end = (x.first if counts else like(x.u, np.inf)), (x.end if counts else none)
    return Doc(x.label, x.score, x.u, x.rank, x.own, x.place, first, end)


@inner
def _tile(obj, docs, i, count, push, curve):
    """Pairs of up to four anchors from place i; return the sum of what they push."""
    x0, x1 = at(docs, i), _anchor(docs, i + 1, count > 1)
    x2, x3 = _anchor(docs, i + 2, count > 2), _anchor(docs, i + 3, count > 3)
    start = min(min(x0.first, x1.first), min(x2.first, x3.first))
    wide = max(max(x0.end, x1.end), max(x2.end, x3.end)) - start
    if wide <= 0:
        return like(x0.u, 0.0)
    a = np.uint64(start)
    z = np.uint64(np.int64(start) + (np.int64(wide) + _LANES - 1) // _LANES * _LANES)
    p, c, total = _four(obj, x0, x1, x2, x3, docs, a, z, push, curve)
    for r in range(count):
        push[i + r] += p[r]
        curve[i + r] += c[r]
    return total


@jit
def fill(obj, plan, order, depth, state, scores, grad, hess, first, last):
    """Gradients and hessians of queries `first` to `last`; `order` keeps each query's last ranking."""
    room = _LANES - 1
    for q in range(first, last):
        room = max(room, plan.ptr[q + 1] - plan.ptr[q] + _LANES - 1)
    keys, indices = np.empty((2, room)), np.empty((4, room), np.int64)
    work = np.empty((8, room), plan.table.dtype)
    for i in range(room):
        work[5, i] = i
    by_push, by_curve = units(obj.loss)
    for q in range(first, last):
        start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
        here = work[:, : n + _LANES - 1]
        label, score, u, push, curve, place = here[0], here[1], here[2], here[3], here[4], here[5]
        slots, places = indices[0, : place.size], indices[1, : place.size]
        wide = _rank(
            obj, plan, q, order, depth, scores, keys[0], keys[1], slots, label, score, u
        )
        ranked = Query(label, score, slots, plan.table)
        own = prepare(obj.weight, ranked, cut(plan.worth[0], start, start + n))
        for i in range(place.size):
            push[i] = curve[i] = 0.0
            places[i] = i
        m = select(
            obj.pairs,
            ranked,
            n,
            cut(plan.worth[1], start, start + n),
            places[:n],
            mix(state, q),
        )
        a, b, c = split(
            obj.labels, label, n, m, obj.pairs, places[:n], here[6], here[7], indices[2:]
        )
        moved = lay(obj.labels, obj.pairs, (label, score, u, place, own), places)
        docs = Doc(moved[0], moved[1], moved[2], moved[3], moved[4], place, here[6], here[7])
        total = like(by_push, 0.0)
        for anchors in ((0, a), (b, c)):
            for i in range(anchors[0], anchors[1], 1 if wide else 4):
                if wide:
                    _around(obj, docs, i)
                count = 1 if wide else min(4, anchors[1] - i)
                total += _tile(obj, docs, i, count, push, curve)
        factor = scale(obj.scale, by_push * (total + total))
        for i in range(n):
            row = plan.rows[start + slots[places[i]]]
            grad[row] = -factor * by_push * push[i]
            hess[row] = factor * by_curve * curve[i]
