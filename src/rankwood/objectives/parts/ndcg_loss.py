"""Weights of NDCG-Loss1 and NDCG-Loss2, for any metric that is a sum of gain times discount [wang2018]."""

from collections import namedtuple
from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.each import each, on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import NonNegative, OneOf, lower, part
from rankwood._kernels.records import put
from rankwood._util import checks
from rankwood.metrics.parts.dcg import NDCG
from rankwood.metrics.verbs import SwapMetric, higher_is_better, rank_discount, swap_record
from rankwood.objectives._kernels.records import rank_at


@on_team
def prepare_metric(self, ranked, values, room):
    """Return the swap record of a weight's metric."""
    return swap_record(self.metric, ranked, values.metric, room.metric)


def _check_sum(self: Any) -> None:
    """Raise unless the metric of a weight is a sum of gain times discount by rank."""
    if not rank_discount.verb.able(self.metric):
        raise checks.InputError(
            f"{type(self).__name__} is defined for metrics that are a sum over documents, gain times discount of the "
            f"rank, as NDCG(), RBP() and RR() are; got {self.metric!r}. Swap takes any metric that has a swap delta."
        )


def discounts_by_rank(metric: Any, discount: np.ndarray) -> np.ndarray:
    """Return the factors g by rank of a metric that is a sum of f(y) g(rank)."""
    lowered = lower(metric)
    return np.array([rank_discount(lowered, discount, rank) for rank in range(discount.size)])


#: Record of NDCGLoss1: the metric's own, and the discounts of the metric by rank.
GainAndDiscount = namedtuple("GainAndDiscount", "metric discount")


@part
class NDCGLoss1:
    r"""What the document that should be above adds to the metric: NDCG-Loss1's weight [wang2018].

    The weight is :math:`f(y) \, g(i)`, if the metric is a sum of such terms. The loss bounds what the metric lacks if
    discounts fall no faster than 1 / position.

    Parameters
    ----------
    metric : part
        A metric that is a sum of gain times discount: `NDCG(...)`, `DCG(...)`, `RBP(...)`, `ExpDCG(...)`, `RR(...)`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import BothDirections, Lambda, NDCGLoss1
    >>> rw.gradients(Lambda(NDCGLoss1(), BothDirections()), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    metric: SwapMetric = NDCG()
    columns: ClassVar[tuple[str, ...]] = ("discount",)

    def check(self) -> None:
        """Raise unless the metric is a sum of gains that high ranks make large."""
        _check_sum(self)
        if not higher_is_better(self.metric):
            raise checks.InputError(
                f"NDCGLoss1 is defined for metrics that grow with the ranking, got {self.metric!r}; for ARP() it is "
                "WinnerLabel()."
            )

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the discounts of the metric."""
        return {"by_rank": discounts_by_rank(self.metric, discount)}

    @on_team
    def prepare(self, ranked, values, room):
        own = swap_record(self.metric, ranked, values.metric, room.metric)
        for i in each(ranked.slot.size):
            room.discount[i] = values.by_rank.values[i]
        return GainAndDiscount(own, room.discount)

    def weight(self, a, b):
        better = a.label > b.label
        own = a.own.metric.gain * a.own.discount
        return own if better else b.own.metric.gain * b.own.discount

    def weight_above(self, a, b):
        return a.own.metric.gain * a.own.discount


#: Which fall of the discounts counts at a distance of ranks.
Delta = Annotated[Any, OneOf("exact", "shifted")]
#: Record of NDCGLoss2: the metric's own, the steps from four anchors' ranks to a document's, and the table of steps by
#: the difference of ranks, with 0 in the middle.
StepsFromAnchors = namedtuple("StepsFromAnchors", "metric step0 step1 step2 step3 table")
#: What one anchor sees of it.
StepFromAnchor = namedtuple("StepFromAnchor", "metric step")


def _step_table(metric: Any, discount: np.ndarray, delta: str, mu: float) -> dict[str, np.ndarray]:
    """Return the steps of a metric's discounts by the difference of ranks, 0 in the middle, times mu."""
    steps = np.diff(discounts_by_rank(metric, discount))
    if steps.min(initial=0.0) < 0.0 < steps.max(initial=0.0):
        raise checks.InputError(
            f"NDCGLoss2 needs discounts that never rise, or never fall, from rank to rank; those of {metric!r} do both."
        )
    return table_of_steps(mu * np.abs(steps[int(delta == "shifted") :]))


@uncounted
def look_up_steps(own, anchors, block):
    """Put the steps from four anchors to a block of documents into a record's columns: a body of `look_up`."""
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


@uncounted_inline
def step_seen_by(own, r):
    """Return the step from the r-th of four anchors to a document."""
    low = own.step1 if r == 1 else own.step0
    high = own.step3 if r == 3 else own.step2
    # The anchor's step is 0 and its partner's is the table's: their maximum is the pair's, whichever is a.
    return as_type_of(low, 0.0) if r < 0 else (high if r > 1 else low)


def table_of_steps(steps: np.ndarray) -> dict[str, np.ndarray]:
    """Return the table that `look_up_steps` reads: by the difference of ranks, with 0 in the middle."""
    return {"steps": np.concatenate([[0.0], steps[::-1], [0.0], steps])}


@part
class NDCGLoss2:
    r"""Gain difference times :math:`\delta_m = 1/D(m) - 1/D(m + 1)` at distance m of the ranks [wang2018].

    The metric may be any sum of gain times discount, :math:`\sum_i f(y_i) \, g(i)`. Then :math:`\delta_m` is
    :math:`|g(m) - g(m + 1)|`, and the loss bounds what the metric lacks (Lemma 5.1 of [lambdagap2025]). NDCG-Loss2++
    is `Sum(Swap(metric), NDCGLoss2(metric), mu)`.

    Parameters
    ----------
    metric : part
        A metric that is a sum of gain times discount, with its cutoff: `NDCG(...)`, `RBP(...)`, `Precision(k)`. The
        reciprocal rank is one if a single document is relevant.
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

    check = _check_sum

    def tables(self, discount: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table of steps."""
        return _step_table(self.metric, discount, self.delta, 1.0)

    @on_team
    def prepare(self, ranked, values, room):
        own = swap_record(self.metric, ranked, values.metric, room.metric)
        return StepsFromAnchors(own, room.step0, room.step1, room.step2, room.step3, values.steps)

    def look_up(self, own, anchors, block):
        return look_up_steps(own, anchors, block)

    def seen_by(self, own, r):
        return StepFromAnchor(own.metric, step_seen_by(own, r))

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
        return _step_table(self.metric, discount, self.delta, self.mu)

    prepare, look_up, seen_by = NDCGLoss2.prepare, NDCGLoss2.look_up, NDCGLoss2.seen_by

    def weight(self, a, b):
        swap = abs(a.own.metric.discount - b.own.metric.discount)
        gap = abs(a.own.metric.gain - b.own.metric.gain)
        return gap * (max(a.own.step, b.own.step) + swap)
