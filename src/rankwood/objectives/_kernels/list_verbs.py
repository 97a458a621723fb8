"""Verbs of objectives without pairs."""

from rankwood._core.verbs import verb


@verb(kind="uncounted")
def list_gradient(objective, query, state, room, out):
    """Fill `out.gradient` and `out.hessian` of one query, for objectives without pairs; all columns are by slot.

    Parameters
    ----------
    objective : part
        The objective.
    query : ListQuery
        One query: `label`, `score`, `values` (what `label_values` computed) and `discount`.
    state : int
        Random state of the query, for `uniform` and its kin.
    room : record
        The columns that the part names in `columns` and `index_columns`.
    out : record
        The columns `gradient` and `hessian`, to be filled.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from rankwood.extend import list_gradient
    >>> from rankwood.objectives import QueryRMSE
    >>> query = SimpleNamespace(label=np.array([2.0, 0.0]), score=np.zeros(2))
    >>> out = SimpleNamespace(gradient=np.empty(2), hessian=np.empty(2))
    >>> list_gradient(QueryRMSE(), query, 0, (), out)
    >>> out.gradient.tolist(), out.hessian.tolist()
    ([-1.0, 1.0], [1.0, 1.0])
    """


@verb(kind="uncounted")
def list_loss(objective, query, state, room):
    """Return the loss of one query, whose gradient `list_gradient` has just filled; for `RankingLoss`.

    Parameters
    ----------
    objective, query, state, room : part, ListQuery, int and record
        The same as those of `list_gradient`.

    Returns
    -------
    float
        The loss.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from rankwood.extend import list_loss
    >>> from rankwood.objectives import QueryRMSE
    >>> query = SimpleNamespace(label=np.array([2.0, 0.0]), score=np.zeros(2))
    >>> float(list_loss(QueryRMSE(), query, 0, ()))  # (1 + 1) / 2
    1.0
    """


def _diagonal(objective, query, room, matrix):
    return 0


@verb(default=_diagonal, kind="uncounted")
def cross_hessian(objective, query, room, matrix):
    """Fill `matrix` with minus the second derivatives by two different scores of one query, for models of pairs.

    By default nothing is filled: the derivatives are 0.

    Parameters
    ----------
    objective : part
        The objective.
    query, room : record
        The same as those of `list_gradient`.
    matrix : array of shape (n, n)
        Where the derivatives are written; it holds zeros.

    Examples
    --------
    The Hessian of a softmax with the probabilities 1/2 and 1/2 has -1/4 off its diagonal.

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from rankwood.extend import cross_hessian
    >>> from rankwood.objectives import Softmax
    >>> query = SimpleNamespace(label=np.array([1.0, 0.0]), score=np.zeros(2))
    >>> matrix = np.zeros((2, 2))
    >>> done = cross_hessian(Softmax(), query, SimpleNamespace(chance=np.empty(2), miss=np.empty(2)), matrix)
    >>> matrix[0, 1].item(), matrix[1, 0].item()
    (0.25, 0.25)
    """
