"""Pair losses."""

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import exp, like, part
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)


@part
class Logistic:
    r"""RankNet's loss :math:`\log(1 + e^{-\sigma (s_x - s_y)})` of a pair that should rank x above y [burges2005].

    With :math:`u = e^{\sigma s}` per document the pair loop needs no exponential:
    :math:`1 / (1 + e^{\sigma (s_x - s_y)}) = u_y / (u_x + u_y)`. `hessian` is a factor on the curvature: XGBoost
    doubles it.
    """

    sigma: float = 1.0
    hessian: float = 1.0

    def check(self) -> None:
        checks.positive(self.sigma, "Logistic.sigma")
        checks.positive(self.hessian, "Logistic.hessian")

    def embed(self, score):
        return exp(self.sigma * score)

    def reach(self):
        # exp(±80) and the sum of two of them are normal numbers, in float32 too.
        return like(self.sigma, 80.0) / self.sigma

    def slope(self, x, y):
        r = like(x.u, 1.0) / (x.u + y.u)
        p, q = y.u * r, x.u * r
        return p, q, p * q

    def units(self):
        return self.sigma, self.hessian * self.sigma * self.sigma

    def loss(self, d):
        """Loss at score difference `d`; used by tests and documentation, never by a kernel."""
        return np.logaddexp(0.0, -self.sigma * d)
