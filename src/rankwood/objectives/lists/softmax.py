"""Cross entropies of a list: softmax turns scores into the probabilities of documents to be first."""

from typing import ClassVar

import numpy as np

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import each, highest, on_team, only, sum_of
from rankwood._kernels.numeric.elementary import exp, exp2, log
from rankwood._kernels.numeric.rng import uniform
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood._kernels.records import documents
from rankwood.objectives.document_weights import DocumentWeights, Terms, weighted_cross_entropy

_FAR = -80.0  # exp of it is a normal number, in float32 too; documents farther behind the first count as if there


@uncounted
def softmax(score, chance, miss):
    """Fill `chance` with the softmax of the scores and `miss` with 1 minus it; return the slot of the highest score.

    1 minus the largest chance is the sum of the others: subtracted from 1 it would have no digits left.

    Parameters
    ----------
    score, chance, miss : arrays
        Scores, and two columns to fill in.

    Returns
    -------
    int
        The slot of the highest score.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import softmax
    >>> chance, miss = np.empty(2), np.empty(2)
    >>> softmax(np.zeros(2), chance, miss)
    0
    >>> chance.tolist()
    [0.5, 0.5]
    """
    best = highest(score)
    top, far = score[best], as_type_of(score[0], _FAR)
    one, zero = as_type_of(far, 1.0), as_type_of(far, 0.0)
    for i in each(score.size):
        chance[i] = exp(max(score[i] - top, far))
    for i in only(best):
        chance[i] = zero
    others = sum_of(documents(chance, 0, score.size))
    total = one + others
    share = one / total
    for i in each(score.size):
        chance[i], miss[i] = chance[i] * share, (total - chance[i]) * share
    for i in only(best):
        chance[i], miss[i] = share, others * share
    return best


@uncounted
def cross_products(score, total, chance, miss, matrix):
    """Fill a matrix with the products of two documents' chances times `total`, and 0 in its diagonal."""
    softmax(score, chance, miss)
    for i in range(score.size):
        for j in range(score.size):
            off = total * chance[i] * chance[j]
            matrix[i, j] = off if i != j else as_type_of(total, 0.0)


@uncounted
def cross_entropy(score, target):
    """Return minus the sum of `target` times the logarithms of the softmax of the scores."""
    zero, far = as_type_of(score[0], 0.0), as_type_of(score[0], _FAR)
    top, total, mass, along = score[0], zero, zero, zero
    for i in range(score.size):
        top = max(top, score[i])
    for i in range(score.size):
        total += exp(max(score[i] - top, far))
    for i in range(score.size):
        mass += target[i]
        along += target[i] * (score[i] - top)
    return mass * log(total) - along


@part
class Softmax:
    r"""Softmax loss :math:`-\sum_i y_i \log p_i`, p being the softmax of the scores [bruch2019].

    Gradient :math:`Y p_i - y_i` and Hessian :math:`Y p_i (1 - p_i)`, :math:`Y = \sum_i y_i`. Labels are taken as they
    are, without gains. CatBoost's QuerySoftMax has the same gradient, and adds 0.01 to :math:`p_i (1 - p_i)`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import Softmax
    >>> rw.gradients(Softmax(), [2, 0], [0.0, 0.0])[0].tolist()  # 2 · 1/2 - 2, and 2 · 1/2 - 0
    [-1.0, 1.0]
    """

    columns: ClassVar[tuple[str, ...]] = ("chance", "miss")

    @on_team
    def list_gradient(self, query, state, room, out):
        softmax(query.score, out.gradient, out.hessian)
        total = sum_of(query.label)
        for i in each(query.score.size):
            share = total * out.gradient[i]
            out.gradient[i], out.hessian[i] = share - query.label[i], share * out.hessian[i]

    def weigh_documents(self, terms: Terms, documents: DocumentWeights) -> Terms:
        """Return the derivatives of the loss in which each document's term has its weight."""
        return weighted_cross_entropy(terms, documents.label, documents)

    def list_loss(self, query, state, room):
        return cross_entropy(query.score, query.label)

    def cross_hessian(self, query, room, matrix):
        cross_products(query.score, sum_of(query.label), room.chance, room.miss, matrix)
        return 0


@part
class ListNet:
    r"""Cross entropy :math:`-\sum_i t_i \log p_i` of two softmaxes, t of the labels and p of the scores [cao2007].

    The top-one form of ListNet. Gradient :math:`p_i - t_i`, Hessian :math:`p_i (1 - p_i)`.

    Examples
    --------
    The softmax of the labels is (0.731, 0.269), that of the scores (0.5, 0.5).

    >>> import rankwood as rw
    >>> from rankwood.objectives import ListNet
    >>> rw.gradients(ListNet(), [1, 0], [0.0, 0.0])[0].round(3).tolist()
    [-0.231, 0.231]
    """

    columns: ClassVar[tuple[str, ...]] = ("chance", "miss")

    def label_values(self, label, discount, out):
        softmax(label, out, np.empty_like(out))

    @on_team
    def list_gradient(self, query, state, room, out):
        softmax(query.score, out.gradient, out.hessian)
        for i in each(query.score.size):
            chance = out.gradient[i]
            out.gradient[i] = chance - query.values[i]
            out.hessian[i] *= chance

    def weigh_documents(self, terms: Terms, documents: DocumentWeights) -> Terms:
        """Return the derivatives of the loss in which each document's term has its weight."""
        groups = documents.groups
        top = groups.per_row(np.maximum.reduceat(documents.label[groups.rows], groups.ptr[:-1]))
        power = exp(np.maximum(documents.label - top, _FAR))
        return weighted_cross_entropy(terms, power / documents.total(power), documents)

    def list_loss(self, query, state, room):
        return cross_entropy(query.score, query.values)

    def cross_hessian(self, query, room, matrix):
        one = as_type_of(query.score[0], 1.0)
        cross_products(query.score, one, room.chance, room.miss, matrix)
        return 0


@part
class XENDCG:
    r"""Cross entropy with targets :math:`t_i \propto 2^{y_i} - \gamma_i`, a bound on NDCG [bruch2021].

    Each :math:`\gamma_i` is uniform in [0, 1) and drawn anew each round. As in LightGBM's rank_xendcg the
    Hessian is the diagonal D of the full one H, :math:`p_i (1 - p_i)`, and the gradient g is corrected for what
    that omits: with :math:`X = 1 - D^{-1} H` it is :math:`D (1 + X + X^2) D^{-1} g`, the first terms of the
    series of :math:`D H^{-1} g`.

    A query without relevant documents has random targets too, as in LightGBM.

    Examples
    --------
    Targets are random, so the gradient depends on seed and round.

    >>> import rankwood as rw
    >>> from rankwood.objectives import XENDCG
    >>> first, again, other = (rw.gradients(XENDCG(), [3, 0], [0.0, 0.0], seed=seed)[0] for seed in (1, 1, 2))
    >>> bool(first[0] < 0), (first == again).all().item(), (first == other).all().item()
    (True, True, False)
    """

    columns: ClassVar[tuple[str, ...]] = ("chance", "term")

    def label_values(self, label, discount, out):
        # 2^y over that of the highest label: no label is too large.
        top = label.max()
        for i in range(label.size):
            out[i] = exp2(label[i] - top)

    @on_team
    def list_gradient(self, query, state, room, out):
        n = query.score.size
        chance, term = documents(room.chance, 0, n), documents(room.term, 0, n)
        if n == 1:
            return
        best = softmax(query.score, chance, out.hessian)
        share = _draw_targets(query, state, term)
        for i in each(n):
            term[i] = chance[i] - term[i] * share
            out.gradient[i] = term[i]
        for _ in range(2):
            _spread(chance, out.hessian, best, term)
            for i in each(n):
                out.gradient[i] += term[i]
        for i in each(n):
            out.hessian[i] *= chance[i]

    def list_loss(self, query, state, room):
        if query.score.size == 1:
            return as_type_of(query.score[0], 0.0)
        term = documents(room.term, 0, query.score.size)
        return _draw_targets(query, state, term) * cross_entropy(query.score, term)


@uncounted
def _draw_targets(query, state, term):
    """Fill `term` with targets that don't add up to 1 yet; return the factor with which they do."""
    top = query.label[highest(query.label)]
    unit = as_type_of(query.score[0], exp2(-np.float64(top)))
    for i in each(query.score.size):
        term[i] = query.values[i] - unit * uniform(unit, state, i)
    total = as_type_of(unit, 1e-15) + sum_of(term)  # every draw might be 1 in float32
    return as_type_of(unit, 1.0) / total


@uncounted
def _spread(chance, miss, best, term):
    """Replace g in `term` by D X D^-1 g, which is p_i times the sum of g_j / (1 - p_j) over all others.

    The first document is kept apart: its 1 - p may be so small that its share of a sum would drown the rest.
    """
    first = term[best] / miss[best]
    for i in each(term.size):
        term[i] /= miss[i]
    for i in only(best):
        term[i] = as_type_of(first, 0.0)
    rest = sum_of(term)
    for i in each(term.size):
        term[i] = chance[i] * first + chance[i] * (rest - term[i])
    for i in only(best):
        term[i] = chance[i] * rest
