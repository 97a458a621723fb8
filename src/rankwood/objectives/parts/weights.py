"""Pair weights."""

from collections import namedtuple
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import ALL, Can, OneOf, is_part, like, part
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.verbs import columns, delta
from rankwood.objectives._kernels.verbs import facing, prepare, relate, toward, weight
from rankwood.objectives.parts.pairs import RanksApart, reads


@part
class Uniform:
    """Weight 1: RankNet's [burges2005]."""

    def ranks(self) -> int:
        """Return 0: the ranking doesn't matter."""
        return 0

    def weight(self, x, y, a, b):
        return like(x.score, 1.0)


@part
class LabelGap:
    """The distance of the labels: ARP-Loss2's weight [wang2018]."""

    def ranks(self) -> int:
        """Return 0: the ranking doesn't matter."""
        return 0

    def weight(self, x, y, a, b):
        return abs(x.label - y.label)


@part
class WinnerLabel:
    """The label of the document that should be above: ARP-Loss1's weight [wang2018]."""

    def ranks(self) -> int:
        """Return 0: the ranking doesn't matter."""
        return 0

    def weight(self, x, y, a, b):
        return max(x.label, y.label)

    def toward(self, x, y, a, b):
        return x.label


@part
class Swap:
    """How much `metric` changes when the two documents trade places: LambdaRank's weight [burges2006]."""

    metric: Can("delta") = NDCG()  # type: ignore[valid-type]

    def ranks(self) -> int:
        """Return what the metric reads of the ranking."""
        return reads(self.metric)

    def prepare(self, q, worth):
        return columns(self.metric, q, worth[0])

    def weight(self, x, y, a, b):
        return abs(delta(self.metric, x, y, a, b))


def _discounted(weight: Any) -> None:
    """Raise unless the metric of a weight is a discounted gain."""
    if not isinstance(weight.metric, (DCG, NDCG)):
        raise checks.InputError(
            f"{type(weight).__name__} is defined for discounted gains: NDCG(...) or DCG(...), "
            f"got {weight.metric!r}; Swap takes any metric that has a swap delta."
        )


@part
class NDCGLoss1:
    """What the document that should be above adds to the metric: NDCG-Loss1's weight [wang2018]."""

    metric: Can("delta") = NDCG()  # type: ignore[valid-type]

    def check(self) -> None:
        _discounted(self)

    def prepare(self, q, worth):
        return columns(self.metric, q, worth[0])

    def weight(self, x, y, a, b):
        return a.gain * a.discount if x.label > y.label else b.gain * b.discount

    def toward(self, x, y, a, b):
        return a.gain * a.discount


#: Record of NDCGLoss2: the metric's own, the steps from four anchors' ranks to a document's, and the table of steps by
#: the difference of ranks, with 0 in the middle.
Steps = namedtuple("Steps", "own step0 step1 step2 step3 table")
Step = namedtuple("Step", "own step")


def _steps(table, delta, mu):
    """Return the steps by the difference of ranks, 0 in the middle, times mu."""
    shift = int(delta == "shifted")
    steps = -mu * np.diff(table[shift:])
    return np.concatenate([[0.0], steps[::-1], [0.0], steps])[None]


@part
class NDCGLoss2:
    r"""Gain difference times :math:`\delta_m = 1/D(m) - 1/D(m + 1)` at distance m of the ranks [wang2018].

    NDCG-Loss2++ is `Sum(Swap(metric), NDCGLoss2(metric), mu)`. ``delta="shifted"`` takes :math:`\delta_{m+1}`, as the
    programs behind two of the papers do [lambdaex2023, lambdagap2025].
    """

    metric: Can("delta") = NDCG()  # type: ignore[valid-type]
    delta: OneOf("exact", "shifted") = "exact"  # type: ignore[valid-type]
    looks_up: ClassVar[bool] = True  # `relate` does something

    def check(self) -> None:
        _discounted(self)

    def tables(self, table: np.ndarray) -> np.ndarray:
        """Return the steps by the difference of ranks, 0 in the middle."""
        return _steps(table, self.delta, 1.0)

    def prepare(self, q, worth):
        steps = np.empty((4, 1, 1, q.slot.size), q.table.dtype)
        own = columns(self.metric, q, worth[0])
        return Steps(own, steps[0], steps[1], steps[2], steps[3], worth[1])

    def relate(self, own, ranks, rank, moved, start, end):
        middle, table = own.table.shape[1] // 2, own.table
        m0, m1 = np.uint64(middle - np.int64(ranks[0])), np.uint64(middle - np.int64(ranks[1]))
        m2, m3 = np.uint64(middle - np.int64(ranks[2])), np.uint64(middle - np.int64(ranks[3]))
        for j in range(start, end):
            here = np.uint64(rank[j]) if moved else j
            own.step0[0, 0, j], own.step1[0, 0, j] = table[0, m0 + here], table[0, m1 + here]
            own.step2[0, 0, j], own.step3[0, 0, j] = table[0, m2 + here], table[0, m3 + here]
        return 0

    def facing(self, b, r):
        low, high = (b.step1 if r == 1 else b.step0), (b.step3 if r == 3 else b.step2)
        # An anchor has no step of its own: the pair's is the larger of two.
        return Step(b.own, like(low, 0.0) if r < 0 else (high if r > 1 else low))

    def weight(self, x, y, a, b):
        return abs(a.own.gain - b.own.gain) * max(a.step, b.step)


@part
class SwapAndNDCGLoss2:
    """What `Sum(Swap(metric), NDCGLoss2(metric), mu)` is computed as: gains and discounts are read once."""

    metric: Can("delta") = NDCG()  # type: ignore[valid-type]
    delta: OneOf("exact", "shifted") = "exact"  # type: ignore[valid-type]
    mu: float = 1.0
    looks_up: ClassVar[bool] = True

    def tables(self, table: np.ndarray) -> np.ndarray:
        """Return the steps by the difference of ranks, 0 in the middle, times mu."""
        return _steps(table, self.delta, self.mu)

    prepare, relate, facing = NDCGLoss2.prepare, NDCGLoss2.relate, NDCGLoss2.facing

    def weight(self, x, y, a, b):
        swap = abs(a.own.discount - b.own.discount)
        return abs(a.own.gain - b.own.gain) * (max(a.step, b.step) + swap)


@part
class Sum:
    r"""Two weights together, :math:`w_1 + \mu w_2`."""

    first: Can("weight") = Uniform()  # type: ignore[valid-type]
    second: Can("weight") = RanksApart()  # type: ignore[valid-type]
    mu: float = 1.0

    def check(self) -> None:
        if self.mu < 0:
            raise checks.InputError(f"Sum.mu must not be negative, got {self.mu}.")

    def ranks(self) -> int:
        """Return what the two weights read of the ranking."""
        return together(reads(self.first), reads(self.second))

    def prepare(self, q, worth):
        return prepare(self.first, q, worth[0]), prepare(self.second, q, worth[1])

    def relate(self, own, ranks, rank, moved, start, end):
        relate(self.first, own[0], ranks, rank, moved, start, end)
        return relate(self.second, own[1], ranks, rank, moved, start, end)

    def facing(self, b, r):
        return facing(self.first, b[0], r), facing(self.second, b[1], r)

    def weight(self, x, y, a, b):
        one, two = weight(self.first, x, y, a[0], b[0]), weight(self.second, x, y, a[1], b[1])
        return one + self.mu * two

    def toward(self, x, y, a, b):
        one, two = toward(self.first, x, y, a[0], b[0]), toward(self.second, x, y, a[1], b[1])
        return one + self.mu * two


@part
class Scaled:
    """A weight times a constant."""

    base: Can("weight") = Uniform()  # type: ignore[valid-type]
    factor: float = 1.0

    def check(self) -> None:
        checks.positive(self.factor, "Scaled.factor")

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
        return self.factor * weight(self.base, x, y, a, b)

    def toward(self, x, y, a, b):
        return self.factor * toward(self.base, x, y, a, b)


@part
class ByDistance:
    r"""Divide a weight by the distance of the scores, :math:`w / (c + |s_x - s_y|)`; flat queries keep w.

    The first step of LightGBM's `lambdarank_norm`.
    """

    base: Can("weight") = Swap()  # type: ignore[valid-type]
    c: float = 0.01

    def check(self) -> None:
        checks.positive(self.c, "ByDistance.c")

    def ranks(self) -> int:
        """Return what the weight reads of the ranking."""
        return reads(self.base)

    def prepare(self, q, worth):
        low = high = q.score[0]
        for s in q.score:
            low, high = (s if s < low else low), (s if s > high else high)
        return prepare(self.base, q, worth[0]), (like(self.c, 1.0) if low == high else self.c)

    def relate(self, own, ranks, rank, moved, start, end):
        return relate(self.base, own[0], ranks, rank, moved, start, end)

    def facing(self, b, r):
        return facing(self.base, b[0], r), b[1]

    def weight(self, x, y, a, b):
        return weight(self.base, x, y, a[0], b[0]) / (a[1] + abs(x.score - y.score))

    def toward(self, x, y, a, b):
        return toward(self.base, x, y, a[0], b[0]) / (a[1] + abs(x.score - y.score))


def together(one: int, two: int) -> int:
    """Return how much of the ranking two parts read together: the same, or all of it."""
    return max(one, two) if 0 in (one, two) or one == two else ALL


def looks_up(part: Any) -> bool:
    """Tell whether a weight, or one inside it, looks something up for the anchors at hand."""
    inside = (getattr(part, f.name) for f in fields(part))
    return getattr(part, "looks_up", False) or any(looks_up(x) for x in inside if is_part(x))


def fused(weight: Any) -> Any:
    """Return the weight as it is computed fastest: the same weight, from fewer reads."""
    if isinstance(weight, Sum):
        first, second = weight.first, weight.second
        if (
            isinstance(first, Swap)
            and isinstance(second, NDCGLoss2)
            and first.metric == second.metric
        ):
            return SwapAndNDCGLoss2(first.metric, second.delta, weight.mu)
    if isinstance(weight, (Scaled, ByDistance)):
        return replace(weight, base=fused(weight.base))
    return weight
