"""Noise on the scores before documents are ranked: objectives that look at several likely rankings."""

from rankwood._core.numeric import log
from rankwood._core.parts import Positive, part
from rankwood._core.rng import normal, odds


@part
class NoNoise:
    """No noise: the ranking is that of the scores."""

    def perturb(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i]


@part
class LogisticNoise:
    r"""Noise :math:`\epsilon = c \ln \frac{u}{1 - u}` of uniform u: YetiRank's [gulin2011].

    Parameters
    ----------
    scale : float
        Factor c.
    """

    scale: Positive = 1.0

    def perturb(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i] + self.scale * log(odds(self.scale, state, i))


@part
class GaussianNoise:
    r"""Normal noise, by Box and Muller's transform [whichtricks2023].

    Parameters
    ----------
    scale : float
        Standard deviation.
    """

    scale: Positive = 1.0

    def perturb(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i] + self.scale * normal(self.scale, state, i)
