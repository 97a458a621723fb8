"""Verbs of objectives without pairs."""

from rankwood._kernels.verbs import verb


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
    """


def _middle(objective, middle):
    return middle


@verb(default=_middle, forward=True, kind="uncounted")
def origin(objective, middle):
    """Return what the scores of a query are relative to when `list_gradient` gets them.

    By default it is the middle of their range: a ranking loss depends on differences of scores only, and in float32
    they keep their digits.

    Parameters
    ----------
    objective : part
        The objective.
    middle : float
        The middle of the range of the query's scores.

    Returns
    -------
    float
        What is subtracted from every score: the middle, or 0 if the loss depends on the scores themselves.
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
    """
