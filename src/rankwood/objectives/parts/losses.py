"""Losses of pairs."""

import numpy as np

from rankwood._kernels.numeric.elementary import exp, minus_log1m
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Positive, part
from rankwood.objectives._kernels.records import PairDerivatives


@part
class Logistic:
    r"""RankNet's loss :math:`\log(1 + e^{-\sigma (s_a - s_b)})` of a pair that should rank a above b [burges2005].

    With :math:`u = e^{\sigma s}` per document the pair loop needs no exponential:
    :math:`1 / (1 + e^{\sigma (s_a - s_b)}) = u_b / (u_a + u_b)`.

    Parameters
    ----------
    sigma : float
        Steepness of the loss.
    hessian : float
        Factor on the Hessian: XGBoost doubles it.

    Examples
    --------
    At equal scores the slope is sigma / 2, and the Hessian is sigma squared / 4.

    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, Logistic, Uniform
    >>> grad, hess = rw.gradients(Lambda(Uniform(), loss=Logistic(sigma=2.0)), [1, 0], [0.0, 0.0])
    >>> grad.tolist(), hess.tolist()
    ([-1.0, 1.0], [1.0, 1.0])
    """

    sigma: Positive = 1.0
    hessian: Positive = 1.0

    def embed(self, score):
        return exp(self.sigma * score)

    def largest_score(self):
        # exp(±80) and the sum of two of them are normal numbers, in float32 too.
        return as_type_of(self.sigma, 80.0) / self.sigma

    def pair_derivatives(self, a, b):
        r = as_type_of(a.embedded, 1.0) / (a.embedded + b.embedded)
        above, below = b.embedded * r, a.embedded * r
        return PairDerivatives(above, below, above * below)

    def pair_losses(self, a, b, derivatives):
        # log(1 + e^-x) = log(1 + e^-|x|) + max(-x, 0), and the smaller slope is 1 - 1 / (1 + e^-|x|).
        x, zero = self.sigma * (a.score - b.score), as_type_of(self.sigma, 0.0)
        above, below = derivatives.above, derivatives.below
        both = minus_log1m(below if below < above else above)
        return both + (zero if x > zero else -x), both + (x if x > zero else zero)

    def factors(self):
        return self.sigma, self.hessian * self.sigma * self.sigma

    def loss(self, difference):
        """Return the loss at a score difference; used by tests and documentation, never by a kernel."""
        return np.logaddexp(0.0, -self.sigma * difference)
