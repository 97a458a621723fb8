"""Verbs of pair sets.

A pair set is an order of the documents (by default their ranking), a number of anchors at its head, and for each anchor
a range of turns: the anchor's partners.
"""

from typing import Annotated, Any

from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can
from rankwood._kernels.verbs import verb
from rankwood.objectives._kernels.weight_verbs import weight


@verb(forward=True, kind="uncounted")
def count_anchors(pairs, n):
    """Return the number m of anchors of a list of n documents: the anchors are the first m of the ranking.

    Parameters
    ----------
    pairs : part
        The pair set.
    n : int
        Number of documents.

    Returns
    -------
    int
        Number of anchors.

    Examples
    --------
    >>> from rankwood.extend import count_anchors
    >>> from rankwood.objectives import Top
    >>> count_anchors(Top(3), 100)
    3
    """


def _list_base_anchors(pairs, ranked, values, state, room, order):
    return list_anchors(pairs.base, ranked, values.base, state, room.base, order)


@verb(forward=_list_base_anchors, kind="uncounted")
def list_anchors(pairs, ranked, values, state, room, order):
    """Write the ranks of the anchors to the head of `order` and return their number.

    It is for sets whose anchors are not the first documents of the ranking; they have it instead of `count_anchors`.

    Parameters
    ----------
    pairs : part
        The pair set.
    ranked : Ranked
        The documents of one query by rank.
    values : array
        What `label_values` computed from the labels, by slot.
    state : int
        Random state of the query and draw, for `uniform` and `shuffle`.
    room : record
        The columns that the part names in `columns` and `index_columns`.
    order : array of int
        Where the ranks of the anchors are written.

    Returns
    -------
    int
        Number of anchors.

    Examples
    --------
    >>> from rankwood.extend import list_anchors
    >>> from rankwood.objectives import Top, TopMissed
    >>> list_anchors.verb.able(TopMissed()), list_anchors.verb.able(Top())
    (True, False)
    """


def _all_below(pairs, i, n):
    return i + 1, n


@verb(default=_all_below, forward=True, kind="uncounted")
def partners(pairs, i, n):
    """Return the first turn and the end of the turns of the i-th anchor's partners; by default all after it.

    Parameters
    ----------
    pairs : part
        The pair set.
    i : int
        Turn of the anchor, from 0.
    n : int
        Number of documents.

    Returns
    -------
    first, end : int
        The partners have the turns `first` to `end` - 1.

    Examples
    --------
    >>> from rankwood.extend import partners
    >>> from rankwood.objectives import AcrossCutoff, Top
    >>> partners(Top(3), 1, 10), partners(AcrossCutoff(3), 1, 10)
    ((2, 10), (3, 10))
    """


def _by_label(pairs, weighting, a, b, derivatives):
    w = weight(weighting, a, b)
    inside = a.first <= b.turn and b.turn < a.end
    w = w if inside and (a.label < b.label or a.label > b.label) else as_type_of(w, 0.0)
    push = w * (derivatives.above if a.label > b.label else -derivatives.below)
    return push, abs(push), w * derivatives.hessian


@verb(default=_by_label, kind="uncounted")
def pair_gradient(pairs, weighting, a, b, derivatives):
    """Return the lambda of a (that of b is its opposite), the size of the push, and the Hessian of a pair.

    By default the document with the better label is pushed up, and pairs of equal labels have no gradient.

    Parameters
    ----------
    pairs : part
        The pair set.
    weighting : part
        The weight of the objective.
    a, b : document
        The anchor and a document of its block. The anchor has `first` and `end`, the turns of its partners; b has
        `turn`.
    derivatives : PairDerivatives
        Derivatives of the loss of the pair.

    Returns
    -------
    push, size, hessian : float
        The push on a, positive if a should move up; its absolute value; and the Hessian.
    """


#: A field that takes a pair set.
Pairs = Annotated[Any, Can("count_anchors", "list_anchors")]
