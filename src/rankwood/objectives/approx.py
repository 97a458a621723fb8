"""ApproxNDCG: NDCG of ranks that are made smooth."""

from typing import ClassVar

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import Can, exp, inner, like, log, part
from rankwood.metrics.dcg import Exp, best_dcg
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)

_FAR = 80.0  # temperatures between two documents; farther apart counts as that far
_LN2 = float(np.log(2.0))


@part
class ApproxNDCG:
    r"""Lack of NDCG, with smooth ranks: :math:`1 - \frac{1}{Z} \sum_i G_i / \log_2(1 + r_i)` [qin2010].

    :math:`r_i = 1 + \sum_{j \ne i} 1 / (1 + e^{(s_i - s_j) / T})`, T being the temperature; Z is the ideal DCG. The
    gradient is exact. The loss is not convex, so the hessian is the absolute value of the exact diagonal: the same
    curvature, always a step downhill. For trees that start at 0, without regularisation, the
    temperature is only a unit of scores. A query that has no gain has no gradient.
    """

    temperature: float = 1.0
    gain: Can("gain") = Exp()  # type: ignore[valid-type]
    ideal_of_all: ClassVar[bool] = True  # documents that were cut away included

    def check(self) -> None:
        """Raise unless the temperature is positive."""
        checks.positive(self.temperature, "ApproxNDCG.temperature")

    def worth(self, label, table, out):
        ideal = best_dcg(self.gain, label, table, label.size, out)
        for i in range(label.size):
            out[i] = out[i] / ideal if ideal > 0.0 else 0.0

    def derive(self, label, score, worth, table, state, grad, hess):
        cold = like(score[0], 1.0) / self.temperature
        work = np.empty((3, score.size), score.dtype)
        chance, slope, curve = work[0], work[1], work[2]
        for i in range(score.size):  # one summand after the other; most documents have no gain
            if worth[i] > 0:
                first, second = _fall(_rank(score, i, cold, chance, slope, curve))
                _add(i, worth[i] * first, worth[i] * second, slope, curve, grad, hess)
        for i in range(score.size):
            grad[i] *= cold
            hess[i] = abs(hess[i]) * cold * cold


@inner
def _rank(score, i, cold, chance, slope, curve):
    """Return the smooth rank of document i; fill in its summands and their derivatives by the others' scores.

    Derivatives are in units of the temperature. By the document's own score they are minus the sum of the first, and
    the sum of the second. Sums have loops of their own, see `softmax`.
    """
    one, rank = like(cold, 1.0), like(cold, 0.5)  # with the document's own half the first rank is 1
    for j in range(score.size):
        d = (score[j] - score[i]) * cold
        e = exp(-min(abs(d), like(cold, _FAR)))
        r = one / (one + e)
        chance[j] = r if d > 0 else e * r
        slope[j] = e * r * r
        curve[j] = slope[j] * r * (e - one if d > 0 else one - e)
    slope[i] = like(cold, 0.0)
    for j in range(score.size):
        rank += chance[j]
    return rank


@inner
def _fall(rank):
    """Return the first and the second derivative of -1 / log2(1 + rank)."""
    x = like(rank, 1.0) + rank
    y = log(x)
    first = like(rank, _LN2) / (x * y * y)
    return first, -first * (y + like(rank, 2.0)) / (x * y)


@inner
def _add(i, first, second, slope, curve, grad, hess):
    """Add the derivatives of one summand, that of document i, by all scores: the chain rule."""
    slopes = curves = like(first, 0.0)
    for j in range(slope.size):
        slopes += slope[j]
        curves += curve[j]
    for j in range(slope.size):
        grad[j] += first * slope[j]
        hess[j] += second * slope[j] * slope[j] + first * curve[j]
    grad[i] -= first * slopes
    hess[i] += second * slopes * slopes + first * curves
