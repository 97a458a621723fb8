"""The pairwise objective and its kernel: the only pair loop in the package.

For each query: rank the documents, let the weight prepare its record, then visit the pairs (i, j),
i among the m anchors and j below i. Four anchors go over the same documents together: the loads, and
the loads and stores of the lower document's sums, are shared, and the loop over j vectorises. The list
is filled up with documents that have no label (NaN) and so pair with nobody: loops are as long as
vectors are wide, and there is no remainder to do one by one.
"""

from collections import namedtuple

import numpy as np

from rankwood._jit import Can, at, cut, inner, jit, like, part
from rankwood.metrics.query import Query, arrange
from rankwood.objectives.losses import Logistic
from rankwood.objectives.pairs import All
from rankwood.objectives.scales import NoScale
from rankwood.objectives.verbs import (
    embed,
    prepare,
    reach,
    scale,
    select,
    slope,
    units,
    weight,
)
from rankwood.objectives.weights import Swap

_LANES = 8  # float32 numbers in a vector of 256 bits

#: What the pair loop sees of one document: `u` is what the loss made of its score, `place` its place in the
#: loop, `own` its part of the record that the weight prepared.
Doc = namedtuple("Doc", "label score u place own")


@part
class Lambda:
    r"""A pairwise objective :math:`L = c \sum w_{xy} \, \ell(s_x - s_y)` over pairs with :math:`y_x > y_y`.

    Parameters
    ----------
    weight : part
        Weight w of a pair; a constant when the loss is differentiated.
    pairs : part
        Which pairs of ranks are visited. Pairs of equal labels never count.
    loss : part
        Loss of one pair.
    scale : part
        Factor c on the query, given the sum of its lambdas.
    """

    weight: Can("weight") = Swap()  # type: ignore[valid-type]
    pairs: Can("select") = All()  # type: ignore[valid-type]
    loss: Can("slope") = Logistic()  # type: ignore[valid-type]
    scale: Can("scale") = NoScale()  # type: ignore[valid-type]


@inner
def _lambda(obj, x, y):
    """Lambda of x (that of y is its opposite) and curvature of a pair.

    0 unless one label is higher (which no label without a value is) and y comes after x.
    """
    if_above, if_below, bend = slope(obj.loss, x, y)
    w = weight(obj.weight, x, y, x.own, y.own)
    w = w if (x.label < y.label or x.label > y.label) and x.place < y.place else like(w, 0.0)
    return w * (if_above if x.label > y.label else -if_below), w * bend


@inner
def _four(obj, x0, x1, x2, x3, docs, start, end, push, curve):
    """Pairs of four anchors with documents `start` to `end`: the loop that must vectorise.

    The bounds are unsigned: a signed index might be negative, and every access would test for it.
    """
    p0 = p1 = p2 = p3 = c0 = c1 = c2 = c3 = total = like(x0.u, 0.0)
    for j in range(start, end):
        y = at(docs, j)
        q0, d0 = _lambda(obj, x0, y)
        q1, d1 = _lambda(obj, x1, y)
        q2, d2 = _lambda(obj, x2, y)
        q3, d3 = _lambda(obj, x3, y)
        p0 += q0
        p1 += q1
        p2 += q2
        p3 += q3
        c0 += d0
        c1 += d1
        c2 += d2
        c3 += d3
        total += (abs(q0) + abs(q1)) + (abs(q2) + abs(q3))
        push[j] -= (q0 + q1) + (q2 + q3)
        curve[j] += (d0 + d1) + (d2 + d3)
    return (p0, p1, p2, p3), (c0, c1, c2, c3), total


@inner
def _rank(obj, plan, q, order, scores, key, slots, label, score, u):
    """Put a query in rank order and embed its scores; True if they are too far apart for that.

    The list is filled up to the size of `slots` with copies of the last document without a label.
    """
    start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
    slot = order[start : start + n]
    for i in range(n):
        key[i] = scores[plan.rows[start + slot[i]]]
    arrange(key[:n], slot)
    middle = 0.5 * key[0] + 0.5 * key[n - 1]
    for i in range(slots.size):
        here = min(i, n - 1)
        slots[i] = slot[here]
        label[i] = plan.label[start + slot[here]] if i < n else np.nan
        score[i] = key[here] - middle
        u[i] = embed(obj.loss, score[i])
    return key[0] - middle > reach(obj.loss)


@inner
def _around(obj, docs, i):
    """Embed scores around anchor i: beyond `reach` of it a pair has no slope left."""
    edge = reach(obj.loss)
    for j in range(i, docs.u.size):
        docs.u[j] = embed(obj.loss, min(max(docs.score[j] - docs.score[i], -edge), edge))


@inner
def _anchor(docs, i, counts):
    """Document i; without its label, so that it pairs with nobody, if it only fills up a tile."""
    x = at(docs, i)
    return Doc(x.label if counts else like(x.label, np.nan), x.score, x.u, x.place, x.own)


@jit
def fill(obj, plan, order, scores, grad, hess, first, last):
    """Gradients and hessians of queries `first` to `last`; `order` keeps each query's last ranking."""
    room = _LANES - 1
    for q in range(first, last):
        room = max(room, plan.ptr[q + 1] - plan.ptr[q] + _LANES - 1)
    key, slots = np.empty(room), np.empty(room, np.int64)
    work = np.empty((6, room), plan.table.dtype)
    for i in range(room):
        work[5, i] = i
    by_push, by_curve = units(obj.loss)
    for q in range(first, last):
        start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
        f = n + _LANES - 1
        label, score, u, push, curve = (
            work[0, :f],
            work[1, :f],
            work[2, :f],
            work[3, :f],
            work[4, :f],
        )
        wide = _rank(obj, plan, q, order, scores, key, slots[:f], label, score, u)
        ranked = Query(label, score, slots[:f], plan.table)
        own = prepare(obj.weight, ranked, cut(plan.worth[0], start, start + n))
        docs = Doc(label, score, u, work[5, :f], own)
        for i in range(f):
            push[i] = curve[i] = 0.0
        total = like(u[0], 0.0)
        m = select(obj.pairs, n)
        for i in range(0, m, 1 if wide else 4):
            if wide:
                _around(obj, docs, i)
            full = 1 if wide else min(4, m - i)
            p, c, t = _four(
                obj,
                at(docs, i),
                _anchor(docs, i + 1, full > 1),
                _anchor(docs, i + 2, full > 2),
                _anchor(docs, i + 3, full > 3),
                docs,
                np.uint64(i + 1),
                np.uint64(i + 1 + (n - i - 1 + _LANES - 1) // _LANES * _LANES),
                push,
                curve,
            )
            for r in range(full):
                push[i + r] += p[r]
                curve[i + r] += c[r]
            total += t
        factor = scale(obj.scale, by_push * (total + total))
        for i in range(n):
            row = plan.rows[start + slots[i]]
            grad[row] = -factor * by_push * push[i]
            hess[row] = factor * by_curve * curve[i]
