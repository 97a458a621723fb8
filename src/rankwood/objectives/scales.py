"""Factors on a query's lambdas."""

import numpy as np

from rankwood._jit import like, part
from rankwood.objectives import verbs  # noqa: F401  (the verbs must exist before the parts)


@part
class NoScale:
    """Leave the lambdas as they are."""

    def scale(self, total):
        return like(total, 1.0)


@part
class Log2Sum:
    r"""Shrink a query's lambdas so that their sum S counts as :math:`\log_2(1 + S)`.

    The second step of LightGBM's `lambdarank_norm`.
    """

    def scale(self, total):
        one = like(total, 1.0)
        return np.log2(one + total) / total if total > 0 else one
