"""Pair weights."""

from rankwood import _check
from rankwood._jit import Can, like, part
from rankwood.metrics.dcg import NDCG
from rankwood.metrics.verbs import columns, delta
from rankwood.objectives.verbs import prepare, weight


@part
class Swap:
    """How much `metric` changes when the two documents trade places: LambdaRank's weight [burges2006]."""

    metric: Can("delta") = NDCG()  # type: ignore[valid-type]

    def prepare(self, q, worth):
        return columns(self.metric, q, worth[0])

    def weight(self, x, y, a, b):
        return abs(delta(self.metric, x, y, a, b))


@part
class ByDistance:
    r"""Divide a weight by the distance of the scores, :math:`w / (c + |s_x - s_y|)`; flat queries keep w.

    The first step of LightGBM's `lambdarank_norm`.
    """

    base: Can("weight") = Swap()  # type: ignore[valid-type]
    c: float = 0.01

    def check(self) -> None:
        _check.positive(self.c, "ByDistance.c")

    def prepare(self, q, worth):
        flat = q.score[0] == q.score[q.score.size - 1]
        return prepare(self.base, q, worth[0]), (like(self.c, 1.0) if flat else self.c)

    def weight(self, x, y, a, b):
        return weight(self.base, x, y, a[0], b[0]) / (a[1] + abs(x.score - y.score))
