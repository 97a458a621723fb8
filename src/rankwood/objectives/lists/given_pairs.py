"""RankNet on the pairs that come with the data."""

from typing import ClassVar

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.each import each, on_team
from rankwood._kernels.numeric.elementary import exp, log1p
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part

_FAR = 80.0  # a pair whose scores are farther apart counts as that far apart: exp(-80) is a number in float32 too


@part
class RankNetPairs:
    r"""RankNet's loss of the pairs that come with the data: :math:`\sum_{(i, j)} w_{ij} \log(1 + e^{s_j - s_i})`.

    The sum is over the pairs of `RankingData.pairs`, where i is the winner and j the loser [burges2005]; labels aren't
    read. It is CatBoost's PairLogit with pairs. A pair that was given twice counts twice, and of two opposite ones
    each counts.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import RankNetPairs
    >>> data = rw.RankingData([[0.1], [0.7], [0.3]], [0, 0, 0], pairs=[[0, 1, 1.0], [0, 2, 3.0]])
    >>> rw.gradients(RankNetPairs(), data, [0.0, 0.0, 0.0])[0].tolist()
    [-2.0, 0.5, 1.5]
    """

    needs_pairs: ClassVar[bool] = True

    @on_team
    def list_gradient(self, query, state, room, out):
        score, pairs = query.score, query.values
        for i in each(score.size):
            gradient = hessian = as_type_of(score[0], 0.0)
            for at in range(pairs.first[i], pairs.end[i]):
                push = pairs.push.values[at]
                wrong, curve = _slopes(score[i] - score[pairs.partner.values[at]], push)
                gradient -= push * wrong
                hessian += abs(push) * curve
            out.gradient[i], out.hessian[i] = gradient, hessian

    def list_loss(self, query, state, room):
        score, pairs = query.score, query.values
        total = zero = as_type_of(score[0], 0.0)
        for i in range(score.size):
            for at in range(pairs.first[i], pairs.end[i]):
                push = pairs.push.values[at]
                if push > 0:  # every pair is there twice
                    ahead = score[i] - score[pairs.partner.values[at]]
                    total += push * (log1p(_odds(ahead)) + max(-ahead, zero))
        return total

    def cross_hessian(self, query, room, matrix):
        score, pairs = query.score, query.values
        for i in range(score.size):
            for at in range(pairs.first[i], pairs.end[i]):
                push, j = pairs.push.values[at], pairs.partner.values[at]
                matrix[i, j] += abs(push) * _slopes(score[i] - score[j], push)[1]
        return 0


@uncounted
def _odds(difference):
    """Return e to the power of minus the distance of two scores."""
    return exp(-min(abs(difference), as_type_of(difference, _FAR)))


@uncounted
def _slopes(difference, push):
    """Return the probability that a pair is in the wrong order, and its slope; `push` is above 0 for a winner."""
    odds = _odds(difference)
    near = as_type_of(odds, 1.0) / (as_type_of(odds, 1.0) + odds)
    ahead = (difference > 0) == (push > 0)
    return odds * near if ahead else near, odds * near * near
