"""Gradients of pairwise objectives by plain loops: what the kernel is compared with.

The oracle calls the verbs of the parts in Python, and none of the kernel's steps.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import interpreted
from rankwood._kernels.numeric.rng import mix, round_state
from rankwood._kernels.parts import lower
from rankwood._kernels.records import document
from rankwood._util import checks
from rankwood.data.groups import group_rows
from rankwood.metrics.ranked import Ranked, discounts
from rankwood.objectives._kernels.plan import LabelledLists, make_plan
from rankwood.objectives._kernels.records import Doc, DocBlock, RankIsPlace
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import (
    ANCHOR_ITSELF,
    count_anchors,
    embed,
    factors,
    list_anchors,
    look_up,
    pair_derivatives,
    partners,
    prepare,
    scale,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.units import read_labels


class OraclePair(NamedTuple):
    """Two rows of a query, how far their pair pushes the first one up and the other one down, and its Hessian."""

    row: int
    other: int
    push: float
    hessian: float


def oracle_pairs(
    objective: Any, y: Any, scores: Any, *, seed: int = 0, round: int = 0, query: int = 0
) -> list[OraclePair]:
    """Return what each pair of one query adds to the gradients, by plain loops.

    Parameters
    ----------
    objective, y, scores, seed, round, query : Lambda, arrays, and int
        As in `oracle_gradients`.

    Returns
    -------
    list of OraclePair
        The pairs that the objective visits; the push is 0 for pairs of equal labels and of no weight.

    Examples
    --------
    >>> from rankwood.objectives import Lambda, Uniform
    >>> from rankwood.testing import oracle_pairs
    >>> oracle_pairs(Lambda(weight=Uniform()), [0, 1], [0.0, 0.0])
    [OraclePair(row=0, other=1, push=-0.5, hessian=0.25)]
    """
    pairs, factor = _unscaled_pairs(objective, y, scores, seed, round, query)
    return [
        OraclePair(one.row, one.other, factor * one.push, factor * one.hessian) for one in pairs
    ]


def oracle_gradients(
    objective: Any, y: Any, scores: Any, *, seed: int = 0, round: int = 0, query: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and Hessians of one query by plain loops over its pairs.

    The oracle calls the verbs of the parts, but none of the kernel's steps: documents stay in rank order, nothing is
    padded, and each pair is visited alone.

    Parameters
    ----------
    objective : Lambda
        A pairwise objective without noise.
    y, scores : array
        Labels and scores of the documents of one query.
    seed, round, query : int
        Where pair sets that draw at random start: seed, round, and the number of the query in its data set.

    Returns
    -------
    grad, hess : arrays of float64

    Examples
    --------
    >>> from rankwood.objectives import Lambda, Uniform
    >>> from rankwood.testing import oracle_gradients
    >>> oracle_gradients(Lambda(weight=Uniform()), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """
    pairs, factor = _unscaled_pairs(objective, y, scores, seed, round, query)
    grad, hess = np.zeros(len(scores)), np.zeros(len(scores))
    for one in pairs:
        grad[one.row] -= one.push
        grad[one.other] += one.push
        hess[one.row] += one.hessian
        hess[one.other] += one.hessian
    return factor * grad, factor * hess


def _unscaled_pairs(
    objective: Any, y: Any, scores: Any, seed: int, round: int, query: int
) -> tuple[list[OraclePair], float]:
    """Return the pairs of one query, and the factor on all of them."""
    scores = checks.vector(scores, "scores")
    y = read_labels(objective, checks.labels(y, scores.size))
    groups = group_rows(scores.size)
    with interpreted():
        plan = make_plan(objective, LabelledLists(y, groups), np.float64, 1)
    slot = np.array(sorted(range(y.size), key=lambda i: (-scores[i], i)))
    score = scores[slot] - (scores.min() + scores.max()) / 2
    ranked = Ranked(y.size, y[slot], score, slot, discounts(y.size + 16))
    state = mix(round_state(seed, round), query)
    pairs, total = [], 0.0
    for i, j, push, size, hessian in _pairs(objective, ranked, plan.values, state):
        pairs.append(OraclePair(int(slot[i]), int(slot[j]), float(push), float(hessian)))
        total += 2.0 * size
    return pairs, float(scale(lower(objective.scale), total))


def _pairs(objective: Any, ranked: Ranked, values: Any, state: int) -> Any:
    """Yield ranks i and j of each pair, the push on i, the size of the push, and the Hessian."""
    parts, n = lower(objective), ranked.n
    memory = Memory(n, np.float64, n_labels=n)
    own = prepare(parts.weight, ranked, values.weight, memory.room(objective.weight))
    by_push, by_hessian = factors(parts.loss)
    for i, j in _pairs_of_ranks(objective.pairs, ranked, values.pairs, state):
        a, b = pair_of_documents(parts.weight, ranked, own, i, j)
        half = (ranked.score[i] - ranked.score[j]) / 2
        a = a._replace(embedded=embed(parts.loss, half))
        b = b._replace(embedded=embed(parts.loss, -half))
        derivatives = pair_derivatives(parts.loss, a, b)
        if getattr(objective.pairs, "both_directions", False):
            up, down = weight_above(parts.weight, a, b), weight_above(parts.weight, b, a)
        else:
            both = weight(parts.weight, a, b)
            up, down = both * (a.label > b.label), both * (a.label < b.label)
        push = by_push * (up * derivatives.above - down * derivatives.below)
        size = by_push * (up * derivatives.above + down * derivatives.below)
        yield i, j, push, size, by_hessian * (up + down) * derivatives.hessian


def _pairs_of_ranks(pairs: Any, ranked: Ranked, values: Any, state: int) -> Any:
    """Yield the ranks of anchor and partner of every pair of a set."""
    n, order, lowered = ranked.n, np.arange(ranked.n), lower(pairs)
    if list_anchors.verb.able(pairs):
        room = Memory(n, np.float64).room(pairs)
        m = list_anchors(lowered, ranked, values, state, room, order)
        others = np.setdiff1d(np.arange(n), order[:m])
        order = np.concatenate([order[:m], others])
    else:
        m = min(count_anchors(lowered, n), n)
    for place in range(m):
        start, stop = partners(lowered, place, n)
        for other in range(int(start), min(int(stop), n)):
            yield int(order[place]), int(order[other])


def pair_of_documents(weighting: Any, ranked: Ranked, own: Any, i: int, j: int) -> tuple[Doc, Doc]:
    """Return the documents of ranks i and j as the pair loop shows them to a weight."""

    def doc(rank: int, seen: Any) -> Doc:
        return Doc(ranked.label[rank], ranked.score[rank], 0.0, float(rank), seen, 0.0, 0.0, 0.0)

    anchor = doc(i, seen_by(weighting, document(own, i), ANCHOR_ITSELF))
    look_up(weighting, own, (anchor,) * 4, DocBlock(j, j + 1, RankIsPlace()))
    return anchor, doc(j, seen_by(weighting, document(own, j), 0))
