"""Noise on the scores before documents are ranked: objectives that look at several likely rankings."""

from rankwood._kernels.each import each, on_team
from rankwood._kernels.numeric.elementary import log
from rankwood._kernels.numeric.rng import gumbel, normal, odds
from rankwood._kernels.parts import Positive, part


@part
class NoNoise:
    """No noise: the ranking is that of the scores.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, NoNoise, Top, Uniform
    >>> (0.0 + rw.gradients(Lambda(Uniform(), Top(1), noise=NoNoise()), [1, 1, 0], [0.0] * 3)[0]).tolist()
    [-0.5, 0.0, 0.5]
    """

    @on_team
    def perturb(self, score, draw, state, out):
        for i in each(score.size):
            out[i] = score[i]


@part
class LogisticNoise:
    r"""Noise :math:`\epsilon = c \ln \frac{u}{1 - u}` of uniform u: YetiRank's [gulin2011].

    Parameters
    ----------
    scale : float
        Factor c.

    Examples
    --------
    Without noise, the first of two equal documents has the only pair of `Top(1)`. With noise, each is first sometimes.

    >>> import rankwood as rw
    >>> from rankwood.objectives import Lambda, LogisticNoise, Top, Uniform
    >>> objective = Lambda(Uniform(), Top(1), noise=LogisticNoise(), draws=50)
    >>> bool((rw.gradients(objective, [1, 1, 0], [0.0, 0.0, 0.0])[0][:2] < 0).all())
    True
    """

    scale: Positive = 1.0

    @on_team
    def perturb(self, score, draw, state, out):
        for i in each(score.size):
            out[i] = score[i] + self.scale * log(odds(self.scale, state, i))


@part
class GaussianNoise:
    r"""Normal noise, by Box and Muller's transform [whichtricks2023].

    Parameters
    ----------
    scale : float
        Standard deviation.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import GaussianNoise, Lambda, Top, Uniform
    >>> objective = Lambda(Uniform(), Top(1), noise=GaussianNoise(), draws=50)
    >>> bool((rw.gradients(objective, [1, 1, 0], [0.0, 0.0, 0.0])[0][:2] < 0).all())
    True
    """

    scale: Positive = 1.0

    @on_team
    def perturb(self, score, draw, state, out):
        for i in each(score.size):
            out[i] = score[i] + self.scale * normal(self.scale, state, i)


@part
class GumbelNoise:
    r"""Gumbel noise :math:`\epsilon = -c \ln(-\ln u)`: rankings of the Plackett-Luce model [wang2018].

    The first document is i with probability :math:`e^{s_i / c} / \sum_j e^{s_j / c}`, the second is drawn likewise from
    the rest, and so on. The mean of weights over such rankings is LambdaLoss's soft assignment.

    Parameters
    ----------
    scale : float
        Factor c.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import GumbelNoise, Lambda, Top, Uniform
    >>> objective = Lambda(Uniform(), Top(1), noise=GumbelNoise(), draws=50)
    >>> bool((rw.gradients(objective, [1, 1, 0], [0.0, 0.0, 0.0])[0][:2] < 0).all())
    True
    """

    scale: Positive = 1.0

    @on_team
    def perturb(self, score, draw, state, out):
        for i in each(score.size):
            out[i] = score[i] + self.scale * gumbel(self.scale, state, i)
