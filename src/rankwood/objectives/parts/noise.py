"""Noise on the scores before documents are ranked: objectives that look at several likely rankings."""

from rankwood._core import checks
from rankwood._core.jit import log, part
from rankwood._core.rng import normal, odds
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)


@part
class NoNoise:
    """No noise: the ranking is that of the scores."""

    def shake(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i]


@part
class LogisticNoise:
    r"""Noise :math:`\epsilon = c \ln \frac{u}{1 - u}` of uniform u: YetiRank's [gulin2011]."""

    scale: float = 1.0

    def check(self) -> None:
        checks.positive(self.scale, "LogisticNoise.scale")

    def shake(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i] + self.scale * log(odds(self.scale, state, i))


@part
class GaussianNoise:
    r"""Normal noise of standard deviation c, by Box and Muller's transform [whichtricks2023]."""

    scale: float = 1.0

    def check(self) -> None:
        checks.positive(self.scale, "GaussianNoise.scale")

    def shake(self, score, draw, state, out):
        for i in range(score.size):
            out[i] = score[i] + self.scale * normal(self.scale, state, i)
