"""The kernel of pairwise objectives: rank the documents of each query, prepare, visit its pairs."""

import numpy as np

from rankwood._core.jit import copied, cut, either, inline, inner, jit, like
from rankwood._core.rng import mix
from rankwood._core.sorting import SHORT, Query, arrange, choose, count, resort
from rankwood.objectives._kernels.loop import LANES, Doc, band, pairs, put
from rankwood.objectives._kernels.verbs import (
    embed,
    lay,
    prepare,
    reach,
    scale,
    select,
    shake,
    split,
    units,
)
from rankwood.objectives.parts.labels import follow

# Rows of scratch lie far apart: compiled loops look whether arrays are near each other, and go another way if they
# are. The bits of a query must not depend on the longest list of its batch.
_APART = 256


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


@inline
def _visit(
    obj,
    banded,
    few,
    scattered,
    complete,
    wide,
    n,
    ranked,
    u,
    places,
    own,
    mine,
    state,
    work,
    indices,
    curve,
):
    """Visit the pairs of one ranking: pushes go into row 3 of `work`, curvatures into `curve`.

    Return the sum of what is pushed, and whether documents have moved: then `places` says from which rank.
    """
    push, rank = work[3], work[8]
    m = select(obj.pairs, ranked, n, mine, places, state)
    if banded is not None:
        four = (ranked.label, ranked.score, rank, own)
        return band(obj, four, m, n, work[6], work[7], push, curve), False
    if complete is not None:
        follow(places, m, n, indices[2])
    a, b, c = split(obj.labels, ranked.label, n, m, obj.pairs, places, work[6], work[7], indices)
    moved, d = lay(obj.labels, (ranked.label, ranked.score, u, rank, own), places)
    docs = Doc(d[0], d[1], d[2], d[3], d[4], work[5], work[6], work[7])
    anchors, lead = None, 0
    if scattered is not None:
        lead = put(docs.place, places, m, n)
        anchors = places
    total = pairs(obj, docs, places, moved, wide, few, anchors, lead, 0, a, push, curve)
    total += pairs(obj, docs, places, moved, wide, few, anchors, lead, b, c, push, curve)
    return total, moved


@jit
def fill(
    obj,
    plan,
    order,
    depth,
    few,
    banded,
    scattered,
    complete,
    noisy,
    cross,
    state,
    scores,
    grad,
    hess,
    first,
    last,
):
    """Gradients and hessians of queries `first` to `last`; `order` keeps each query's last ranking.

    `cross` is None, or where the matrix of each query begins in an array of zeros that gets the curvature of each
    pair of slots, and the array.
    """
    longest = 0
    for q in range(first, last):
        n = plan.ptr[q + 1] - plan.ptr[q]
        longest = n if n > longest else longest
    room = longest + LANES - 1
    keys, indices = np.empty((2, room)), np.empty((4, room), np.int64)
    work = np.empty((9, room + _APART), plan.table.dtype)
    calm = np.empty((6 if noisy is not None else 0, room + _APART), plan.table.dtype)
    u, push, rank = work[2], work[3], work[8]
    # Where curvatures go: by document, or by pair if these are asked for.
    side = 0 if cross is None else room
    curve = either(cross, work[4], np.empty((side, side), plan.table.dtype))
    for i in range(rank.size):
        work[5, i] = rank[i] = i
    by_push, by_curve = units(obj.loss)
    # Functions count the owners of the arrays they are handed, and threads that count the owners of one
    # array wait for each other: inside the loop all of them are our own.
    ptr, rows, labels, offset = plan.ptr, plan.rows, plan.label, plan.ptr[first]
    worth, table = copied(plan.worth, offset, ptr[last]), plan.table.copy()
    for q in range(first, last):
        start, n = ptr[q], ptr[q + 1] - ptr[q]
        f = n + LANES - 1
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
                push[i] = 0.0
                label[i] = np.nan
                places[i] = i
                _clear(curve, i, f)
            for i in range(n):
                label[i] = labels[start + slots[i]]
            ranked = Query(label, score, slots, table)
            own = prepare(obj.weight, ranked, cut(worth[0], start - offset, start - offset + n))
            mine = cut(worth[1], start - offset, start - offset + n)
            pushed, moved = _visit(
                obj,
                banded,
                few,
                scattered,
                complete,
                wide,
                n,
                ranked,
                u,
                places,
                own,
                mine,
                own_state,
                work,
                indices,
                curve,
            )
            total += pushed
            if cross is not None:
                _by_slot(curve, slots, places, moved, n, cross[1][cross[0][q] : cross[0][q + 1]])
            if noisy is not None:
                for i in range(n):
                    slot = slots[places[i] if moved else i]
                    calm[2, slot] += push[i]
                    calm[3, slot] += _own(curve, i)
        share = like(total, 1.0) / like(total, draws)
        factor = share * scale(obj.scale, share * by_push * (total + total))
        for i in range(n):
            slot = i if noisy is not None else slots[places[i] if moved else i]
            row = rows[start + slot]
            grad[row] = -factor * by_push * (calm[2, i] if noisy is not None else push[i])
            bent = calm[3, i] if noisy is not None else _own(curve, i)
            hess[row] = factor * by_curve * bent
            if cross is not None:
                hess[row] = _scaled(cross[1], cross[0][q] + slot * n, n, factor * by_curve)


@inner
def _own(curve, i):
    """Curvature of a document; of pairs there is none to return."""
    if curve.ndim == 1:  # a question of types
        return curve[i]
    return curve[0, 0]


@inner
def _clear(curve, i, n):
    if curve.ndim == 1:
        curve[i] = 0.0
    else:
        for j in range(n):
            curve[i, j] = 0.0


@inner
def _by_slot(curve, slots, places, moved, n, out):
    """Add the curvatures of pairs, by anchor and partner, to the matrix by slots `out`, row after row."""
    for i in range(n):
        a = slots[places[i] if moved else i]
        for j in range(n):
            b = slots[places[j] if moved else j]
            out[a * n + b] += curve[i, j]
            out[b * n + a] += curve[i, j]


@inner
def _scaled(cross, start, n, factor):
    """Multiply a row of a matrix by a factor and return its sum."""
    total = like(factor, 0.0)
    for i in range(start, start + n):
        cross[i] *= factor
        total += cross[i]
    return total
