"""The kernels for a GPU: the same steps and verbs as on the CPU, one team of threads a query.

    rank      each document counts those above it; long lists are sorted
    prepare   the weight's own record, by rank
    visit     each document visits its partners and the anchors whose partner it is: sums without atomic additions
    write     as on the CPU

A pair is visited from both sides. Its push and its Hessian are the same both ways, as verbs of weights and losses are.
Documents stay in rank order: place and rank are the same here.
"""

from collections import namedtuple
from typing import Annotated, Any

import numpy as np

from rankwood._core.compile import uncounted_inline
from rankwood._core.cuda import SIMULATED
from rankwood._core.cuda.columns import place
from rankwood._core.cuda.sorting import rank_words
from rankwood._core.cuda.team import (
    barrier,
    block,
    hand_out,
    set_alone,
    shared_memory,
    team_max,
    team_sum,
    thread,
    threads,
)
from rankwood._core.each import each
from rankwood._core.numeric import as_type_of, descending_bits
from rankwood._core.parts import Can, part
from rankwood._core.records import document, documents
from rankwood._core.rng import mix
from rankwood._core.verbs import verb
from rankwood.metrics.ranked import Ranked
from rankwood.objectives._kernels.pairwise import one_query
from rankwood.objectives._kernels.records import (
    Derivatives,
    Doc,
    DocBlock,
    ListQuery,
    RankIsPlace,
)
from rankwood.objectives._kernels.verbs import (
    ANCHOR_ITSELF,
    count_anchors,
    embed,
    factors,
    largest_score,
    list_anchors,
    list_gradient,
    look_up,
    pair_derivatives,
    pair_gradient,
    partners,
    perturb,
    prepare,
    scale,
    seen_by,
)

_NOWHERE = 2**30  # a turn behind every list

#: What a kernel works on: the lowered objective and steps, the queries in the order of the blocks, the factor on each
#: query, the layout of a team's columns and how many there are, and memory for columns if it isn't shared memory.
DeviceTask = namedtuple("DeviceTask", "objective steps queries weight layout n_columns memory")
#: Columns of the pairwise kernel. By slot: score, embedded score, push, hessian, words to sort by, perturbed scores. By
#: rank: slot, score, embedded score, label, turn. `own` and `pairs` are the rooms of weight and pair set.
PairColumns = namedtuple(
    "PairColumns", "word slot score embedded push hessian perturbed docs turn order own pairs"
)
DeviceDocs = namedtuple("DeviceDocs", "label score embedded")
#: Columns of the listwise kernel, by slot.
ListColumns = namedtuple("ListColumns", "label score gradient hessian own")


# Where a team's columns are.


@verb(kind="uncounted inline")
def place_columns(where, task, query):
    """Return the columns of a query; they lie an even number of words apart, as long words need it."""


@part
class InShared:
    """Shared memory: for lists that fit into it."""

    def place_columns(self, task, query):
        return place(task.layout, shared_memory(), query.n + query.n % 2, query.n)


@part
class InGlobal:
    """Global memory, each query at its place in the plan: for lists of any length."""

    def place_columns(self, task, query):
        start = (query.start + query.number) * task.n_columns
        end = start + (query.n + 1) * task.n_columns
        memory = documents(task.memory, start, end)
        return place(task.layout, memory, query.n + query.n % 2, query.n)


# What a verb does alone or in a team.


@verb(kind="uncounted inline")
def prepare_by(mode, objective, ranked, values, room):
    """Return what the weight prepares for a ranking."""


@verb(kind="uncounted inline")
def perturb_by(mode, noise, score, number, state, out):
    """Fill `out` with perturbed scores."""


@verb(kind="uncounted inline")
def list_gradient_by(mode, objective, query, state, room, out):
    """Fill the derivatives of a query."""


@part
class OnTeam:
    """All threads call the verb, and share the turns of its loops over `each`."""

    def prepare_by(self, objective, ranked, values, room):
        own = prepare(objective.weight, ranked, values, room)
        barrier()
        return own

    def perturb_by(self, noise, score, number, state, out):
        perturb(noise, score, number, state, out)
        return 0

    def list_gradient_by(self, objective, query, state, room, out):
        list_gradient(objective, query, state, room, out)
        return 0


def _prepare_alone(self, objective, ranked, values, room):
    if thread() == 0:
        set_alone(1)
        own = prepare(objective.weight, ranked, values, room)
        set_alone(0)
    return hand_out(own)  # compiled code may hand over a record that it doesn't have


def _prepare_alone_simulated(self, objective, ranked, values, room):
    own = None
    if thread() == 0:
        set_alone(1)
        own = prepare(objective.weight, ranked, values, room)
        set_alone(0)
    return hand_out(own)


@part
class Alone:
    """The first thread calls the verb and hands out what it returns."""

    prepare_by = _prepare_alone_simulated if SIMULATED else _prepare_alone

    def perturb_by(self, noise, score, number, state, out):
        if thread() == 0:
            set_alone(1)
            perturb(noise, score, number, state, out)
            set_alone(0)
        barrier()  # the others must not ask whether they are alone before
        return 0

    def list_gradient_by(self, objective, query, state, room, out):
        if thread() == 0:
            set_alone(1)
            list_gradient(objective, query, state, room, out)
            set_alone(0)
        barrier()
        return 0


# Rank.


@verb(kind="uncounted inline")
def device_rankings(step, objective):
    """Return how many rankings of a query are looked at."""


@verb(kind="uncounted inline")
def device_rank(step, mode, noise, query, scores, number, state, columns):
    """Fill the slot of each rank of one ranking; return its random state."""


@part
class RankByScore:
    """One ranking, by the scores."""

    def device_rankings(self, objective):
        return 1

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        for i in each(query.n):
            columns.word[i] = descending_bits(scores[query.rows[query.start + i]])
        rank_words(columns.word, columns.slot)
        return state


@part
class RankByNoise:
    """Several rankings, by perturbed scores."""

    def device_rankings(self, objective):
        return objective.draws

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        state = mix(state, number)
        barrier()
        perturb_by(mode, noise, columns.score, number, state, columns.perturbed)
        for i in each(query.n):
            columns.word[i] = descending_bits(columns.perturbed[i])
        rank_words(columns.word, columns.slot)
        return state


@part
class RankBySlot:
    """No ranking: it doesn't matter."""

    def device_rankings(self, objective):
        return 1

    def device_rank(self, mode, noise, query, scores, number, state, columns):
        for i in each(query.n):
            columns.slot[i] = i
        return state


@uncounted_inline
def middle_and_top(query, scores):
    """Return the middle of the range of a query's scores, and the highest; NaN if a score is."""
    low = high = np.float64(scores[query.rows[query.start]])
    for i in range(thread(), query.n, threads()):
        s = np.float64(scores[query.rows[query.start + i]])
        low, high = (s if s < low or s != s else low), (s if s > high or s != s else high)
    low, high = -team_max(-low), team_max(high)
    return 0.5 * low + 0.5 * high, high


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
    """Return the ranks from which on, and up to which, partners with turns from `first` to `end` may be."""


@verb(kind="uncounted inline")
def is_partner(step, rank, first, end, columns):
    """Tell whether a candidate has a turn from `first` to `end`."""


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
        m = hand_out(m)
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


# Visit.


@uncounted_inline
def _document(objective, docs, own, r, i):
    """Return document i as the r-th anchor sees it; every turn is inside the range that it has as an anchor."""
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
def _pair(objective, a, docs, own, j, wide):
    """Return push, size and Hessian of the pair of document a and document j, as a sees it."""
    block = DocBlock(np.uint64(j), np.uint64(j + 1), RankIsPlace())
    look_up(objective.weight, own, (a, a, a, a), block)
    b = _document(objective, docs, own, 0, j)
    embedded = _embedded_around(objective.loss, b.score, a.score) if wide else b.embedded
    b = Doc(b.label, b.score, embedded, b.rank, b.own, b.turn, b.first, b.end)
    derivatives = pair_derivatives(objective.loss, a, b)
    return pair_gradient(objective.pairs, objective.weight, a, b, derivatives)


@uncounted_inline
def visit_partners(objective, steps, ranked, own, m, wide, columns):
    """Add what its pairs push each document to the sums by slot; return the sizes that this thread has seen.

    Loops are written out: Numba counts the turns of a `range` besides, and CUDA's compiler leaves that in.
    """
    docs, n = columns.docs, ranked.n
    total = as_type_of(ranked.score[0], 0.0)
    i, step = thread(), threads()
    while i < n:
        a = _document(objective, docs, own, ANCHOR_ITSELF, i)
        embedded = _embedded_around(objective.loss, a.score, a.score) if wide else a.embedded
        a = Doc(a.label, a.score, embedded, a.rank, a.own, a.turn, a.first, a.end)
        turn = turn_of(steps.anchors, i, columns)
        push_sum = hessian_sum = as_type_of(total, 0.0)
        if turn < m:
            first, end = partners(objective.pairs, turn, n)
            j, high = candidates(steps.anchors, first, end, n)
            while j < high:
                if is_partner(steps.anchors, j, first, end, columns):
                    push, size, hessian = _pair(objective, a, docs, own, j, wide)
                    push_sum += push
                    hessian_sum += hessian
                    total += size
                j += 1
        t = np.int64(0)
        while t < m:
            first, end = partners(objective.pairs, t, n)
            if first <= turn and turn < end:
                j = rank_of_anchor(steps.anchors, t, columns)
                push, size, hessian = _pair(objective, a, docs, own, j, wide)
                push_sum += push
                hessian_sum += hessian
            t += 1
        slot = ranked.slot[i]
        columns.push[slot] += push_sum
        columns.hessian[slot] += hessian_sum
        i += step
    return total


@part
class DeviceSteps:
    """How the kernels for a GPU compute an objective."""

    memory: Annotated[Any, Can("place_columns")] = InShared()
    rank: Annotated[Any, Can("device_rank")] = RankByScore()
    anchors: Annotated[Any, Can("find_anchors")] = FirstAnchors()
    prepare: Annotated[Any, Can("prepare_by")] = Alone()
    perturb: Annotated[Any, Can("perturb_by")] = OnTeam()


def pairwise_device_kernel(task, plan, state, scores, grad, hess):
    """Write gradients and Hessians of one query a team."""
    objective, steps = task.objective, task.steps
    query = one_query(plan, int(task.queries[block()]))
    n, columns = query.n, place_columns(steps.memory, task, query)
    by_push, by_hessian = factors(objective.loss)
    zero = as_type_of(by_push, 0.0)
    if thread() == 0:
        set_alone(0)
    barrier()
    middle, high = middle_and_top(query, scores)
    wide = high - middle > largest_score(objective.loss)
    for i in each(n):
        s = as_type_of(zero, scores[query.rows[query.start + i]] - middle)
        columns.score[i], columns.embedded[i] = s, embed(objective.loss, s)
        columns.push[i] = columns.hessian[i] = zero
    total, rankings = zero, device_rankings(steps.rank, objective)
    docs, random = columns.docs, mix(state, query.number)
    for number in range(rankings):
        drawn = device_rank(
            steps.rank, steps.perturb, objective.noise, query, scores, number, random, columns
        )
        for i in each(n):
            slot = columns.slot[i]
            docs.label[i] = query.label[query.start + slot]
            docs.score[i], docs.embedded[i] = columns.score[slot], columns.embedded[slot]
        barrier()
        ranked = Ranked(n, docs.label, docs.score, columns.slot, query.discount)
        own = prepare_by(steps.prepare, objective, ranked, query.values.weight, columns.own)
        m = find_anchors(steps.anchors, objective, ranked, query.values.pairs, drawn, columns)
        total += visit_partners(objective, steps, ranked, own, m, wide, columns)
    total = team_sum(total)
    mean = as_type_of(total, 1.0) / as_type_of(total, rankings)
    factor = mean * scale(objective.scale, mean * by_push * (total + total))
    factor *= task.weight[query.number]
    for i in each(n):
        row = query.rows[query.start + i]
        grad[row] = -factor * by_push * columns.push[i]
        hess[row] = factor * by_hessian * columns.hessian[i]


def listwise_device_kernel(task, plan, state, scores, grad, hess):
    """Write gradients and Hessians of one query a team, of an objective without pairs."""
    steps = task.steps
    query = one_query(plan, int(task.queries[block()]))
    n, columns = query.n, place_columns(steps.memory, task, query)
    zero = as_type_of(query.discount[0], 0.0)
    if thread() == 0:
        set_alone(0)
    barrier()
    middle, _ = middle_and_top(query, scores)
    for i in each(n):
        columns.label[i] = query.label[query.start + i]
        columns.score[i] = scores[query.rows[query.start + i]] - middle
        columns.gradient[i] = columns.hessian[i] = zero
    barrier()
    listed = ListQuery(columns.label, columns.score, query.values, query.discount)
    out = Derivatives(columns.gradient, columns.hessian)
    list_gradient_by(
        steps.prepare, task.objective, listed, mix(state, query.number), columns.own, out
    )
    factor = task.weight[query.number]
    for i in each(n):
        row = query.rows[query.start + i]
        grad[row], hess[row] = factor * out.gradient[i], factor * out.hessian[i]
