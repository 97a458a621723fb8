"""Looking at the pairs of an objective with its own loop: a weight that counts, a loss that adds weights up.

With the loss `Unit` every pair has curvature 1, so the hessians of the kernel are sums of weights, and with the
weight `Counted` they are numbers of pairs. There is no second loop over pairs.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import Can, jit, like, part
from rankwood._core.sorting import arrange
from rankwood.data.groups import Groups
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.objectives._kernels.verbs import facing, prepare, relate, toward, weight
from rankwood.objectives.gradients import GradientComputer
from rankwood.objectives.pairwise import Lambda
from rankwood.objectives.parts.pairs import BothDirections, reads
from rankwood.objectives.parts.scales import NoScale
from rankwood.objectives.parts.weights import (
    ByDistance,
    LabelGap,
    NDCGLoss2,
    Scaled,
    Sum,
    Swap,
    Uniform,
    WinnerLabel,
)

_QUICK = 30_000  # pairs that plain Python is through with before the kernel would be compiled


@part
class Counted:
    """One if a weight is not 0, else 0; in a `BothDirections` set a pair counts once if either wish has a weight."""

    base: Can("weight") = Uniform()  # type: ignore[valid-type]

    def ranks(self) -> int:
        """Return what the weight reads of the ranking."""
        return reads(self.base)

    def prepare(self, q, worth):
        return prepare(self.base, q, worth[0])

    def relate(self, own, ranks, rank, moved, start, end):
        return relate(self.base, own, ranks, rank, moved, start, end)

    def facing(self, b, r):
        return facing(self.base, b, r)

    def weight(self, x, y, a, b):
        v = weight(self.base, x, y, a, b)
        return like(v, 1.0) if v != 0 else like(v, 0.0)

    def toward(self, x, y, a, b):
        # Half of it each way.
        up, down = toward(self.base, x, y, a, b), toward(self.base, y, x, b, a)
        return like(up, 0.5) if up != 0 or down != 0 else like(up, 0.0)


@part
class Unit:
    r"""Half the squared distance of two scores, :math:`(s_x - s_y)^2 / 2`: every pair has curvature 1."""

    def embed(self, score):
        return score

    def reach(self):
        return 1e30  # farther than scores are, and a number in float32 too

    def slope(self, x, y):
        return y.u - x.u, x.u - y.u, like(x.u, 1.0)

    def units(self):
        return 1.0, 1.0

    def loss(self, d):
        """Loss at score difference `d`; used by tests and documentation, never by a kernel."""
        return 0.5 * d * d


def weighing(objective: Any) -> Lambda:
    """Return the objective whose hessians are sums of the pair weights; normalisations are left out."""
    if not isinstance(objective, Lambda):
        raise checks.InputError(
            f"{objective!r} has no pairs: pair weights and effective pairs are for objectives made of pairs, "
            "Lambda(...)."
        )
    weight = objective.weight.base if isinstance(objective.weight, ByDistance) else objective.weight
    return replace(objective, weight=weight, loss=Unit(), scale=NoScale())


def counting(objective: Any) -> Lambda:
    """Return the objective whose hessians are, document by document, numbers of pairs with a weight."""
    bare = weighing(objective)
    # What always has a weight need not be asked, and its ranking need not be known: that is much faster.
    certain = _certain(bare.weight) and not isinstance(bare.pairs, BothDirections)
    return replace(bare, weight=Uniform() if certain else Counted(bare.weight))


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


class Quick(GradientComputer):
    """A drive for few pairs: its kernel runs as plain Python, as that is sooner done than compiled."""

    interpreted = True


def drive(objective: Any, y: np.ndarray, groups: Groups, **options: Any) -> GradientComputer:
    """Return a drive in float64 for looking at an objective once: compiled only if that pays."""
    few = (groups.sizes.astype(np.float64) ** 2).sum() <= _QUICK
    return (Quick if few else GradientComputer)(objective, y, groups, **options)


class Used:
    """Number of pairs that each query uses: of different labels, in the pair set, with a weight that isn't 0.

    Parameters
    ----------
    objective : Lambda
        The objective; its normalisation doesn't matter.
    y, groups
        Labels and queries.
    make : callable
        `GradientComputer`, or `drive` for a single look.
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
        counted = counting(objective)
        self._drive = make(counted, y, groups, **options)
        self._groups = groups
        self._draws = counted.draws
        self._depends = counted.ranks() > 0
        self._share: float | None = None
        all_ends = groups.sizes * np.maximum(groups.sizes - 1, 1) * groups.ids.size
        self._worth = groups.per_row(1.0 / all_ends)

    def follow(self, drive: GradientComputer) -> None:
        """Start from the ranking that `drive` has just made, at the same scores: there is nothing left to sort."""
        if drive.depth == self._drive.depth:
            self._drive.order = drive.order

    def __call__(self, scores: np.ndarray, round: int = 0) -> np.ndarray:
        """Return the number of each query at these scores; with several noisy draws the mean over them."""
        ends = self._drive(scores, round)[1][self._groups.rows]  # every pair has two
        sums = np.add.reduceat(ends, self._groups.ptr[:-1], dtype=np.float64)
        if self._draws > 1:
            return np.rint(sums / 2 * self._draws) / self._draws
        return np.rint(sums / 2).astype(np.int64)

    def share(self, scores: np.ndarray, round: int = 0) -> float:
        """Return the mean over queries of that number as a share of all pairs; 0 for single documents."""
        if self._share is None or self._depends:
            self._share = float(self._drive(scores, round)[1] @ self._worth)
        return self._share


def effective(pairs: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return numbers of pairs as shares of all pairs of each query; 0 for single documents."""
    all_pairs = sizes * (sizes - 1) / 2
    return np.divide(pairs, all_pairs, out=np.zeros(sizes.size), where=all_pairs > 0)


class Coherency:
    """Which queries have an incoherent pair [lambdaex2023, Definition 3.1].

    Of two documents the one with the higher label is ranked below the other, and is pushed less. In `found`, column
    0 says whether there is such a pair. Column 1 says whether there is one of a *false* document in the
    top k and a *missed* one below: one of a label that the top k has too often, and one of a label that it has not
    often enough, compared with the ideal top k. With ``missed="text"`` it is a label that the ideal top k
    doesn't have, and one that it has, as the paper's text says; the default is what its program does.

    Pushes count as different if they are apart by more than rounding, `tolerance` times the largest of the query.
    """

    def __init__(
        self,
        y: np.ndarray,
        groups: Groups,
        k: int | None,
        missed: str = "code",
        tolerance: float = 1e-9,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        self._label = y[groups.rows]
        self._k = int(k or 0)
        self._text = missed == "text"
        self._tolerance = tolerance
        self._n_jobs = n_jobs
        self._kind = _classes(self._label, groups)
        #: Slots of each query by rank.
        self.order = np.arange(y.size) - np.repeat(groups.ptr[:-1], groups.sizes)

    def follow(self, drive: GradientComputer) -> None:
        """Start from the ranking that `drive` has just made, at the same scores: there is nothing left to sort."""
        if drive.depth is None:
            self.order = drive.order

    def __call__(self, scores: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """Return `found` at these scores with these gradients, both in the caller's order."""
        found = np.zeros((self.groups.ids.size, 2), np.bool_)
        ptr, rows, label, order = self.groups.ptr, self.groups.rows, self._label, self.order

        def run(first: int, last: int) -> None:
            where = (ptr, rows, label, self._kind, order)
            how = (self._k, self._text, self._tolerance)
            compare(*where, scores, grad, *how, found, first, last)

        threads.over(self.groups.sizes, run, self._n_jobs)
        return found


def _classes(label: np.ndarray, groups: Groups) -> np.ndarray:
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
def compare(ptr, rows, label, kind, order, scores, grad, k, text, tolerance, found, first, last):
    """Fill `found` for queries `first` to `last`: see `Coherency`."""
    for q in range(first, last):
        start, n = ptr[q], ptr[q + 1] - ptr[q]
        key, slot = np.empty(n), order[start : start + n]
        largest, top = 0.0, 0
        for i in range(n):
            row = rows[start + slot[i]]
            key[i] = scores[row]
            largest = max(largest, abs(grad[row]))
            top = max(top, kind[start + i])
        arrange(key, slot)
        bound = tolerance * largest
        # Of documents seen so far with a lower class than c, the largest push; it grows with c.
        above = np.full(top + 2, -np.inf)
        ideal, now = np.zeros(top + 1, np.int64), np.zeros(top + 1, np.int64)
        for i in range(n):
            here = start + slot[i]
            c, push = kind[here], -grad[rows[here]]
            found[q, 0] |= above[c] > push + bound
            c += 1
            while c <= top and above[c] < push:
                above[c] = push
                c += 1
            ideal[kind[here]] += 1
            now[kind[here]] += 1 if i < k else 0
        left = k
        for c in range(top, -1, -1):
            ideal[c] = min(ideal[c], left)
            left -= ideal[c]
        highest, lowest = -np.inf, np.inf
        for i in range(n):
            here = start + slot[i]
            c, push = kind[here], -grad[rows[here]]
            false = ideal[c] == 0 if text else now[c] > ideal[c]
            lacking = (ideal[c] > 0 and label[here] > 0) if text else ideal[c] > now[c]
            if i < k and false:
                highest = max(highest, push)
            if i >= k and lacking:
                lowest = min(lowest, push)
        found[q, 1] = highest > lowest + bound
