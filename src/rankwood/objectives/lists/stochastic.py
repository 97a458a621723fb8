"""StochasticRank: the mean of a metric over noisy rankings, and its gradient from few of them."""

from collections import namedtuple
from typing import Annotated, Any, ClassVar

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import sum_of
from rankwood._kernels.numeric.elementary import exp
from rankwood._kernels.numeric.rng import mix, normal
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.numeric.sorting import sort_down
from rankwood._kernels.parts import NonNegative, OneOf, Positive, part
from rankwood._kernels.records import documents
from rankwood.metrics.parts.dcg import NDCG
from rankwood.metrics.parts.insertions import Insertions
from rankwood.metrics.ranked import Ranked
from rankwood.metrics.verbs import InsertionMetric, as_relevance, insertion_record, value

ESTIMATORS = ("projected", "plain")
_PROJECTED = 0
_FAR = -80.0  # e to this power is as good as 0, and a float32
_PEAK = 1.0 / np.sqrt(2.0 * np.pi)  # normal density at 0

#: A document that others pass: its noisy score, its gain, 1 / standard deviation, and a factor on the density.
Passed = namedtuple("Passed", "score gain rate factor")


@part
class StochasticRank:
    r"""Metric under normal noise, :math:`-E_\epsilon M(z - \sigma \mu r + \sigma \epsilon)` [ustimenko2020].

    Here r are labels as the metric reads them: with mu > 0, relevant documents start a little further down. The noise
    of all documents but i is drawn, c being their noisy scores, and that of i is integrated out: the density with which
    it passes j, times what the metric gains there,

    .. math:: \frac{\partial}{\partial z_i} = \sum_{j \ne i} \frac{1}{t} \varphi\Bigl(\frac{c_j - m_i}{t}\Bigr)
              [M(i \text{ just above } j) - M(i \text{ just below } j)].

    ``"plain"`` has m = z_i - sigma mu r_i and t = sigma; ``"projected"`` adds the mean noise of the others to m and
    has t = sigma sqrt(n / (n - 1)), which varies less: noise that all share changes no ranking.

    The mean over `samples` draws loses its own mean and, for more than two documents, `sfa` times its part along the
    scores, as rankings don't depend on the scale of scores. Hessians are 1. Only the first k + 1 ranks matter: a draw
    costs O(n (k + 1)) besides the sort, and O(n^2) without a cutoff, as every document can pass every other.

    Parameters
    ----------
    metric : part
        A metric that knows its insertions, such as `NDCG(10)`.
    noise_scale : float
        Standard deviation :math:`\sigma` of the noise.
    mu : float
        How far relevant documents are put back, in units of the noise.
    samples : int
        Number of draws.
    estimator : {"projected", "plain"}
        Which of the two estimators above.
    sfa : float
        Share of the part along the scores that is removed.
    nu : float
        Keeps the removed part small near scores of 0.

    Examples
    --------
    The relevant document gains by moving up, whatever the noise.

    >>> import rankwood as rw
    >>> from rankwood.metrics import NDCG
    >>> from rankwood.objectives import StochasticRank
    >>> grad, hess = rw.gradients(StochasticRank(NDCG(), samples=4), [1, 0], [0.0, 0.0])
    >>> bool(grad[0] < 0 < grad[1]), hess.tolist()
    (True, [1.0, 1.0])
    """

    metric: InsertionMetric = NDCG()
    noise_scale: Positive = 1.0
    mu: float = 0.0
    samples: int = 1
    estimator: Annotated[Any, OneOf(*ESTIMATORS)] = "projected"
    sfa: NonNegative = 1.0
    nu: Positive = 0.01
    #: By slot: scores, noise, noisy scores. By rank: the middle of where a document may be, noisy scores, labels.
    columns: ClassVar[tuple[str, ...]] = (
        *("score", "noise", "noisy", "middle", "key", "label"),
        *("from_below", "from_above", "gain", "below", "above", "own"),
    )
    index_columns: ClassVar[tuple[str, ...]] = ("slot",)
    sorts: ClassVar[bool] = True

    def list_gradient(self, query, state, room, out):
        n = query.score.size
        for i in range(n):
            out.hessian[i] = as_type_of(query.score[i], 1.0)
            relevance = as_relevance(self.metric, query.label[i])
            room.score[i] = query.score[i] - self.noise_scale * self.mu * relevance
        if n > 1:
            insertions = Insertions(room.gain, room.below, room.above, room.own)
            for draw in range(self.samples):
                projected = self.estimator == _PROJECTED
                width = _draw(self.noise_scale, projected, mix(state, draw), query.label, room)
                slot = documents(room.slot, 0, n)
                ranked = Ranked(n, room.label, room.key, slot, query.discount)
                insertion_record(self.metric, ranked, query.values.metric, insertions)
                _add_estimate(n, insertions, width, room, out.gradient)
            _finish(self.sfa, self.nu, self.samples, query.score, out.gradient, room)

    def list_loss(self, query, state, room):
        # The same draws again: minus the metric of these rankings is an estimate of the loss.
        n, total = query.score.size, as_type_of(query.score[0], 0.0)
        if n == 1:
            return total  # there is nothing to rank
        for draw in range(self.samples):
            projected = self.estimator == _PROJECTED
            _draw(self.noise_scale, projected, mix(state, draw), query.label, room)
            slot = documents(room.slot, 0, n)
            ranked = Ranked(n, room.label, room.key, slot, query.discount)
            total -= as_type_of(total, value(self.metric, ranked, query.values.metric))
        return total / as_type_of(total, self.samples)


# The functions below take no parts: they are compiled once for all metrics.


@uncounted
def _draw(scale, projected, state, label, room):
    """Rank documents with new noise; return the standard deviation of a document around its middle."""
    n = label.size
    for i in range(n):
        room.noise[i] = scale * normal(scale, state, i)
        room.noisy[i] = room.score[i] + room.noise[i]
    total = sum_of(documents(room.noise, 0, n))
    sort_down(documents(room.noisy, 0, n), room.slot, room.sorting)
    others = as_type_of(scale, 1.0 / (n - 1) if projected else 0.0)
    for i in range(n):
        s = room.slot[i]
        room.key[i] = room.noisy[s]
        room.middle[i] = room.score[s] + others * (total - room.noise[s])
        room.label[i] = label[s]
    return scale * as_type_of(scale, np.sqrt(n / (n - 1)) if projected else 1.0)


@uncounted
def _add_estimate(n, insertions, width, room, gradient):
    """Add one estimate of the metric's gradient, given what documents gain by moving up."""
    for i in range(n):
        room.from_below[i] = room.from_above[i] = as_type_of(width, 0.0)
    rate, peak = as_type_of(width, 1.0) / width, as_type_of(width, _PEAK) / width
    # Most metrics see no further than k: beyond that, both factors are 0.
    for j in range(n):
        if insertions.below[j] != 0.0:
            passed = Passed(room.key[j], insertions.gain[j], rate, peak * insertions.below[j])
            _pass(passed, insertions.gain, room.middle, j + 1, n, room.from_below)
    for j in range(n):
        if insertions.above[j] != 0.0:
            passed = Passed(room.key[j], insertions.gain[j], rate, peak * insertions.above[j])
            _pass(passed, insertions.gain, room.middle, 0, j, room.from_above)
    for i in range(n):
        gradient[room.slot[i]] += room.from_below[i] + insertions.own[i] * room.from_above[i]


@uncounted
def _pass(passed, gain, middle, first, end, out):
    """Add what documents of ranks `first` to `end` gain by passing another, times the density there.

    Indices are unsigned: a signed one might be negative, and every access would test for it.
    """
    far, half = as_type_of(passed.score, _FAR), as_type_of(passed.score, -0.5)
    for i in range(np.uint64(first), np.uint64(end)):
        u = (passed.score - middle[i]) * passed.rate
        x = half * u * u
        out[i] += exp(x if x > far else far) * (gain[i] - passed.gain) * passed.factor


@uncounted
def _finish(sfa, nu, samples, score, gradient, room):
    """Turn the sum of estimates into the gradient to descend: its mean, less what moves or stretches all scores.

    The columns of noise are free by now: they take squares and products.
    """
    n = score.size
    square, along = documents(room.noise, 0, n), documents(room.noisy, 0, n)
    size = as_type_of(sfa, n)
    middle, mean = sum_of(score) / size, sum_of(gradient) / size
    for i in range(n):
        z = score[i] - middle
        square[i] = z * z
        along[i] = z * (gradient[i] - mean)
    length = np.sqrt(sum_of(square)) + nu
    stretch = sfa * sum_of(along) / (length * length) if n > 2 else as_type_of(sfa, 0.0)
    scale = as_type_of(sfa, -1.0) / as_type_of(sfa, samples)
    for i in range(n):
        gradient[i] = scale * (gradient[i] - mean - stretch * (score[i] - middle))
