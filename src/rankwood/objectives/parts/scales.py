"""Factors on a query's lambdas."""

from rankwood._kernels.numeric.elementary import LN2, log1p
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part


@part
class NoScale:
    """Leave the lambdas as they are.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, NoScale, Uniform
    >>> rw.gradients(Lambda(Uniform(), scale=NoScale()), [1, 0], [0.0, 0.0])[0].tolist()
    [-0.5, 0.5]
    """

    def scale(self, total):
        return as_type_of(total, 1.0)


@part
class Log2Sum:
    r"""Shrink a query's lambdas so that their sum S counts as :math:`\log_2(1 + S)`.

    This is the second step of LightGBM's `lambdarank_norm`.

    Examples
    --------
    The two lambdas have a sum of 3, which counts as :math:`\log_2 4 = 2`.

    >>> import rankwood as rw
    >>> from rankwood.objectives import LabelGap, Lambda, Log2Sum
    >>> rw.gradients(Lambda(LabelGap(), scale=Log2Sum()), [3, 0], [0.0, 0.0])[0].tolist()
    [-1.0, 1.0]
    """

    def scale(self, total):
        # log1p: a sum much smaller than 1 would be lost in 1 + S.
        if total > 0:
            return log1p(total) / (total * as_type_of(total, LN2))
        return as_type_of(total, 1.0)
