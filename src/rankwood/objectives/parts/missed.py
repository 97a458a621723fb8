"""Lambda-eX: the top documents and those that should be among them [lambdaex2023]."""

from typing import ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import OneOf, inline, part
from rankwood._core.rng import shuffle
from rankwood._core.sorting import arrange
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)

_ROOM = 4096  # two numbers below it fit into one of float32
_TEXT = 1
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

    def check(self) -> None:
        if self.k is not None and self.k >= _ROOM:
            raise checks.InputError(f"TopMissed.k must be less than {_ROOM}, got {self.k}.")

    def worth(self, label, table, out):
        # Labels of the ideal top k are numbered from 1. A document has that number, and how often its label is in
        # the ideal top k, in one number that float32 holds exactly; 0 if its label isn't in it.
        n = label.size
        key, slot = np.empty(n), np.empty(n, np.int64)
        for i in range(n):
            key[i], slot[i] = label[i], i
        arrange(key, slot)
        k = self.k if self.k < n else n  # type: ignore[operator]
        i, kind = 0, 0
        while i < n:
            end = i
            while end < n and key[end] == key[i]:
                end += 1
            kind += 1
            often = (end if end < k else k) - i  # type: ignore[operator]
            for j in range(i, end):
                out[slot[j]] = kind * _ROOM + often if often > 0 and k < n else 0
            i = end

    def select(self, q, n, worth, order, state):
        k = np.int64(self.k) if self.k < n else n  # type: ignore[arg-type, operator]
        if k == n:
            return n
        # How often a label of the ideal top k is in the current one.
        now = np.empty(k + 1, np.int64)
        for i in range(k + 1):
            now[i] = 0
        wanted = np.int64(k)
        for r in range(k):
            code = np.int64(worth[q.slot[r]])
            kind, often = code // _ROOM, code % _ROOM
            if self.missed == _TEXT:
                wanted -= 1 if kind > 0 else 0
            else:
                wanted -= 1 if now[kind] < often else 0
                now[kind] += 1
        how = self.how
        if how >= _ALL_STATIC:
            how = (how - _ALL_STATIC) if _lowest_is_ideal(q.label, q.slot, n, worth) else _ALL
        counted = how != _ALL and self.missed != _TEXT
        wanted = n if how == _ALL else wanted
        if wanted == 0:
            return k
        if how == _RANDOM:
            return _at_random(q, n, k, worth, wanted, self.missed == _TEXT, now, order, state)
        # First all whose label is in the ideal top k, without branches: which they are can't be foreseen.
        found = np.uint64(k)
        for r in range(np.uint64(k), np.uint64(n)):
            order[found] = r
            found += np.uint64(1) if worth[np.uint64(q.slot[r])] > 0 else np.uint64(0)
        m = k
        for i in range(k, np.int64(found)):
            r = order[i]
            code = np.int64(worth[q.slot[r]])
            kind, often = code // _ROOM, code % _ROOM
            if q.label[r] > 0 if self.missed == _TEXT else now[kind] < often:
                order[m] = r
                m += 1
                now[kind] += 1 if counted else 0
                if m - k == wanted:
                    break
        return m


@inline
def _at_random(q, n, k, worth, wanted, text, now, order, state):
    """Put missed documents behind the top k in `order`, at random, `wanted` at most; return how many both are."""
    # By slot before the shuffle: what is drawn doesn't depend on the ranking.
    scan = np.empty(n, np.int64)
    for r in range(n):
        scan[q.slot[r]] = r
    shuffle(scan, state)
    m = k
    for i in range(n):
        r = scan[i]
        code = np.int64(worth[q.slot[r]])
        kind, often = code // _ROOM, code % _ROOM
        if r >= k and code > 0 and (q.label[r] > 0 if text else now[kind] < often):
            order[m] = r
            m += 1
            now[kind] += 0 if text else 1
            if m - k == wanted:
                break
    return m


@inline
def _lowest_is_ideal(label, slot, n, worth):
    """Tell whether the lowest label above 0, and so all of them, are in the ideal top k."""
    some, all_in = False, True
    for r in range(n):
        some = some or label[r] > 0
        all_in = all_in and (label[r] <= 0 or worth[slot[r]] > 0)
    return some and all_in
