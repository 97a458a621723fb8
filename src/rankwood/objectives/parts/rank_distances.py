"""Weights that depend on the distance of the ranks and on a cutoff: any LambdaGap, and LambdaLoss at k."""

from collections import namedtuple
from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.each import each, on_team, power
from rankwood._kernels.parts import Can, Fraction, lower, part
from rankwood._util import checks
from rankwood.objectives._kernels.records import beside
from rankwood.objectives._kernels.verbs import Weight, gap_weight, look_up, prepare, seen_by, weight
from rankwood.objectives.parts.ndcg_loss import (
    NDCGLoss2,
    discounts_by_rank,
    look_up_steps,
    step_seen_by,
    table_of_steps,
)


@part
class Geometric:
    r"""Weights that fall by a constant factor with the distance of the ranks, :math:`b^{m - k}` from k on.

    LambdaGap-S is the limit at b = 0, and LambdaGap-X that at b = 1.

    Parameters
    ----------
    base : float
        The factor b, between 0 and 1.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Geometric, Lambda, RankGap
    >>> heat(Lambda(RankGap(1, Geometric(0.5))), 4)[0].tolist()
    [0.0, 1.0, 0.5, 0.25]
    """

    base: Fraction = 0.5

    def gap_weight(self, beyond):
        return power(self.base, beyond)


#: Record of RankGap: the steps from four anchors' ranks to a document's, and the table of steps.
GapsFromAnchors = namedtuple("GapsFromAnchors", "step0 step1 step2 step3 table")
#: What one anchor sees of it.
GapFromAnchor = namedtuple("GapFromAnchor", "step")


@part
class RankGap:
    r"""Any function of the distance of the ranks that is 0 below k: LambdaGap's weight [lambdagap2025].

    The weight is :math:`f(|i - j|)`. Up to a constant, the loss bounds :math:`\sum_{i \le k} b_i + \sum_{i > k} b_i
    \left(1 - \sum_{j=k}^{i-1} f(j)\right)`, which is k times P@k plus a term for documents beyond k (Proposition 5.2).

    Parameters
    ----------
    k : int
        The smallest distance of ranks that counts.
    f : part
        The weights from k on, such as `Geometric(base)`; a part of your own has a method `gap_weight(self, beyond)`,
        which gets by how much the distance exceeds k.

    Examples
    --------
    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Geometric, Lambda, RankGap
    >>> heat(Lambda(RankGap(2, Geometric(0.5))), 4)[0].tolist()
    [0.0, 0.0, 1.0, 0.5]
    """

    k: int = 10
    f: Annotated[Any, Can("gap_weight")] = Geometric()
    look_up_columns: ClassVar[tuple[str, ...]] = NDCGLoss2.look_up_columns

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the weights by the difference of ranks."""
        weights, f = np.zeros(discount.size - 1), lower(self.f)
        for distance in range(self.k, discount.size):
            weights[distance - 1] = gap_weight(f, distance - self.k)
        if not (np.isfinite(weights) & (weights >= 0.0)).all():
            raise checks.InputError(
                f"weights of RankGap must be at least 0, those of {self.f!r} are not."
            )
        return table_of_steps(weights)

    @on_team
    def prepare(self, ranked, values, room):
        return GapsFromAnchors(room.step0, room.step1, room.step2, room.step3, values.steps)

    def look_up(self, own, anchors, block):
        return look_up_steps(own, anchors, block)

    def seen_by(self, own, r):
        return GapFromAnchor(step_seen_by(own, r))

    def weight(self, a, b):
        return max(a.own.step, b.own.step)


#: Record of the weight inside, and by rank what pairs whose lower document is there are multiplied by.
WithMultiplier = namedtuple("WithMultiplier", "base over")


@part
class CutoffMultiplier:
    r"""NDCG-Loss2 for a cutoff: pairs that reach beyond k count more, so that the loss bounds NDCG@k [jagerman2022].

    If the lower document of a pair has the rank p > k, the weight is multiplied by :math:`g(1) / (g(1) - g(p))`, where
    g are the discounts of the metric. What documents beyond k cost is then their whole gain, as it is in a metric that
    doesn't see them.

    Parameters
    ----------
    base : part
        `NDCGLoss2(metric)`; discounts of the metric are not cut.
    k : int
        Cutoff.

    Examples
    --------
    The weight at ranks 1 and 2 is the whole gain, because NDCG@1 gains 1 by their swap.

    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import CutoffMultiplier, Lambda
    >>> heat(Lambda(CutoffMultiplier(k=1)), 2).round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    base: Weight = NDCGLoss2()
    k: int = 10
    columns: ClassVar[tuple[str, ...]] = ("over",)

    def check(self) -> None:
        """Raise unless the weight inside is NDCG-Loss2's."""
        if not isinstance(self.base, NDCGLoss2):
            raise checks.InputError(
                f"CutoffMultiplier is defined for NDCGLoss2(metric), got {self.base!r}."
            )

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the multipliers by rank."""
        g = discounts_by_rank(self.base.metric, discount)
        fall, multipliers = np.abs(g[0] - g), np.ones(g.size)
        beyond = (np.arange(g.size) >= self.k) & (fall > 0.0)
        return {"multipliers": np.divide(abs(g[0]), fall, out=multipliers, where=beyond)}

    @on_team
    def prepare(self, ranked, values, room):
        own = prepare(self.base, ranked, values.base, room.base)
        for i in each(ranked.slot.size):
            room.over[i] = values.multipliers.values[i]
        return WithMultiplier(own, room.over)

    def look_up(self, own, anchors, block):
        return look_up(self.base, own.base, anchors, block)

    def seen_by(self, own, r):
        return WithMultiplier(seen_by(self.base, own.base, r), own.over)

    def weight(self, a, b):
        w = weight(self.base, beside(a, a.own.base), beside(b, b.own.base))
        return w * (a.own.over if a.rank > b.rank else b.own.over)
