"""Lambda-eX: the top documents and those that should be among them [lambdaex2023]."""

from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.compile import uncounted_inline
from rankwood._core.parts import OneOf, part
from rankwood._core.rng import shuffle
from rankwood._core.sorting import shell_sort

#: How missed documents are chosen.
STRATEGIES = ("static", "random", "all", "all-static", "all-random")
_STATIC, _RANDOM, _ALL, _ALL_STATIC, _ALL_RANDOM = range(5)
_TEXT = 1
_BASE = 4096  # two numbers below it fit into one number of float32


@part
class TopMissed:
    """Pairs with a document among the first k or a missed one: one that should be among them [lambdaex2023].

    Parameters
    ----------
    k : int, optional
        Cutoff, below 4096.
    how : {"static", "random", "all", "all-static", "all-random"}
        Which missed documents count: as many as needed from the best ranked ("static") or at random ("random"), all
        candidates ("all"), or all unless even the lowest relevant label belongs to the ideal top k ("all-static" and
        "all-random", which then do the former).
    missed : {"code", "text"}
        With "code", a label is missed as often as it is in the ideal top k and not in the current one, which is what
        the authors' program does. With "text", as in their text, a document is missed if its label occurs in the
        ideal top k at all, and as many are needed as there are documents in the current top k whose label does not.

    Examples
    --------
    The only relevant document is ranked last. It should be first, so it has pairs with all others, and the first
    document has pairs with all others too. `Top(1)` has only the latter.

    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, Top, TopMissed, Uniform
    >>> at_equal_scores = [0, 0, 1], [0.0, 0.0, 0.0]
    >>> rw.gradients(Lambda(Uniform(), TopMissed(1)), *at_equal_scores)[0].tolist()
    [0.5, 0.5, -1.0]
    >>> (0.0 + rw.gradients(Lambda(Uniform(), Top(1)), *at_equal_scores)[0]).tolist()
    [0.5, 0.0, -0.5]
    """

    k: int | None = None
    how: Annotated[Any, OneOf(*STRATEGIES)] = "static"
    missed: Annotated[Any, OneOf("code", "text")] = "code"
    index_columns: ClassVar[tuple[str, ...]] = ("count", "scan")

    def check(self) -> None:
        """Raise if the cutoff is too large."""
        if self.k is not None and self.k >= _BASE:
            raise checks.InputError(f"TopMissed.k must be less than {_BASE}, got {self.k}.")

    def label_values(self, label, discount, out):
        # Labels of the ideal top k are numbered from 1. A document has that number and how often its label is in the
        # ideal top k, in one number that float32 holds exactly; 0 if its label isn't in it.
        n = label.size
        key, slot = np.empty(n), np.empty(n, np.int64)
        for i in range(n):
            key[i], slot[i] = label[i], i
        shell_sort(key, slot)
        k = self.k if self.k < n else n  # type: ignore[operator]
        i, kind = 0, 0
        while i < n:
            end = i
            while end < n and key[end] == key[i]:
                end += 1
            kind += 1
            often = (end if end < k else k) - i  # type: ignore[operator]
            for j in range(i, end):
                out[slot[j]] = kind * _BASE + often if often > 0 and k < n else 0
            i = end

    def list_anchors(self, ranked, values, state, room, order):
        n = ranked.n
        k = np.int64(self.k) if self.k < n else n  # type: ignore[arg-type, operator]
        if k == n:
            return n
        text = self.missed == _TEXT
        wanted = _count_missed(ranked, values, k, text, room.count)
        how = self.how
        if how >= _ALL_STATIC:
            how = (how - _ALL_STATIC) if _lowest_is_ideal(ranked, values) else _ALL
        wanted = n if how == _ALL else wanted
        if wanted == 0:
            return k
        if how == _RANDOM:
            return _list_at_random(ranked, values, (k, wanted), text, state, room, order)
        counted = how != _ALL and not text
        return _list_best(ranked, values, (k, wanted), text, counted, room, order)


@uncounted_inline
def _count_missed(ranked, values, k, text, count):
    """Count the labels of the current top k; return how many of its documents don't belong there."""
    for i in range(k + 1):
        count[i] = 0
    wanted = np.int64(k)
    for r in range(k):
        code = np.int64(values[ranked.slot[r]])
        kind, often = code // _BASE, code % _BASE
        if text:
            wanted -= 1 if kind > 0 else 0
        else:
            wanted -= 1 if count[kind] < often else 0
            count[kind] += 1
    return wanted


@uncounted_inline
def _is_missed(ranked, values, r, text, count):
    """Tell whether the label of rank r is missed, and return its number."""
    code = np.int64(values[ranked.slot[r]])
    kind, often = code // _BASE, code % _BASE
    return (ranked.label[r] > 0 if text else count[kind] < often), kind


@uncounted_inline
def _list_best(ranked, values, sizes, text, counted, room, order):
    """Append up to `wanted` of the best ranked missed documents to the top k in `order`; return the new length."""
    k, wanted = sizes
    # First all documents whose label is in the ideal top k, without branches: which they are is unpredictable.
    found = np.uint64(k)
    for r in range(np.uint64(k), np.uint64(ranked.n)):
        order[found] = r
        found += np.uint64(1) if values[np.uint64(ranked.slot[r])] > 0 else np.uint64(0)
    m = k
    for i in range(k, np.int64(found)):
        r = order[i]
        missed, kind = _is_missed(ranked, values, r, text, room.count)
        if missed:
            order[m] = r
            m += 1
            room.count[kind] += 1 if counted else 0
            if m - k == wanted:
                break
    return m


@uncounted_inline
def _list_at_random(ranked, values, sizes, text, state, room, order):
    """Append up to `wanted` randomly chosen missed documents to the top k in `order`; return the new length."""
    k, wanted = sizes
    # Documents are shuffled in the order of their slots: the draw doesn't depend on the ranking.
    for r in range(ranked.n):
        room.scan[ranked.slot[r]] = r
    shuffle(room.scan, ranked.n, state)
    m = k
    for i in range(ranked.n):
        r = room.scan[i]
        missed, kind = _is_missed(ranked, values, r, text, room.count)
        if r >= k and values[ranked.slot[r]] > 0 and missed:
            order[m] = r
            m += 1
            room.count[kind] += 0 if text else 1
            if m - k == wanted:
                break
    return m


@uncounted_inline
def _lowest_is_ideal(ranked, values):
    """Tell whether the lowest label above 0, and so every one, is in the ideal top k."""
    some, all_in = False, True
    for r in range(ranked.n):
        some = some or ranked.label[r] > 0
        all_in = all_in and (ranked.label[r] <= 0 or values[ranked.slot[r]] > 0)
    return some and all_in
