"""What a metric lacks: the costs of which losses are bounds."""

from typing import Annotated, Any, ClassVar

from rankwood._kernels.each import each, on_team
from rankwood._kernels.parts import Can, part
from rankwood.metrics.parts.additive import GAINS_COLUMNS, additive_swap, by_rank
from rankwood.metrics.parts.dcg import NDCG
from rankwood.metrics.verbs import label_values, rank_discount

#: A field that takes a metric that is a sum of f(y) g(rank).
SumMetric = Annotated[Any, Can("rank_discount", needs=("label_values",))]


def _label_values(self, label, discount, out):
    label_values(self.metric, label, discount, out)


@part
class Cost:
    r"""What a metric lacks to all documents at the first rank, :math:`\sum_i f(y_i) \, |g(1) - g(i)|` [wang2018].

    `Cost(NDCG())` is the NDCG cost, which NDCG-Loss1 and NDCG-Loss2 bound; `Cost(ARP())` is ARP less the sum of labels,
    which ARP-Loss1 bounds. The best order has a cost too, as only one document can be first.

    Parameters
    ----------
    metric : part
        A metric that is a sum of gain f times discount g of the rank.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.metrics import ARP, NDCG, Cost
    >>> rw.evaluate([Cost(NDCG()), Cost(ARP())], [0, 0, 1], [3.0, 2.0, 1.0]).mean()  # 1 - 1/2, and 3 - 1
    {'Cost()': 0.5, 'Cost(metric=ARP())': 2.0}
    """

    metric: SumMetric = NDCG()
    higher_is_better: ClassVar[bool] = False
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    label_values, swap_delta = _label_values, additive_swap

    @on_team
    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        for i in each(ranked.slot.size):
            first = rank_discount(self.metric, ranked.discount, 0)
            room.discount[i] = abs(first - rank_discount(self.metric, ranked.discount, i))
        return room

    def value(self, ranked, values):
        total, first = 0.0, rank_discount(self.metric, ranked.discount, 0)
        for i in range(ranked.slot.size):
            g = rank_discount(self.metric, ranked.discount, i)
            total += values[ranked.slot[i]] * abs(first - g)
        return total


@part
class SwapCost:
    r"""What LambdaRank's loss bounds, :math:`\sum_i f(y_i) \sum_{j < i} |g(j) - g(i)|` [wang2018].

    With NDCG it is at least `Cost(NDCG())` (Proposition 5.1). `SwapCost(ARPK(k))` is k times the metric of
    LambdaRank for ARP beyond k (Corollary 5.7 of [lambdagap2025]).

    Parameters
    ----------
    metric : part
        A metric that is a sum of gain f times discount g of the rank; g never rises, or never falls.

    Examples
    --------
    Swaps with the first and with the second document would gain 2 and 1.

    >>> import rankwood as rw
    >>> from rankwood.metrics import ARP, SwapCost
    >>> rw.evaluate(SwapCost(ARP()), [0, 0, 1], [3.0, 2.0, 1.0]).mean()
    {'SwapCost(metric=ARP())': 3.0}
    """

    metric: SumMetric = NDCG()
    higher_is_better: ClassVar[bool] = False
    swap_columns: ClassVar[tuple[str, ...]] = GAINS_COLUMNS

    label_values, swap_delta = _label_values, additive_swap

    def swap_record(self, ranked, values, room):
        by_rank(ranked, values, room.gain)
        above = 0.0
        for i in range(ranked.slot.size):
            g = rank_discount(self.metric, ranked.discount, i)
            room.discount[i] = abs(above - i * g)
            above += g
        return room

    def value(self, ranked, values):
        total, above = 0.0, 0.0
        for i in range(ranked.slot.size):
            g = rank_discount(self.metric, ranked.discount, i)
            total += values[ranked.slot[i]] * abs(above - i * g)
            above += g
        return total
