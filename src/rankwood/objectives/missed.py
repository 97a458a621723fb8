"""Lambda-eX: the top documents and those that should be among them [lambdaex2023]."""

from typing import ClassVar

import numpy as np

from rankwood._jit import OneOf, inline, part
from rankwood._rng import shuffle
from rankwood.metrics.query import arrange
from rankwood.objectives import verbs  # noqa: F401  (the verbs must exist before the parts)

STRATEGIES = ("static", "random", "all", "all-static", "all-random")
_STATIC, _RANDOM, _ALL, _ALL_STATIC, _ALL_RANDOM = range(5)


@part
class TopMissed:
    """Pairs with a document among the first k or a missed one: one that should be among them [lambdaex2023].

    `how` chooses the missed documents: as many as are needed from the best placed ("static") or at
    random ("random"), all candidates ("all"), or all unless even the lowest relevant label is one
    of the ideal top k ("all-static", "all-random", which then do the former).

    With ``missed="code"`` a label is missed as often as it is in the ideal top k and not in the current
    one, which is what the authors' program does; with ``"text"``, as in their text, a document is missed
    if its label occurs in the ideal top k at all, and as many are needed as there are documents in
    the current top k whose label does not.
    """

    k: int | None = None
    how: OneOf(*STRATEGIES) = "static"  # type: ignore[valid-type]
    missed: OneOf("code", "text") = "code"  # type: ignore[valid-type]
    scattered: ClassVar[bool] = True

    def worth(self, label, table, out):
        # Documents by class: how many different labels of the query are lower.
        n = label.size
        key, slot = np.empty(n), np.empty(n, np.int64)
        for i in range(n):
            key[i] = -label[i]
            slot[i] = i
        arrange(key, slot)
        rank = 0
        for i in range(n):
            if i > 0 and key[i] != key[i - 1]:
                rank += 1
            out[slot[i]] = rank

    def select(self, q, n, worth, order, state):
        k = int(self.k) if self.k < n else n  # type: ignore[arg-type, operator]
        if k == n:
            return n
        spare = np.empty((4, n), np.int64)
        kind, ideal, need, scan = spare[0], spare[1], spare[2], spare[3]
        for r in range(n):
            ideal[r] = 0
        top = np.int64(0)
        relevant = 0
        for r in range(n):
            c = np.int64(worth[q.slot[r]])
            kind[r] = c
            ideal[c] += 1
            top = c if c > top else top
            relevant = 1 if c == 0 and q.label[r] <= 0 else relevant
        wanted = _count_need(kind, k, n, top, relevant, ideal, need, self.missed == 1)
        how = self.how
        if how >= _ALL_STATIC:
            rolls = _lowest_is_ideal(q.label, kind, n, ideal)
            how = (how - _ALL_STATIC) if rolls else _ALL
        if how == _RANDOM:
            # By slot before the shuffle: what is drawn doesn't depend on the ranking.
            for r in range(n):
                scan[q.slot[r]] = r
            shuffle(scan, state)
        else:
            for r in range(k, n):
                scan[r - k] = r
        size = n if how == _RANDOM else n - k
        wanted = n if how == _ALL else wanted
        return _anchors(kind, k, need, wanted, how != _ALL, scan[:size], order)


@inline
def _count_need(kind, k, n, top, relevant, ideal, need, text):
    """Cut the numbers of classes in `ideal` to the ideal top k, and fill `need` with how often each is missed.

    Return how often all are: how many documents make up for it. Classes from `relevant` on have labels above 0.
    """
    left, wanted = k, 0
    for c in range(top, -1, -1):
        ideal[c] = ideal[c] if ideal[c] < left else left
        left -= ideal[c]
        need[c] = (n if ideal[c] > 0 and c >= relevant else 0) if text else ideal[c]
    for r in range(k):
        if text:
            wanted += 1 if ideal[kind[r]] == 0 else 0
        else:
            need[kind[r]] -= 1
    if not text:
        for c in range(top + 1):
            wanted += need[c] if need[c] > 0 else 0
    return wanted


@inline
def _lowest_is_ideal(label, kind, n, ideal):
    """Tell whether the lowest label above 0 is one of the ideal top k."""
    lowest = n
    for r in range(n):
        lowest = kind[r] if label[r] > 0 and kind[r] < lowest else lowest
    return lowest < n and ideal[lowest] > 0


@inline
def _anchors(kind, k, need, wanted, counted, scan, order):
    """Put the missed documents, `wanted` at most, behind the top k in `order`; return how many both are."""
    m = k
    i = 0
    while m - k < wanted and i < scan.size:
        r = scan[i]
        if r >= k and need[kind[r]] > 0:
            order[m] = r
            m += 1
            need[kind[r]] -= 1 if counted else 0
        i += 1
    return m
