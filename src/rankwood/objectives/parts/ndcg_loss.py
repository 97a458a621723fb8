"""Weights of NDCG-Loss1 and NDCG-Loss2, which are made of the gains and discounts of a metric [wang2018]."""

from collections import namedtuple
from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.each import on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import NonNegative, OneOf, part
from rankwood._kernels.records import put
from rankwood._util import checks
from rankwood.metrics.parts.dcg import DCG, NDCG
from rankwood.metrics.verbs import SwapMetric, swap_record
from rankwood.objectives._kernels.records import rank_at


@on_team
def prepare_metric(self, ranked, values, room):
    """Return the swap record of a weight's metric."""
    return swap_record(self.metric, ranked, values.metric, room.metric)


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

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import BothDirections, Lambda, NDCGLoss1
    >>> rw.gradients(Lambda(NDCGLoss1(), BothDirections()), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    metric: SwapMetric = NDCG()

    check, prepare = _check_discounted, prepare_metric

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
    return {"steps": np.concatenate([[0.0], steps[::-1], [0.0], steps])}


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

    Examples
    --------
    The weight of neighbours, :math:`1 - 1 / \log_2 3`, is the same at all ranks.

    >>> from rankwood.diagnostics import heat
    >>> from rankwood.objectives import Lambda, NDCGLoss2
    >>> heat(Lambda(NDCGLoss2()), 3).round(2)
    array([[0.  , 0.37, 0.13],
           [0.37, 0.  , 0.37],
           [0.13, 0.37, 0.  ]])
    """

    metric: SwapMetric = NDCG()
    delta: Delta = "exact"
    look_up_columns: ClassVar[tuple[str, ...]] = ("step0", "step1", "step2", "step3")

    check = _check_discounted

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table of steps."""
        return _step_table(discount, self.delta, 1.0)

    @on_team
    def prepare(self, ranked, values, room):
        own = swap_record(self.metric, ranked, values.metric, room.metric)
        return StepsFromAnchors(own, room.step0, room.step1, room.step2, room.step3, values.steps)

    def look_up(self, own, anchors, block):
        table = own.table.values
        middle = table.size // 2
        start0 = np.uint64(middle - np.int64(anchors[0].rank))
        start1 = np.uint64(middle - np.int64(anchors[1].rank))
        start2 = np.uint64(middle - np.int64(anchors[2].rank))
        start3 = np.uint64(middle - np.int64(anchors[3].rank))
        for j in range(block.start, block.end):
            rank = np.uint64(rank_at(block.ranks, j))
            put(own.step0, j, table[start0 + rank])
            put(own.step1, j, table[start1 + rank])
            put(own.step2, j, table[start2 + rank])
            put(own.step3, j, table[start3 + rank])
        return 0

    def seen_by(self, own, r):
        low = own.step1 if r == 1 else own.step0
        high = own.step3 if r == 3 else own.step2
        # The anchor's step is 0 and its partner's is the table's: their maximum is the pair's, whichever is a.
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
    internal: ClassVar[bool] = True
    look_up_columns: ClassVar[tuple[str, ...]] = NDCGLoss2.look_up_columns

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table of steps, times mu."""
        return _step_table(discount, self.delta, self.mu)

    prepare, look_up, seen_by = NDCGLoss2.prepare, NDCGLoss2.look_up, NDCGLoss2.seen_by

    def weight(self, a, b):
        swap = abs(a.own.metric.discount - b.own.metric.discount)
        gap = abs(a.own.metric.gain - b.own.metric.gain)
        return gap * (max(a.own.step, b.own.step) + swap)
