"""Incoherent pairs: documents that are pushed in the wrong order [lambdaex2023]."""

from collections import namedtuple

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel, jit, uncounted
from rankwood._kernels.numeric.sorting import make_sort_scratch, repair_sort
from rankwood._kernels.records import documents, lend
from rankwood.data.groups import Groups

#: Documents by query: rows, labels, and how many different labels of its query are lower than a document's.
LabelledRows = namedtuple("LabelledRows", "ptr rows label kind")
#: What counts as false or missed: the cutoff, whether by the paper's text, and what differs by more than rounding.
Rules = namedtuple("Rules", "k text tolerance")
#: One thread's memory.
CheckScratch = namedtuple("CheckScratch", "key spare sorting above ideal current")


class IncoherenceCheck:
    """Which queries have an incoherent pair [lambdaex2023, Definition 3.1].

    Of two documents the one with the higher label is ranked below the other, and is pushed less. In the result, column
    0 tells whether there is such a pair. Column 1 tells whether there is one of a *false* document in the top k and a
    *missed* one below: a document of a label that the top k has too often, and one of a label that it has not often
    enough, compared with the ideal top k. With ``definition="paper"`` these are a label that the ideal top k doesn't
    have, and one that it has, as the paper's text says; the default is what its program does.

    Parameters
    ----------
    y, groups
        Labels and queries.
    k : int, optional
        Cutoff; without one, nothing is false or missed.
    definition : {"program", "paper"}
        See above.
    tolerance : float
        Pushes count as different if they are apart by more than this share of the largest push of the query.
    n_jobs : int, optional
        Threads; None means every core.
    """

    def __init__(
        self,
        y: np.ndarray,
        groups: Groups,
        k: int | None,
        definition: str = "program",
        *,
        tolerance: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        label = y[groups.rows]
        kind = _lower_labels(label, groups)
        self._lists = LabelledRows(groups.ptr, groups.rows, label, kind)
        self._rules = Rules(int(k or 0), definition == "paper", tolerance)
        self._n_jobs = n_jobs
        #: Slots of each query by rank.
        self.order = np.arange(y.size) - np.repeat(groups.ptr[:-1], groups.sizes)

    def __call__(
        self, scores: np.ndarray, grad: np.ndarray, ranking: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the two columns at these scores with these gradients, both in the caller's order.

        `ranking` has the slots of each query by rank at these scores, if they are known.
        """
        incoherent = np.zeros((self.groups.ids.size, 2), np.bool_)
        if ranking is not None:
            self.order[:] = ranking

        check = callable_kernel(check_queries)

        def run(first: int, last: int) -> None:
            longest = int(self.groups.sizes[first:last].max(initial=0))
            keys, counts = np.empty((3, longest + 2)), np.empty((2, longest + 1), np.int64)
            sorting = make_sort_scratch(longest)
            scratch = CheckScratch(keys[0], keys[1], sorting, keys[2], counts[0], counts[1])
            inputs = (scores, grad, self.order)
            check(self._lists, self._rules, inputs, scratch, incoherent, first, last)

        threads.run_ranges(run, self.groups.sizes, self._n_jobs)
        return incoherent


def _lower_labels(label: np.ndarray, groups: Groups) -> np.ndarray:
    """Return for each document how many different labels of its query are lower."""
    query = np.repeat(np.arange(groups.ids.size), groups.sizes)
    order = np.lexsort((label, query))
    up = np.diff(label[order], prepend=-1.0) != 0
    up[groups.ptr[:-1]] = False
    count = np.cumsum(up)
    kind = np.empty(label.size, np.int64)
    kind[order] = count - np.repeat(count[groups.ptr[:-1]], groups.sizes)
    return kind


@jit
def check_queries(lists, rules, inputs, scratch, incoherent, first, last):
    """Fill `incoherent` for queries `first` to `last`.

    `inputs` are scores, gradients and the order of the round before.
    """
    lists, scratch, (scores, grad, order) = lend(lists), lend(scratch), lend(inputs)
    for q in range(first, last):
        start, end = lists.ptr[q], lists.ptr[q + 1]
        key, slot = documents(scratch.key, 0, end - start), documents(order, start, end)
        largest = 0.0
        for i in range(end - start):
            row = lists.rows[start + slot[i]]
            key[i] = scores[row]
            largest = max(largest, abs(grad[row]))
        repair_sort(key, slot, scratch.spare, scratch.sorting)
        bound = rules.tolerance * largest
        incoherent[q, 0] = _has_incoherent_pair(lists, grad, start, slot, bound, scratch.above)
        if rules.k > 0:
            incoherent[q, 1] = _false_over_missed(lists, rules, grad, start, slot, bound, scratch)


@uncounted
def _has_incoherent_pair(lists, grad, start, slot, bound, above):
    """Tell whether a document is pushed less than one that is ranked above it and has a lower label."""
    top = 0
    for i in range(slot.size):
        top = max(top, lists.kind[start + i])
    # The largest push of documents seen so far with a lower label than c; it grows with c.
    for c in range(top + 2):
        above[c] = -np.inf
    incoherent = False
    for i in range(slot.size):
        here = start + slot[i]
        c, push = lists.kind[here], -grad[lists.rows[here]]
        incoherent |= above[c] > push + bound
        c += 1
        while c <= top and above[c] < push:
            above[c] = push
            c += 1
    return incoherent


@uncounted
def _false_over_missed(lists, rules, grad, start, slot, bound, scratch):
    """Tell whether a false document of the top k is pushed more than a missed one below."""
    ideal, current, n, k = scratch.ideal, scratch.current, slot.size, rules.k
    for c in range(n):
        ideal[c] = current[c] = 0
    for i in range(n):
        c = lists.kind[start + slot[i]]
        ideal[c] += 1
        current[c] += 1 if i < k else 0
    left = k
    for c in range(n - 1, -1, -1):
        ideal[c] = min(ideal[c], left)
        left -= ideal[c]
    highest, lowest = -np.inf, np.inf
    for i in range(n):
        here = start + slot[i]
        c, push = lists.kind[here], -grad[lists.rows[here]]
        false = ideal[c] == 0 if rules.text else current[c] > ideal[c]
        relevant = ideal[c] > 0 and lists.label[here] > 0
        missed = relevant if rules.text else ideal[c] > current[c]
        if i < k and false:
            highest = max(highest, push)
        if i >= k and missed:
            lowest = min(lowest, push)
    return highest > lowest + bound
