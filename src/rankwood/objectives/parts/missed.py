"""Lambda-eX: the top documents and those that should be among them [lambdaex2023]."""

from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.compile.jit import uncounted_inline
from rankwood._kernels.numeric.rng import shuffle
from rankwood._kernels.numeric.sorting import shell_sort
from rankwood._kernels.parts import OneOf, part

#: How missed documents are chosen.
STRATEGIES = ("static", "random", "all", "all-static", "all-random")
_STATIC, _RANDOM, _ALL, _ALL_STATIC, _ALL_RANDOM = range(5)
#: What a name means, where the authors' program and their paper differ.
DEFINITIONS = ("program", "paper")
_PAPER = 1


@part
class TopMissed:
    """Pairs with a document among the first k or a missed one: one that should be among them [lambdaex2023].

    Parameters
    ----------
    k : int, optional
        Cutoff.
    how : {"static", "random", "all", "all-static", "all-random"}
        Which missed documents count: as many as needed from the best ranked ("static") or at random ("random"), all
        candidates ("all"), or all unless even the lowest relevant label belongs to the ideal top k ("all-static" and
        "all-random", which then do the former).
    definition : {"program", "paper"}
        With "program", a label is missed as often as it is in the ideal top k and not in the current one, which is what
        the authors' program does. With "paper", as in their text, a document is missed if its label occurs in the
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
    definition: Annotated[Any, OneOf(*DEFINITIONS)] = "program"
    #: Labels of the ideal top k are numbered from 1: the number of a document's label, and how often it is in the ideal
    #: top k. Both are 0 if it isn't in it.
    label_columns: ClassVar[tuple[str, ...]] = ("number", "often")
    index_columns: ClassVar[tuple[str, ...]] = ("count", "scan")

    def label_values(self, label, discount, out):
        n = label.size
        key, slot = np.empty(n), np.empty(n, np.int64)
        for i in range(n):
            key[i], slot[i] = label[i], i
        shell_sort(key, slot)
        k = self.k if self.k < n else n  # type: ignore[operator]
        i, number = 0, 0
        while i < n:
            end = i
            while end < n and key[end] == key[i]:
                end += 1
            number += 1
            often = (end if end < k else k) - i  # type: ignore[operator]
            ideal = often > 0 and k < n
            for j in range(i, end):
                out.number[slot[j]] = number if ideal else 0
                out.often[slot[j]] = often if ideal else 0
            i = end

    def list_anchors(self, ranked, values, state, room, order):
        n = ranked.n
        k = np.int64(self.k) if self.k < n else n  # type: ignore[arg-type, operator]
        if k == n:
            return n
        by_text = self.definition == _PAPER
        needed = _count_missed(ranked, values, k, by_text, room.count)
        how = self.how
        if how >= _ALL_STATIC:
            how = (how - _ALL_STATIC) if _lowest_is_ideal(ranked, values) else _ALL
        needed = n if how == _ALL else needed
        if needed == 0:
            return k
        if how == _RANDOM:
            return _list_at_random(ranked, values, (k, needed), by_text, state, room, order)
        counted = how != _ALL and not by_text
        return _list_best(ranked, values, (k, needed), by_text, counted, room, order)


@uncounted_inline
def _count_missed(ranked, values, k, by_text, count):
    """Count the labels of the current top k; return how many of its documents don't belong there."""
    for i in range(k + 1):
        count[i] = 0
    needed = np.int64(k)
    for r in range(k):
        number = np.int64(values.number[ranked.slot[r]])
        if by_text:
            needed -= 1 if number > 0 else 0
        else:
            needed -= 1 if count[number] < values.often[ranked.slot[r]] else 0
            count[number] += 1
    return needed


@uncounted_inline
def _is_missed(ranked, values, r, by_text, count):
    """Tell whether the label of rank r is missed, and return its number."""
    number = np.int64(values.number[ranked.slot[r]])
    lacks_some = count[number] < values.often[ranked.slot[r]]
    return (ranked.label[r] > 0 if by_text else lacks_some), number


@uncounted_inline
def _list_best(ranked, values, sizes, by_text, counted, room, order):
    """Append up to `wanted` of the best ranked missed documents to the top k in `order`; return the new length."""
    k, needed = sizes
    # First all documents whose label is in the ideal top k, without branches: which they are is unpredictable.
    end = np.uint64(k)
    for r in range(np.uint64(k), np.uint64(ranked.n)):
        order[end] = r
        end += np.uint64(1) if values.number[np.uint64(ranked.slot[r])] > 0 else np.uint64(0)
    m = k
    for i in range(k, np.int64(end)):
        r = order[i]
        missed, number = _is_missed(ranked, values, r, by_text, room.count)
        if missed:
            order[m] = r
            m += 1
            room.count[number] += 1 if counted else 0
            if m - k == needed:
                break
    return m


@uncounted_inline
def _list_at_random(ranked, values, sizes, by_text, state, room, order):
    """Append up to `wanted` randomly chosen missed documents to the top k in `order`; return the new length."""
    k, needed = sizes
    # Documents are shuffled in the order of their slots: the draw doesn't depend on the ranking.
    for r in range(ranked.n):
        room.scan[ranked.slot[r]] = r
    shuffle(room.scan, ranked.n, state)
    m = k
    for i in range(ranked.n):
        r = room.scan[i]
        missed, number = _is_missed(ranked, values, r, by_text, room.count)
        if r >= k and values.number[ranked.slot[r]] > 0 and missed:
            order[m] = r
            m += 1
            room.count[number] += 0 if by_text else 1
            if m - k == needed:
                break
    return m


@uncounted_inline
def _lowest_is_ideal(ranked, values):
    """Tell whether the lowest label above 0, and so every one, is in the ideal top k."""
    some, all_in = False, True
    for r in range(ranked.n):
        some = some or ranked.label[r] > 0
        all_in = all_in and (ranked.label[r] <= 0 or values.number[ranked.slot[r]] > 0)
    return some and all_in
