"""ApproxNDCG: NDCG of ranks that are made smooth."""

from typing import ClassVar

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import each, on_team, only, sum_of
from rankwood._kernels.numeric.elementary import LN2, exp, log
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood._kernels.records import documents
from rankwood.metrics.parts.dcg import Exp, best_dcg
from rankwood.metrics.verbs import Gain

_FAR = 80.0  # temperatures between two documents; farther apart counts as that far


@part
class ApproxNDCG:
    r"""Lack of NDCG, with smooth ranks: :math:`1 - \frac{1}{Z} \sum_i G_i / \log_2(1 + r_i)` [qin2010].

    :math:`r_i = 1 + \sum_{j \ne i} 1 / (1 + e^{(s_i - s_j) / T})`; Z is the ideal DCG. The gradient is exact. The loss
    is not convex, so the Hessian is the absolute value of the exact diagonal: every step goes downhill. For trees that
    start at 0, without regularisation, the temperature is only a unit of scores. A query without gains
    has no gradient.

    Parameters
    ----------
    temperature : float
        Difference T of scores at which two documents begin to look alike.
    gain : part
        Gain G of a label.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import ApproxNDCG
    >>> rw.gradients(ApproxNDCG(temperature=0.5), [1, 0], [0.0, 0.0])[0].round(3).tolist()
    [-0.165, 0.165]
    """

    temperature: Positive = 1.0
    gain: Gain = Exp()
    ideal_of_all: ClassVar[bool] = True  # unlisted documents count
    columns: ClassVar[tuple[str, ...]] = ("chance", "slope", "curve")

    def label_values(self, label, discount, out):
        ideal = best_dcg(self.gain, label, discount, label.size, out)
        for i in range(label.size):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    @on_team
    def list_gradient(self, query, state, room, out):
        n, values = query.score.size, query.values
        cold = as_type_of(query.score[0], 1.0) / self.temperature
        for i in range(n):  # one summand after the other; most documents have no gain
            if values[i] > 0:
                first, second = _fall(_rank(query.score, i, cold, room))
                _add(i, values[i] * first, values[i] * second, room, out)
        for i in each(n):
            out.gradient[i] *= cold
            out.hessian[i] = abs(out.hessian[i]) * cold * cold

    def list_loss(self, query, state, room):
        cold = as_type_of(query.score[0], 1.0) / self.temperature
        dcg = gained = as_type_of(cold, 0.0)
        for i in range(query.score.size):
            if query.values[i] > 0:
                one = as_type_of(cold, 1.0)
                rank = _rank(query.score, i, cold, room)
                gained = one
                dcg += query.values[i] * as_type_of(cold, LN2) / log(one + rank)
        return gained - dcg  # a query without gains has no loss


@uncounted
def _rank(score, i, cold, room):
    """Return the smooth rank of document i; fill in its summands and their derivatives by the others' scores.

    Derivatives are in units of the temperature. By the document's own score they are minus the sum of the first, and
    the sum of the second.
    """
    one = as_type_of(cold, 1.0)
    for j in each(score.size):
        d = (score[j] - score[i]) * cold
        e = exp(-min(abs(d), as_type_of(cold, _FAR)))
        r = one / (one + e)
        room.chance[j] = r if d > 0 else e * r
        room.slope[j] = e * r * r
        room.curve[j] = room.slope[j] * r * (e - one if d > 0 else one - e)
    for j in only(i):
        room.slope[j] = as_type_of(cold, 0.0)
    # The document itself adds another half.
    return as_type_of(cold, 0.5) + sum_of(documents(room.chance, 0, score.size))


@uncounted
def _fall(rank):
    """Return the first and the second derivative of -1 / log2(1 + rank)."""
    x = as_type_of(rank, 1.0) + rank
    y = log(x)
    first = as_type_of(rank, LN2) / (x * y * y)
    return first, -first * (y + as_type_of(rank, 2.0)) / (x * y)


@uncounted
def _add(i, first, second, room, out):
    """Add the derivatives of one summand, that of document i, by all scores: the chain rule."""
    n = out.gradient.size
    slope, curve = documents(room.slope, 0, n), documents(room.curve, 0, n)
    slopes, curves = sum_of(slope), sum_of(curve)
    for j in each(n):
        out.gradient[j] += first * slope[j]
        out.hessian[j] += second * slope[j] * slope[j] + first * curve[j]
    for j in only(i):
        out.gradient[j] -= first * slopes
        out.hessian[j] += second * slopes * slopes + first * curves
