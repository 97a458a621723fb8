"""QueryRMSE: regression on labels, up to a constant in each query."""

from rankwood._core.jit import like, part
from rankwood.objectives._kernels import verbs  # noqa: F401  (the verbs must exist before the parts)


@part
class QueryRMSE:
    r"""Half the squared error after the query's mean error is taken off [whichtricks2023].

    :math:`\frac12 \sum_i (e_i - \bar e)^2` with :math:`e_i = s_i - y_i`. The hessian is 1, as in CatBoost; exactly
    it is 1 - 1/n, as the mean moves along.
    """

    def derive(self, label, score, worth, table, state, grad, hess):
        total = like(score[0], 0.0)
        for i in range(score.size):  # sums have loops of their own, see `softmax`
            total += score[i] - label[i]
        mean = total / like(total, score.size)
        for i in range(score.size):
            grad[i] = score[i] - label[i] - mean
            hess[i] = like(mean, 1.0)
