"""Cross entropies of a list: scores become the chances of documents to be first, by softmax."""

import numpy as np

from rankwood._core.jit import exp, inner, like, part
from rankwood._core.rng import uniform
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)

_FAR = -80.0  # exp of it is a normal number, in float32 too; documents farther behind the first count as if there


@inner
def softmax(score, chance, miss):
    """Fill `chance` with the softmax of the scores and `miss` with 1 minus it; return the slot of the highest score.

    1 minus the largest chance is added up from the others: taken from 1 it would have no digits left.

    Loops that add up store nothing. Where a loop does both, the compiled code looks at run time whether two arrays are
    close to each other and adds up in another order if they are: bits would depend on where they lie.
    """
    best = 0
    for i in range(score.size):
        best = i if score[i] > score[best] else best
    top, far, others = score[best], like(score[0], _FAR), like(score[0], 0.0)
    for i in range(score.size):
        chance[i] = exp(max(score[i] - top, far))
    for i in range(score.size):
        others += chance[i] if i != best else like(others, 0.0)
    total = like(others, 1.0) + others
    share = like(others, 1.0) / total
    for i in range(score.size):
        left = others if i == best else total - chance[i]
        chance[i], miss[i] = chance[i] * share, left * share
    return best


@inner
def together(score, total, out):
    """Fill the matrix `out` with the products of chances times `total`, 0 in its diagonal."""
    n = score.size
    chance, miss = np.empty(n, score.dtype), np.empty(n, score.dtype)
    softmax(score, chance, miss)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = total * chance[i] * chance[j] if i != j else like(total, 0.0)


@part
class Softmax:
    r"""Softmax loss :math:`-\sum_i y_i \log p_i`, p being the softmax of the scores [bruch2019].

    Gradient :math:`Y p_i - y_i` and hessian :math:`Y p_i (1 - p_i)`, :math:`Y = \sum_i y_i`. Labels as they are,
    no gains. CatBoost's QuerySoftMax has the same gradient, and adds 0.01 to :math:`p_i (1 - p_i)`.
    """

    def derive(self, label, score, worth, table, state, grad, hess):
        softmax(score, grad, hess)
        total = like(score[0], 0.0)
        for i in range(score.size):
            total += label[i]
        for i in range(score.size):
            share = total * grad[i]
            grad[i], hess[i] = share - label[i], share * hess[i]

    def bend(self, label, score, worth, out):
        total = like(score[0], 0.0)
        for i in range(score.size):
            total += label[i]
        together(score, total, out)


@part
class ListNet:
    r"""Cross entropy :math:`-\sum_i t_i \log p_i` of two softmaxes, t of the labels and p of the scores [cao2007].

    The top-one form of ListNet. Gradient :math:`p_i - t_i`, hessian :math:`p_i (1 - p_i)`.
    """

    def worth(self, label, table, out):
        softmax(label, out, np.empty_like(out))

    def derive(self, label, score, worth, table, state, grad, hess):
        softmax(score, grad, hess)
        for i in range(score.size):
            chance = grad[i]
            grad[i], hess[i] = chance - worth[i], chance * hess[i]

    def bend(self, label, score, worth, out):
        together(score, like(score[0], 1.0), out)


@part
class XENDCG:
    r"""Cross entropy with targets :math:`t_i \propto 2^{y_i} - \gamma_i`, a bound on NDCG [bruch2021].

    Each :math:`\gamma_i` is uniform in [0, 1) and drawn anew each round. As in LightGBM's rank_xendcg the
    hessian is the diagonal D of the full one H, :math:`p_i (1 - p_i)`, and the gradient g is corrected for what
    that leaves out: with :math:`X = 1 - D^{-1} H` it is :math:`D (1 + X + X^2) D^{-1} g`, a start of the series of
    :math:`D H^{-1} g`.

    A query without relevant documents has random targets too, as in LightGBM.
    """

    def worth(self, label, table, out):
        # 2^y over that of the highest label: no label is too large.
        top = label.max()
        for i in range(label.size):
            out[i] = 2.0 ** (label[i] - top)

    def derive(self, label, score, worth, table, state, grad, hess):
        n = score.size
        if n == 1:
            return
        work = np.empty((2, n), score.dtype)
        chance, term = work[0], work[1]
        best = softmax(score, chance, hess)
        unit = like(score[0], 2.0 ** -float(label.max()))
        for i in range(n):
            term[i] = worth[i] - unit * uniform(unit, state, i)
        total = like(unit, 1e-15)  # every draw might be 1 in float32
        for i in range(n):
            total += term[i]
        share = like(unit, 1.0) / total
        for i in range(n):
            term[i] = chance[i] - term[i] * share
            grad[i] = term[i]
        for _ in range(2):
            _spread(chance, hess, best, term)
            for i in range(n):
                grad[i] += term[i]
        for i in range(n):
            hess[i] *= chance[i]


@inner
def _spread(chance, miss, best, term):
    """Replace g in `term` by D X D^-1 g, which is p_i times the sum of g_j / (1 - p_j) over all others.

    The first document is kept apart: its 1 - p may be so small that its share of a sum would drown the rest.
    """
    rest = like(term[0], 0.0)
    for i in range(term.size):
        term[i] /= miss[i]
    for i in range(term.size):
        rest += term[i] if i != best else like(rest, 0.0)
    first = term[best]
    for i in range(term.size):
        term[i] = chance[i] * first + chance[i] * (rest - term[i])
    term[best] = chance[best] * rest
