"""StochasticRank: the mean of a metric over noisy rankings, and its gradient from few of them."""

import numpy as np

from rankwood._core import checks
from rankwood._core.jit import Can, OneOf, exp, inner, like, part
from rankwood._core.rng import mix, normal
from rankwood._core.sorting import SHORT, Query, count, resort
from rankwood.metrics.dcg import NDCG
from rankwood.metrics.verbs import grade, move

ESTIMATORS = ("projected", "plain")
_PROJECTED = 0
_FAR = -80.0  # e to this power is as good as 0, and a float32
_PEAK = 1.0 / np.sqrt(2.0 * np.pi)  # normal density at 0


@part
class StochasticRank:
    r"""Metric under normal noise, :math:`-E_\epsilon M(z - \sigma \mu r + \sigma \epsilon)` [ustimenko2020].

    Here r are labels as the metric reads them: with mu > 0, relevant documents are put back a little. The noise of
    all but document i being drawn, c their noisy scores, that of i is integrated out: the density with which it
    passes j, times what the metric gains there,

    .. math:: \frac{\partial}{\partial z_i} = \sum_{j \ne i} \frac{1}{t} \varphi\Bigl(\frac{c_j - m_i}{t}\Bigr)
              [M(i \text{ just above } j) - M(i \text{ just below } j)].

    ``"plain"`` has m = z_i - sigma mu r_i and t = sigma; ``"projected"`` adds the mean noise of the others to m and
    has t = sigma sqrt(n / (n - 1)), which varies less: noise that all share changes no ranking.

    From the mean over `samples` draws its own mean is removed and, for more than two documents, `sfa` times its
    part along the scores, as rankings don't depend on the scale of scores; `nu` keeps that small near scores
    of 0. Hessians are 1. Only the first k + 1 places matter: a draw costs O(n (k + 1)), besides the sort.
    """

    metric: Can("move") = NDCG()  # type: ignore[valid-type]
    noise_scale: float = 1.0
    mu: float = 0.0
    samples: int = 1
    estimator: OneOf(*ESTIMATORS) = "projected"  # type: ignore[valid-type]
    sfa: float = 1.0
    nu: float = 0.01

    def check(self) -> None:
        """Raise unless there is noise, and the correction takes away."""
        checks.positive(self.noise_scale, "StochasticRank.noise_scale")
        checks.positive(self.nu, "StochasticRank.nu")
        if self.sfa < 0:
            raise checks.InputError(f"StochasticRank.sfa must not be negative, got {self.sfa:g}.")

    def derive(self, label, score, worth, table, state, grad, hess):
        n = score.size
        work, slot = np.empty((8, n), score.dtype), np.empty(n, np.int64)
        calm = work[0]
        for i in range(n):
            hess[i] = like(score[i], 1.0)
            calm[i] = score[i] - self.noise_scale * self.mu * grade(self.metric, label[i])
        if n > 1:
            for draw in range(self.samples):
                own = mix(state, draw)
                width = scatter(self.noise_scale, self.estimator, own, label, work, slot)
                query = Query(work[5], work[4], slot, table)
                climb(move(self.metric, query, worth[0]), width, work, slot, grad)
            free(self.sfa, self.nu, self.samples, score, grad)


# The rows of `work`: by slot scores, noise and noisy scores; by rank the middle of where a document may be, noisy
# scores and labels; the rest is spare. The functions below take no parts: they are compiled once for all metrics.


@inner
def scatter(scale, estimator, state, label, work, slot):
    """Rank documents with new noise; return the standard deviation of a document around its middle."""
    n = label.size
    calm, noise, noisy, middle, key, labels = work[0], work[1], work[2], work[3], work[4], work[5]
    total = like(scale, 0.0)
    for i in range(n):
        noise[i] = scale * normal(scale, state, i)
        noisy[i] = calm[i] + noise[i]
        total += noise[i]
    order(noisy, key, slot)
    projected = estimator == _PROJECTED
    others = like(scale, 1.0 / (n - 1) if projected else 0.0)
    for i in range(n):
        s = slot[i]
        middle[i] = calm[s] + others * (total - noise[s])
        labels[i] = label[s]
    return scale * like(scale, np.sqrt(n / (n - 1)) if projected else 1.0)


@inner
def climb(found, width, work, slot, grad):
    """Add one estimate of the metric's gradient, given what documents win by moving up."""
    n = slot.size
    middle, key, from_below, from_above = work[3], work[4], work[6], work[7]
    for i in range(n):
        from_below[i] = from_above[i] = like(width, 0.0)
    rate, peak = like(width, 1.0) / width, like(width, _PEAK) / width
    # Most metrics see no further than k: beyond that, both factors are 0.
    for side in range(2):
        factor, out = (found.below, from_below) if side == 0 else (found.above, from_above)
        for j in range(n):
            if factor[j] != 0.0:
                first, end = (j + 1, n) if side == 0 else (0, j)
                passing(found.gain, middle, j, key[j], rate, peak * factor[j], first, end, out)
    for i in range(n):
        grad[slot[i]] += from_below[i] + found.own[i] * from_above[i]


@inner
def order(noisy, key, slot):
    """Fill `key` and `slot` with the documents by decreasing noisy score."""
    if noisy.size <= SHORT:
        count(noisy, key, slot)
        return
    for i in range(noisy.size):
        key[i], slot[i] = noisy[i], i
    resort(key, slot)


@inner
def passing(gain, middle, j, score, rate, factor, first, end, out):
    """Add what documents of ranks `first` to `end` gain by passing the one of rank j, times the density there.

    Indices are unsigned: a signed one might be negative, and every access would test for it.
    """
    far, half, own = like(score, _FAR), like(score, -0.5), gain[j]
    for i in range(np.uint64(first), np.uint64(end)):
        u = (score - middle[i]) * rate
        x = half * u * u
        out[i] += exp(x if x > far else far) * (gain[i] - own) * factor


@inner
def free(sfa, nu, samples, score, grad):
    """Turn the sum of estimates into the gradient to descend: its mean, less what moves or stretches all scores."""
    n = score.size
    zero = like(sfa, 0.0)
    size = like(zero, n)
    middle = mean = square = along = zero
    for i in range(n):
        middle += score[i] / size
        mean += grad[i] / size
    for i in range(n):
        z = score[i] - middle
        square += z * z
        along += z * (grad[i] - mean)
    stretch = sfa * along / (np.sqrt(square) + nu) ** 2 if n > 2 else zero
    scale = like(zero, -1.0) / like(zero, samples)
    for i in range(n):
        grad[i] = scale * (grad[i] - mean - stretch * (score[i] - middle))
