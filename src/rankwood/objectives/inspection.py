"""Inspecting the pairs of an objective with its own loop: a weight that counts, a loss that adds weights up.

With the loss `HalfSquared` every pair has curvature 1, so the Hessians of the kernel are sums of weights, and with the
weight `NonZero` they are numbers of pairs. There is no second loop over pairs.
"""

from collections import namedtuple
from dataclasses import replace
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.compile import callable_kernel, jit, uncounted
from rankwood._core.numeric import as_type_of
from rankwood._core.parts import part
from rankwood._core.records import documents, lend
from rankwood._core.sorting import make_sort_scratch, repair_sort
from rankwood.data.groups import Groups
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.objectives._kernels.records import Slopes
from rankwood.objectives._kernels.verbs import Weight, weight, weight_above
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.ndcg_loss import NDCGLoss2
from rankwood.objectives.parts.scales import NoScale
from rankwood.objectives.parts.weights import (
    ByDistance,
    LabelGap,
    Scaled,
    Sum,
    Swap,
    Uniform,
    WinnerLabel,
)
from rankwood.objectives.units import base_of, has_pair_set

_FEW_PAIRS = 30_000  # plain Python visits so many sooner than the kernel would be compiled


@part
class NonZero:
    """One if a weight is not 0, else 0; of two ordered pairs, one counts if either has a weight."""

    base: Weight = Uniform()

    def weight(self, a, b):
        w = weight(self.base, a, b)
        return as_type_of(w, 1.0) if w != 0 else as_type_of(w, 0.0)

    def weight_above(self, a, b):
        # Half of it each way.
        up, down = weight_above(self.base, a, b), weight_above(self.base, b, a)
        return as_type_of(up, 0.5) if up != 0 or down != 0 else as_type_of(up, 0.0)


@part
class HalfSquared:
    r"""Half the squared distance of two scores, :math:`(s_a - s_b)^2 / 2`: every pair has curvature 1."""

    def embed(self, score):
        return score

    def largest_score(self):
        return 1e30  # farther than scores are, and a number in float32 too

    def pair_derivatives(self, a, b):
        down = b.embedded - a.embedded
        return Slopes(down, -down, as_type_of(down, 1.0))

    def factors(self):
        return 1.0, 1.0

    def loss(self, difference):
        """Return the loss at a score difference; used by tests and documentation, never by a kernel."""
        return 0.5 * difference * difference


def weights_only(objective: Any) -> Lambda:
    """Return the objective whose Hessians are sums of the pair weights; normalisations are left out."""
    if not has_pair_set(objective):
        raise checks.InputError(
            f"{objective!r} has no pairs: pair weights and effective pairs are for objectives made of pairs, "
            "Lambda(...)."
        )
    objective = base_of(objective)
    weight = objective.weight.base if isinstance(objective.weight, ByDistance) else objective.weight
    return replace(objective, weight=weight, loss=HalfSquared(), scale=NoScale())


def counts_only(objective: Any) -> Lambda:
    """Return the objective whose Hessians are, document by document, numbers of pairs with a weight."""
    bare = weights_only(objective)
    # A weight that is never 0 needs no evaluation, and the ranking need not be known: that is much faster.
    certain = _certain(bare.weight) and not getattr(bare.pairs, "both_directions", False)
    return replace(bare, weight=Uniform() if certain else NonZero(bare.weight))


def _certain(weight: Any) -> bool:
    """Tell whether a weight is known to be positive wherever labels differ."""
    if isinstance(weight, Sum):
        return _certain(weight.first) or (weight.mu > 0 and _certain(weight.second))
    if isinstance(weight, (Scaled, ByDistance)):
        return _certain(weight.base)
    if isinstance(weight, (Swap, NDCGLoss2)):
        # Gains grow with labels, and discounts without a cutoff fall with every rank.
        return isinstance(weight.metric, (DCG, NDCG)) and weight.metric.k is None
    return isinstance(weight, (Uniform, LabelGap, WinnerLabel))


def single_use_computer(
    objective: Any, y: np.ndarray, groups: Groups, **options: Any
) -> GradientComputer:
    """Return a computer in float64 for looking at an objective once: compiled only if that pays."""
    few = (groups.sizes.astype(np.float64) ** 2).sum() <= _FEW_PAIRS
    return GradientComputer(objective, y, groups, compiled=not few, **options)


class PairCounter:
    """Number of pairs that each query uses: of different labels, in the pair set, with a weight that isn't 0.

    Parameters
    ----------
    objective : Lambda
        The objective; its normalisation doesn't matter.
    y, groups
        Labels and queries.
    make : callable
        `GradientComputer`, or `single_use_computer`.
    **options
        Options of `GradientComputer`.
    """

    def __init__(
        self,
        objective: Any,
        y: np.ndarray,
        groups: Groups,
        make: Any = GradientComputer,
        **options: Any,
    ) -> None:
        counted = counts_only(objective)
        self._computer = make(counted, y, groups, **options)
        self._groups = groups
        self._draws = counted.draws
        self._depends = counted.ranks() > 0
        self._share: float | None = None
        all_ends = groups.sizes * np.maximum(groups.sizes - 1, 1) * groups.ids.size
        self._share_of_end = groups.per_row(1.0 / all_ends)

    def __call__(self, scores: np.ndarray, round: int = 0) -> np.ndarray:
        """Return the number of each query at these scores; with several noisy draws the mean over them."""
        ends = self._computer(scores, round)[1][self._groups.rows]  # every pair has two
        sums = np.add.reduceat(ends, self._groups.ptr[:-1], dtype=np.float64)
        if self._draws > 1:
            return np.rint(sums / 2 * self._draws) / self._draws
        return np.rint(sums / 2).astype(np.int64)

    def share(
        self, scores: np.ndarray, round: int = 0, at: GradientComputer | None = None
    ) -> float:
        """Return the mean over queries of that number as a share of all pairs; 0 for single documents.

        `at` is a computer that was called at the same scores just before: its ranking is taken over.
        """
        if self._share is None or self._depends:
            if at is not None:
                self._computer.start_from(at)
            self._share = float(self._computer(scores, round)[1] @ self._share_of_end)
        return self._share


def pair_share(pairs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return numbers of pairs as shares of all pairs of each query; 0 for single documents."""
    all_pairs = sizes * (sizes - 1) / 2
    return np.divide(pairs, all_pairs, out=np.zeros(sizes.size), where=all_pairs > 0)


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
    enough, compared with the ideal top k. With ``missed="text"`` these are a label that the ideal top k doesn't have,
    and one that it has, as the paper's text says; the default is what its program does.

    Parameters
    ----------
    y, groups
        Labels and queries.
    k : int, optional
        Cutoff; without one, nothing is false or missed.
    missed : {"code", "text"}
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
        missed: str = "code",
        *,
        tolerance: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        label = y[groups.rows]
        kind = _lower_labels(label, groups)
        self._lists = LabelledRows(groups.ptr, groups.rows, label, kind)
        self._rules = Rules(int(k or 0), missed == "text", tolerance)
        self._n_jobs = n_jobs
        #: Slots of each query by rank.
        self.order = np.arange(y.size) - np.repeat(groups.ptr[:-1], groups.sizes)

    def __call__(
        self, scores: np.ndarray, grad: np.ndarray, ranking: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the two columns at these scores with these gradients, both in the caller's order.

        `ranking` has the slots of each query by rank at these scores, if they are known.
        """
        found = np.zeros((self.groups.ids.size, 2), np.bool_)
        if ranking is not None:
            self.order[:] = ranking

        check = callable_kernel(check_queries)

        def run(first: int, last: int) -> None:
            longest = int(self.groups.sizes[first:last].max(initial=0))
            keys, counts = np.empty((3, longest + 2)), np.empty((2, longest + 1), np.int64)
            sorting = make_sort_scratch(longest)
            scratch = CheckScratch(keys[0], keys[1], sorting, keys[2], counts[0], counts[1])
            given = (scores, grad, self.order)
            check(self._lists, self._rules, given, scratch, found, first, last)

        threads.run_ranges(run, self.groups.sizes, self._n_jobs)
        return found


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
def check_queries(lists, rules, given, scratch, found, first, last):
    """Fill `found` for queries `first` to `last`; `given` are scores, gradients and the order of the round before."""
    lists, scratch, (scores, grad, order) = lend(lists), lend(scratch), lend(given)
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
        found[q, 0] = _has_incoherent_pair(lists, grad, start, slot, bound, scratch.above)
        if rules.k > 0:
            found[q, 1] = _false_over_missed(lists, rules, grad, start, slot, bound, scratch)


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
