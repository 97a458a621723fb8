"""Regression on labels: of each document, and up to a constant in each query."""

from rankwood._kernels.each import each, on_team, sum_of
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import part
from rankwood.objectives.document_weights import DocumentWeights, Terms


@part
class RMSE:
    r"""Half the squared error of scores as labels: MART, regression of each document by itself [friedman2001].

    :math:`\frac12 \sum_i (s_i - y_i)^2`. Queries don't matter, and a shift of all scores does: this is the only
    objective whose gradients don't sum to 0 in each query. With weights of documents, :math:`\frac12 \sum_i w_i (s_i -
    y_i)^2`.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.objectives import RMSE
    >>> rw.gradients(RMSE(), [2, 0], [0.5, 0.5])[0].tolist()
    [-1.5, 0.5]
    """

    def weigh_documents(self, terms: Terms, documents: DocumentWeights) -> Terms:
        """Return the derivatives of the weighted loss."""
        return Terms(documents.weight * terms.gradient, documents.weight * terms.hessian)

    def origin(self, middle):
        return as_type_of(middle, 0.0)

    @on_team
    def list_gradient(self, query, state, room, out):
        for i in each(query.score.size):
            out.gradient[i] = query.score[i] - query.label[i]
            out.hessian[i] = as_type_of(query.score[i], 1.0)

    def list_loss(self, query, state, room):
        square = as_type_of(query.score[0], 0.0)
        for i in range(query.score.size):
            error = query.score[i] - query.label[i]
            square += error * error
        return as_type_of(square, 0.5) * square


@part
class QueryRMSE:
    r"""Half the squared error after the query's mean error is taken off [whichtricks2023].

    :math:`\frac12 \sum_i (e_i - \bar e)^2` with :math:`e_i = s_i - y_i`. The Hessian is 1, as in CatBoost; the
    exact one is 1 - 1/n, as the mean moves with each score. With weights of documents, :math:`\frac12 \sum_i w_i
    (e_i - \bar e)^2`, and the mean is the weighted one.

    Examples
    --------
    The errors are -2 and 0, one below and one above their mean.

    >>> import rankwood as rw
    >>> from rankwood.objectives import QueryRMSE
    >>> rw.gradients(QueryRMSE(), [2, 0], [0.0, 0.0])[0].tolist()
    [-1.0, 1.0]
    """

    def weigh_documents(self, terms: Terms, documents: DocumentWeights) -> Terms:
        """Return the derivatives of the weighted loss; gradients are errors up to a constant in each query."""
        weight = documents.weight
        mean = documents.total(weight * terms.gradient) / documents.total(weight)
        return Terms(weight * (terms.gradient - mean), weight * terms.hessian)

    @on_team
    def list_gradient(self, query, state, room, out):
        score, label = query.score, query.label
        total = sum_of(score) - sum_of(label)
        mean = total / as_type_of(total, score.size)
        for i in each(score.size):
            out.gradient[i] = score[i] - label[i] - mean
            out.hessian[i] = as_type_of(mean, 1.0)

    def list_loss(self, query, state, room):
        score, label = query.score, query.label
        total = square = as_type_of(score[0], 0.0)
        for i in range(score.size):
            total += score[i] - label[i]
        mean = total / as_type_of(total, score.size)
        for i in range(score.size):
            error = score[i] - label[i] - mean
            square += error * error
        return as_type_of(total, 0.5) * square
