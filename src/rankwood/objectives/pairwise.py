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
    exact,
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

#: What the pair loop sees of one document; `own` is its part of the record that the weight prepared.
Doc = namedtuple("Doc", "label score u own")


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
def _lambda(obj, x, y, slopes):
    """Lambda of x (that of y is its opposite) and curvature of a pair; 0 unless one label is higher."""
    if_above, if_below, bend = slopes
    w = weight(obj.weight, x, y, x.own, y.own)
    w = w if x.label < y.label or x.label > y.label else like(w, 0.0)
    return w * (if_above if x.label > y.label else -if_below), w * bend


@inner
def _four(obj, x0, x1, x2, x3, docs, push, curve):
    """Pairs of four anchors with the documents below all of them: the loop that must vectorise."""
    p0 = p1 = p2 = p3 = c0 = c1 = c2 = c3 = total = like(x0.u, 0.0)
    for j in range(docs.u.size):
        y = at(docs, j)
        q0, d0 = _lambda(obj, x0, y, slope(obj.loss, x0, y))
        q1, d1 = _lambda(obj, x1, y, slope(obj.loss, x1, y))
        q2, d2 = _lambda(obj, x2, y, slope(obj.loss, x2, y))
        q3, d3 = _lambda(obj, x3, y, slope(obj.loss, x3, y))
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
def _few(obj, docs, start, stop, end, wide, push, curve):
    """Pairs of anchors `start` to `stop` with the documents below them up to `end`, one at a time.

    For the corner of a tile, and for queries whose scores are too wide apart to be embedded.
    """
    total = like(docs.u[0], 0.0)
    for i in range(start, stop):
        x = at(docs, i)
        for j in range(i + 1, end):
            y = at(docs, j)
            p, c = _lambda(obj, x, y, exact(obj.loss, x, y) if wide else slope(obj.loss, x, y))
            push[i] += p
            push[j] -= p
            curve[i] += c
            curve[j] += c
            total += abs(p)
    return total


@inner
def _sweep(obj, docs, m, n, wide, push, curve):
    """Visit the pairs of m anchors; add up lambdas and curvatures, return the sum of absolute lambdas."""
    total = like(docs.u[0], 0.0)
    for i in range(0, m, m if wide else 4):
        e = m if wide else min(i + 4, m)
        total += _few(obj, docs, i, e, n if wide else e, wide, push, curve)
        if wide:
            break
        # A tile that reaches beyond m is filled up with an anchor without a label: it pairs with nobody.
        x = at(docs, i)
        none = Doc(like(x.label, np.nan), x.score, x.u, x.own)
        x1 = at(docs, i + 1) if i + 1 < m else none
        x2 = at(docs, i + 2) if i + 2 < m else none
        x3 = at(docs, i + 3) if i + 3 < m else none
        end = e + (n - e + _LANES - 1) // _LANES * _LANES
        p, c, t = _four(obj, x, x1, x2, x3, cut(docs, e, end), push[e:end], curve[e:end])
        for r in range(e - i):
            push[i + r] += p[r]
            curve[i + r] += c[r]
        total += t
    return total


@jit
def fill(obj, plan, order, scores, grad, hess, first, last):
    """Gradients and hessians of queries `first` to `last`; `order` keeps each query's last ranking."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, plan.ptr[q + 1] - plan.ptr[q])
    room = longest + _LANES - 1
    key, ranks = np.empty(longest), np.empty(room, np.int64)
    work = np.empty((5, room), plan.table.dtype)
    by_push, by_curve = units(obj.loss)
    for q in range(first, last):
        start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
        rows, slot = plan.rows[start : start + n], order[start : start + n]
        for i in range(n):
            key[i] = scores[rows[slot[i]]]
        arrange(key[:n], slot)
        middle = 0.5 * key[0] + 0.5 * key[n - 1]
        wide = key[0] - middle > reach(obj.loss)
        full = n + _LANES - 1
        ranked = Query(work[0, :full], work[1, :full], ranks[:full], plan.table)
        u, push, curve = work[2, :full], work[3, :full], work[4, :full]
        for i in range(full):
            last_or_i = min(i, n - 1)
            ranked.slot[i] = slot[last_or_i]
            ranked.label[i] = plan.label[start + slot[i]] if i < n else np.nan
            ranked.score[i] = key[last_or_i] - middle
            u[i] = embed(obj.loss, ranked.score[i])
            push[i] = 0.0
            curve[i] = 0.0
        own = prepare(obj.weight, ranked, cut(plan.worth[0], start, start + n))
        docs = Doc(ranked.label, ranked.score, u, own)
        total = _sweep(obj, docs, select(obj.pairs, n), n, wide, push, curve)
        factor = scale(obj.scale, by_push * (total + total))
        for i in range(n):
            row = rows[slot[i]]
            grad[row] = -factor * by_push * push[i]
            hess[row] = factor * by_curve * curve[i]
