"""Factors on a query's lambdas."""

import numpy as np

from rankwood._core.numeric import as_type_of
from rankwood._core.parts import part

_LN2 = float(np.log(2.0))


@part
class NoScale:
    """Leave the lambdas as they are."""

    def scale(self, total):
        return as_type_of(total, 1.0)


@part
class Log2Sum:
    r"""Shrink a query's lambdas so that their sum S counts as :math:`\log_2(1 + S)`.

    This is the second step of LightGBM's `lambdarank_norm`.
    """

    def scale(self, total):
        # log1p: a sum much smaller than 1 would be lost in 1 + S.
        if total > 0:
            return np.log1p(total) / (total * as_type_of(total, _LN2))
        return as_type_of(total, 1.0)
