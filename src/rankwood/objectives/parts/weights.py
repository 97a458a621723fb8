"""Weights of pairs."""

from collections import namedtuple
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.numeric import as_type_of
from rankwood._core.parts import ALL, NonNegative, OneOf, Positive, all_parts, part
from rankwood.metrics.dcg import DCG, NDCG
from rankwood.metrics.verbs import SwapMetric, swap_delta, swap_record
from rankwood.objectives._kernels.records import beside, rank_at
from rankwood.objectives._kernels.verbs import (
    Weight,
    look_up,
    prepare,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.parts.pairs import RanksApart, reads


def _reads_nothing(self: Any) -> int:
    """Return 0: the ranking doesn't matter."""
    return 0


@part
class Uniform:
    """The same weight for all pairs, 1: RankNet's [burges2005]."""

    ranks = _reads_nothing

    def weight(self, a, b):
        return as_type_of(a.score, 1.0)


@part
class LabelGap:
    """The distance of the labels: ARP-Loss2's weight [wang2018]."""

    ranks = _reads_nothing

    def weight(self, a, b):
        return abs(a.label - b.label)


@part
class WinnerLabel:
    """The label of the document that should be above: ARP-Loss1's weight [wang2018]."""

    ranks = _reads_nothing

    def weight(self, a, b):
        return max(a.label, b.label)

    def weight_above(self, a, b):
        return a.label


def _prepare_metric(self, ranked, values, room):
    return swap_record(self.metric, ranked, values.metric, room.metric)


@part
class Swap:
    """The change of a metric when the two documents swap ranks: LambdaRank's weight [burges2006].

    Parameters
    ----------
    metric : part
        A metric that knows its swaps, such as `NDCG()` or `AP()`.
    """

    metric: SwapMetric = NDCG()

    def ranks(self) -> int:
        """Return how much of the ranking the metric reads."""
        return reads(self.metric)

    prepare = _prepare_metric

    def weight(self, a, b):
        return abs(swap_delta(self.metric, a, b))


def _check_discounted(self: Any) -> None:
    """Raise unless the metric of a weight is a discounted gain."""
    if not isinstance(self.metric, (DCG, NDCG)):
        raise checks.InputError(
            f"{type(self).__name__} is defined for discounted gains: NDCG(...) or DCG(...), "
            f"got {self.metric!r}; Swap takes any metric that has a swap delta."
        )


@part
class NDCGLoss1:
    """The share of the metric that comes from the document that should be above: NDCG-Loss1's weight [wang2018].

    Parameters
    ----------
    metric : part
        `NDCG(...)` or `DCG(...)`.
    """

    metric: SwapMetric = NDCG()

    check, prepare = _check_discounted, _prepare_metric

    def weight(self, a, b):
        better = a.label > b.label
        return a.own.gain * a.own.discount if better else b.own.gain * b.own.discount

    def weight_above(self, a, b):
        return a.own.gain * a.own.discount


#: Which fall of the discounts counts at a distance of ranks.
Delta = Annotated[Any, OneOf("exact", "shifted")]
#: Record of NDCGLoss2: the metric's own, the steps from four anchors' ranks to a document's, and the table of steps by
#: the difference of ranks, with 0 in the middle.
StepsFromAnchors = namedtuple("StepsFromAnchors", "metric step0 step1 step2 step3 table")
#: What one anchor sees of it.
StepFromAnchor = namedtuple("StepFromAnchor", "metric step")


def _step_table(discount: np.ndarray, delta: str, mu: float) -> dict[str, np.ndarray]:
    """Return the falls of the discount by the difference of ranks, 0 in the middle, times mu."""
    steps = -mu * np.diff(discount[int(delta == "shifted") :])
    return {"steps": np.concatenate([[0.0], steps[::-1], [0.0], steps])[None]}


@part
class NDCGLoss2:
    r"""Gain difference times :math:`\delta_m = 1/D(m) - 1/D(m + 1)` at distance m of the ranks [wang2018].

    NDCG-Loss2++ is `Sum(Swap(metric), NDCGLoss2(metric), mu)`.

    Parameters
    ----------
    metric : part
        `NDCG(...)` or `DCG(...)`.
    delta : {"exact", "shifted"}
        "shifted" takes :math:`\delta_{m+1}`, as the programs behind two of the papers do [lambdaex2023,
        lambdagap2025].
    """

    metric: SwapMetric = NDCG()
    delta: Delta = "exact"
    look_up_columns: ClassVar[tuple[str, ...]] = ("step0", "step1", "step2", "step3")

    check = _check_discounted

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table of steps."""
        return _step_table(discount, self.delta, 1.0)

    def prepare(self, ranked, values, room):
        own = swap_record(self.metric, ranked, values.metric, room.metric)
        return StepsFromAnchors(own, room.step0, room.step1, room.step2, room.step3, values.steps)

    def look_up(self, own, anchors, block):
        table, middle = own.table, own.table.shape[1] // 2
        start0 = np.uint64(middle - np.int64(anchors[0].rank))
        start1 = np.uint64(middle - np.int64(anchors[1].rank))
        start2 = np.uint64(middle - np.int64(anchors[2].rank))
        start3 = np.uint64(middle - np.int64(anchors[3].rank))
        for j in range(block.start, block.end):
            rank = np.uint64(rank_at(block.ranks, j))
            own.step0.column[j], own.step1.column[j] = (
                table[0, start0 + rank],
                table[0, start1 + rank],
            )
            own.step2.column[j], own.step3.column[j] = (
                table[0, start2 + rank],
                table[0, start3 + rank],
            )
        return 0

    def seen_by(self, own, r):
        low = own.step1.column if r == 1 else own.step0.column
        high = own.step3.column if r == 3 else own.step2.column
        # An anchor has no step to itself: the step of a pair is the larger of two.
        return StepFromAnchor(
            own.metric, as_type_of(low, 0.0) if r < 0 else (high if r > 1 else low)
        )

    def weight(self, a, b):
        gap = abs(a.own.metric.gain - b.own.metric.gain)
        return gap * max(a.own.step, b.own.step)


@part
class SwapAndNDCGLoss2:
    """How `Sum(Swap(metric), NDCGLoss2(metric, delta), mu)` is computed: gains and discounts are read once."""

    metric: SwapMetric = NDCG()
    delta: Delta = "exact"
    mu: NonNegative = 1.0
    look_up_columns: ClassVar[tuple[str, ...]] = NDCGLoss2.look_up_columns

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table of steps, times mu."""
        return _step_table(discount, self.delta, self.mu)

    prepare, look_up, seen_by = NDCGLoss2.prepare, NDCGLoss2.look_up, NDCGLoss2.seen_by

    def weight(self, a, b):
        swap = abs(a.own.metric.discount - b.own.metric.discount)
        gap = abs(a.own.metric.gain - b.own.metric.gain)
        return gap * (max(a.own.step, b.own.step) + swap)


#: Records of two weights.
Both = namedtuple("Both", "first second")


@part
class Sum:
    r"""Two weights together, :math:`w_1 + \mu w_2`.

    Parameters
    ----------
    first, second : part
        Weights.
    mu : float
        Factor on the second.
    """

    first: Weight = Uniform()
    second: Weight = RanksApart()
    mu: NonNegative = 1.0

    def ranks(self) -> int:
        """Return how much of the ranking the two weights read."""
        return together(reads(self.first), reads(self.second))

    def prepare(self, ranked, values, room):
        first = prepare(self.first, ranked, values.first, room.first)
        return Both(first, prepare(self.second, ranked, values.second, room.second))

    def look_up(self, own, anchors, block):
        look_up(self.first, own.first, anchors, block)
        return look_up(self.second, own.second, anchors, block)

    def seen_by(self, own, r):
        return Both(seen_by(self.first, own.first, r), seen_by(self.second, own.second, r))

    def weight(self, a, b):
        first = weight(self.first, beside(a, a.own.first), beside(b, b.own.first))
        second = weight(self.second, beside(a, a.own.second), beside(b, b.own.second))
        return first + self.mu * second

    def weight_above(self, a, b):
        first = weight_above(self.first, beside(a, a.own.first), beside(b, b.own.first))
        second = weight_above(self.second, beside(a, a.own.second), beside(b, b.own.second))
        return first + self.mu * second


@part
class Scaled:
    """A weight times a constant.

    Parameters
    ----------
    base : part
        Weight.
    factor : float
        Constant.
    """

    base: Weight = Uniform()
    factor: Positive = 1.0

    def weight(self, a, b):
        return self.factor * weight(self.base, a, b)

    def weight_above(self, a, b):
        return self.factor * weight_above(self.base, a, b)


#: Record of the weight inside, and the constant of the query.
WithConstant = namedtuple("WithConstant", "base c")


@part
class ByDistance:
    r"""Divide a weight by the distance of the scores, :math:`w / (c + |s_a - s_b|)`; queries of equal scores keep w.

    This is the first step of LightGBM's `lambdarank_norm`.

    Parameters
    ----------
    base : part
        Weight.
    c : float
        Constant that keeps the divisor above 0.
    """

    base: Weight = Swap()
    c: Positive = 0.01

    def prepare(self, ranked, values, room):
        low = high = ranked.score[0]
        for s in ranked.score:
            low, high = (s if s < low else low), (s if s > high else high)
        own = prepare(self.base, ranked, values.base, room.base)
        return WithConstant(own, as_type_of(self.c, 1.0) if low == high else self.c)

    def look_up(self, own, anchors, block):
        return look_up(self.base, own.base, anchors, block)

    def seen_by(self, own, r):
        return WithConstant(seen_by(self.base, own.base, r), own.c)

    def weight(self, a, b):
        w = weight(self.base, beside(a, a.own.base), beside(b, b.own.base))
        return w / (a.own.c + abs(a.score - b.score))

    def weight_above(self, a, b):
        w = weight_above(self.base, beside(a, a.own.base), beside(b, b.own.base))
        return w / (a.own.c + abs(a.score - b.score))


def together(one: int, two: int) -> int:
    """Return how much of the ranking two parts read together: the same, or all of it."""
    return max(one, two) if 0 in (one, two) or one == two else ALL


def looks_up(weight: Any) -> bool:
    """Tell whether a weight, or one inside it, needs a look-up for each four anchors."""
    return any(hasattr(part, "look_up_columns") for part in all_parts(weight))


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
    if hasattr(weight, "base"):
        return replace(weight, base=fused(weight.base))
    return weight
