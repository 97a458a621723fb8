"""Weights of pairs."""

from collections import namedtuple
from dataclasses import replace
from typing import Any

from rankwood._kernels.each import on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import ALL, NonNegative, Positive, all_parts, part
from rankwood.metrics.parts.additive import is_additive
from rankwood.metrics.parts.dcg import NDCG
from rankwood.metrics.verbs import SwapMetric, swap_delta
from rankwood.objectives._kernels.records import beside
from rankwood.objectives._kernels.verbs import (
    Weight,
    look_up,
    prepare,
    seen_by,
    weight,
    weight_above,
)
from rankwood.objectives.parts.ndcg_loss import NDCGLoss2, SwapAndNDCGLoss2, prepare_metric
from rankwood.objectives.parts.pairs import RanksApart, reads


def _reads_nothing(self: Any) -> int:
    """Return 0: the ranking doesn't matter."""
    return 0


@part
class Uniform:
    """The same weight for all pairs, 1: RankNet's [burges2005].

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, Uniform
    >>> rw.gradients(Lambda(weight=Uniform()), [3, 1], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    ranks = _reads_nothing

    def weight(self, a, b):
        return as_type_of(a.score, 1.0)


@part
class LabelGap:
    """The distance of the labels: ARP-Loss2's weight [wang2018].

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import LabelGap, Lambda
    >>> rw.gradients(Lambda(weight=LabelGap()), [3, 1], [0.0, 0.0])[0].tolist()
    [-1.0, 1.0]
    """

    ranks = _reads_nothing

    def weight(self, a, b):
        return abs(a.label - b.label)


@part
class WinnerLabel:
    """The label of the document that should be above: ARP-Loss1's weight [wang2018].

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, WinnerLabel
    >>> rw.gradients(Lambda(weight=WinnerLabel()), [3, 1], [0.0, 0.0])[0].tolist()
    [-1.5, 1.5]
    """

    ranks = _reads_nothing

    def weight(self, a, b):
        return max(a.label, b.label)

    def weight_above(self, a, b):
        return a.label


@part
class Swap:
    """The change of a metric when the two documents swap ranks: LambdaRank's weight [burges2006].

    Parameters
    ----------
    metric : part
        A metric that knows its swaps, such as `NDCG()` or `AP()`.

    Examples
    --------
    A swap across the cutoff changes precision at 2 by one half, and no other swap changes it.

    >>> from rankwood.diagnostics import heat
    >>> from rankwood.metrics import Precision
    >>> from rankwood.objectives import Lambda, Swap
    >>> heat(Lambda(weight=Swap(Precision(2))), 3)
    array([[0. , 0. , 0.5],
           [0. , 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """

    metric: SwapMetric = NDCG()

    def ranks(self) -> int:
        """Return how much of the ranking the metric reads."""
        return reads(self.metric)

    prepare = prepare_metric

    def weight(self, a, b):
        return abs(swap_delta(self.metric, a, b))


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

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import LabelGap, Lambda, Sum, Uniform
    >>> weight = Sum(Uniform(), LabelGap(), mu=2.0)  # 1 + 2 · 2 for the labels 3 and 1
    >>> rw.gradients(Lambda(weight), [3, 1], [0.0, 0.0])[0].tolist()
    [-2.5, 2.5]
    """

    first: Weight = Uniform()
    second: Weight = RanksApart()
    mu: NonNegative = 1.0

    def ranks(self) -> int:
        """Return how much of the ranking the two weights read."""
        return together(reads(self.first), reads(self.second))

    @on_team
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


def _reads_base(self: Any) -> int:
    """Return how much of the ranking the weight inside reads."""
    return reads(self.base)


@part
class Scaled:
    """A weight times a constant.

    Parameters
    ----------
    base : part
        Weight.
    factor : float
        Constant.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, Scaled, Uniform
    >>> rw.gradients(Lambda(Scaled(Uniform(), 3.0)), [3, 1], [0.0, 0.0])[0].tolist()
    [-1.5, 1.5]
    """

    base: Weight = Uniform()
    factor: NonNegative = 1.0
    ranks = _reads_base

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

    Examples
    --------
    The scores differ by 1, so that the gradient is divided by 1 + 1.

    >>> import rankwood as rw
    >>> from rankwood.objectives import ByDistance, Lambda, Uniform
    >>> rw.gradients(Lambda(Uniform()), [3, 1], [1.0, 0.0])[0].round(3).tolist()
    [-0.269, 0.269]
    >>> rw.gradients(Lambda(ByDistance(Uniform(), c=1.0)), [3, 1], [1.0, 0.0])[0].round(3).tolist()
    [-0.134, 0.134]
    """

    base: Weight = Swap()
    c: Positive = 0.01
    ranks = _reads_base

    @on_team
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
        return w / (b.own.c + abs(a.score - b.score))

    def weight_above(self, a, b):
        w = weight_above(self.base, beside(a, a.own.base), beside(b, b.own.base))
        return w / (b.own.c + abs(a.score - b.score))


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
            and is_additive(first.metric)
        ):
            return SwapAndNDCGLoss2(first.metric, second.delta, weight.mu)
    if isinstance(weight, (Scaled, ByDistance)):
        return replace(weight, base=fused(weight.base))
    return weight
