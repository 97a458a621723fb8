"""The step `arrange`: bring documents into an order in which every anchor's partners are a range of places."""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.parts import part
from rankwood._kernels.records import documents, reorder
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.records import (
    Arranged,
    Doc,
    Listed,
    Places,
    RankByPlace,
    RankIsPlace,
    Runs,
)
from rankwood.objectives._kernels.scratch import Memory
from rankwood.objectives._kernels.verbs import count_anchors, list_anchors, partners

#: Ranks in the order of the pair set, its anchors first.
Order = namedtuple("Order", "order")
#: For documents that move, see `_classes_apart`: indices, columns to move documents to, the columns of the weight that
#: move with them, and a column that holds one of these meanwhile.
Moves = namedtuple("Moves", "order before taken slot rank docs moving spare")
#: Columns of `Doc` that move.
MovedDocs = namedtuple("MovedDocs", "label score embedded rank")


def _allocate_moves(memory: Memory, moving: tuple[Any, ...]) -> Any:
    indices = memory.columns(("order", "before", "taken", "slot", "rank"), np.int64)
    spare = memory.columns(("spare",))
    return Moves(**indices, docs=memory.record(MovedDocs), moving=moving, **spare)


@verb(kind="uncounted inline")
def arrange(step, objective, ranked, own, values, state, scratch):
    """Return the documents in the order of the loop, with the anchors and their partners."""


@verb(kind="uncounted inline")
def places_of(step, scratch):
    """Return the `Places` of the documents, as the last call of `arrange` left them."""


def _places_by_rank(self, scratch):
    return Places(scratch.ranking.slot)


def _places_by_class(self, scratch):
    return Places(scratch.arranging.slot)


@uncounted_inline
def _anchors(pairs, n):
    """Return the number of anchors, at most that of documents."""
    m = count_anchors(pairs, n)
    return m if m < n else n


@uncounted_inline
def _unmoved(ranked, own, anchors, scratch):
    """Return documents that stay in rank order."""
    docs = scratch.docs
    columns = Doc(
        ranked.label,
        ranked.score,
        docs.embedded,
        docs.rank,
        own,
        docs.turn,
        docs.first,
        docs.end,
    )
    return Arranged(ranked.n, ranked.slot.size, columns, anchors, ranked.slot, RankIsPlace())


@part
class InRankOrder:
    """Documents by rank; the anchors are the first of them."""

    places_of = _places_by_rank

    def allocate(self, memory: Memory, moving: tuple[Any, ...]) -> tuple[()]:
        """Return nothing: documents stay where they are."""
        return ()

    def arrange(self, objective, ranked, own, values, state, scratch):
        m = _anchors(objective.pairs, ranked.n)
        for i in range(m):
            first, end = partners(objective.pairs, i, ranked.n)
            scratch.docs.first[i] = first
            scratch.docs.end[i] = end if end < ranked.n else ranked.n
        return _unmoved(ranked, own, Runs(m, 0, 0), scratch)


@part
class InRankOrderForBands:
    """Documents by rank, without ranges: `Bands` knows where partners are."""

    places_of = _places_by_rank

    def allocate(self, memory: Memory, moving: tuple[Any, ...]) -> tuple[()]:
        """Return nothing: documents stay where they are."""
        return ()

    def arrange(self, objective, ranked, own, values, state, scratch):
        anchors = Runs(_anchors(objective.pairs, ranked.n), 0, 0)
        return _unmoved(ranked, own, anchors, scratch)


@part
class ListedAnchors:
    """Documents by rank; the pair set lists its anchors."""

    places_of = _places_by_rank

    def allocate(self, memory: Memory, moving: tuple[Any, ...]) -> Any:
        """Return a column for the anchors."""
        return memory.record(Order, np.int64)

    def arrange(self, objective, ranked, own, values, state, scratch):
        n, docs, order = ranked.n, scratch.docs, scratch.arranging.order
        for i in range(ranked.slot.size):
            order[i] = i
        m = list_anchors(objective.pairs, ranked, values, state, scratch.pairs, order)
        for i in range(m):
            first, end = partners(objective.pairs, i, n)
            docs.first[order[i]], docs.end[order[i]] = first, (end if end < n else n)
        lead = _turns_of_listed(docs.turn, order, m, n)
        return _unmoved(ranked, own, Listed(m, 0, 0, lead, order), scratch)


@uncounted
def _turns_of_listed(turn, order, m, n):
    """Give the m listed anchors the first turns; return how many of them lead the ranking."""
    lead = 0
    while lead < m and order[lead] == lead:
        lead += 1
    for i in range(n):
        turn[i] = n - 1
    for i in range(n, turn.size):  # padding is behind everyone's partners
        turn[i] = n
    for i in range(m):
        turn[order[i]] = i
    return lead


@part
class ClassesApart:
    """Relevant documents first, then the others, each class in rank order: no pair inside a class is visited."""

    places_of = _places_by_class

    def allocate(self, memory: Memory, moving: tuple[Any, ...]) -> Any:
        """Return columns to move documents to."""
        return _allocate_moves(memory, moving)

    def arrange(self, objective, ranked, own, values, state, scratch):
        order = scratch.arranging.order
        for i in range(ranked.slot.size):
            order[i] = i
        m = _anchors(objective.pairs, ranked.n)
        return _classes_apart(objective, ranked, own, m, scratch)


@part
class ListedClassesApart:
    """Two classes apart, for a pair set that lists its anchors: the other documents follow them by rank."""

    places_of = _places_by_class

    def allocate(self, memory: Memory, moving: tuple[Any, ...]) -> Any:
        """Return columns to move documents to."""
        return _allocate_moves(memory, moving)

    def arrange(self, objective, ranked, own, values, state, scratch):
        n, order, taken = ranked.n, scratch.arranging.order, scratch.arranging.taken
        for i in range(ranked.slot.size):
            order[i] = i
        m = list_anchors(objective.pairs, ranked, values, state, scratch.pairs, order)
        _append_others(order, m, n, taken)
        return _classes_apart(objective, ranked, own, m, scratch)


@uncounted
def _append_others(order, m, n, taken):
    """Append to the m anchors of `order` all other documents, by rank."""
    for i in range(n):
        taken[i] = 0
    for i in range(m):
        taken[order[i]] = 1
    end = m
    for i in range(n):
        if taken[i] == 0:
            order[end] = i
            end += 1


@uncounted_inline
def _classes_apart(objective, ranked, own, m, scratch):
    """Move documents so that each class keeps the order of the pair set.

    The partners of an anchor, a range of that order, are then a range of the other class.
    """
    moves, size = scratch.arranging, ranked.slot.size
    anchors = _move(objective.pairs, ranked, m, scratch)
    order = documents(moves.rank, 0, size)
    reorder(moves.moving, order, moves.spare)
    columns = Doc(
        documents(moves.docs.label, 0, size),
        documents(moves.docs.score, 0, size),
        moves.docs.embedded,
        moves.docs.rank,
        own,
        scratch.docs.turn,
        scratch.docs.first,
        scratch.docs.end,
    )
    slot = documents(moves.slot, 0, size)
    return Arranged(ranked.n, size, columns, anchors, slot, RankByPlace(order))


@uncounted
def _in_class(irrelevant, p, before, relevant):
    """Return the place of the p-th document of the set in its class: `before`, or behind all relevant ones.

    Labels are unpredictable, so this is a product instead of a branch.
    """
    return before + irrelevant * (relevant + p - before - before)


@uncounted
def _move(pairs, ranked, m, scratch):
    """Fill the columns of moved documents and the anchors' ranges; return where the anchors are.

    `before[p]` counts the relevant documents before the p-th in the order of the pair set.
    """
    n, size = np.uint64(ranked.n), np.uint64(ranked.slot.size)
    order, before = scratch.arranging.order, scratch.arranging.before
    to, slot, rank = scratch.arranging.docs, scratch.arranging.slot, scratch.arranging.rank
    embedded, first, end = scratch.docs.embedded, scratch.docs.first, scratch.docs.end
    relevant = np.int64(0)
    for p in range(n):
        before[p] = relevant
        relevant += np.int64(ranked.label[np.uint64(order[p])])
    before[n] = relevant
    for p in range(n):
        r = np.uint64(order[p])
        irrelevant = np.int64(1) - np.int64(ranked.label[r])
        place = np.uint64(_in_class(irrelevant, np.int64(p), before[p], relevant))
        to.label[place], to.score[place] = ranked.label[r], ranked.score[r]
        to.embedded[place], to.rank[place] = embedded[r], r
        slot[place], rank[place] = ranked.slot[r], r
    for i in range(n, size):  # padding stays where it is
        to.label[i], to.score[i], to.embedded[i], to.rank[i] = (
            np.nan,
            ranked.score[i],
            embedded[i],
            i,
        )
        slot[i], rank[i] = ranked.slot[i], i
    for p in range(np.uint64(m)):
        is_relevant = np.int64(ranked.label[np.uint64(order[p])])
        start, stop = partners(pairs, np.int64(p), ranked.n)
        start = start if start < ranked.n else ranked.n
        stop = stop if stop < ranked.n else ranked.n
        irrelevant = np.int64(1) - is_relevant
        place = np.uint64(_in_class(irrelevant, np.int64(p), before[p], relevant))
        # Partners are of the other class.
        first[place] = _in_class(is_relevant, np.int64(start), before[np.uint64(start)], relevant)
        end[place] = _in_class(is_relevant, np.int64(stop), before[np.uint64(stop)], relevant)
    return Runs(before[m], relevant, relevant + m - before[m])
