"""Verbs of weights of pairs."""

from typing import Annotated, Any

from rankwood._kernels.each import on_team
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.parts import Can
from rankwood._kernels.verbs import verb


@on_team
def _nothing(weight, ranked, values, room):
    return ()


@on_team
def _prepare_base(weight, ranked, values, room):
    return prepare(weight.base, ranked, values.base, room.base)


@verb(default=_nothing, forward=_prepare_base, kind="uncounted inline")
def prepare(weight, ranked, values, room):
    """Fill `room` for a ranking and return the record by rank whose entries `weight` reads as `a.own` and `b.own`.

    Parameters
    ----------
    weight : part
        The weight.
    ranked : Ranked
        The documents of one query by rank.
    values : array or record
        What `label_values` computed from the labels, by slot. It is a record with the names of the fields if fields of
        the part are parts.
    room : record
        The columns that the part names in `columns`, to be filled; a record of records if fields are parts.

    Returns
    -------
    record
        Columns by rank, which must be columns of `room`, and constants. If two classes are moved apart, columns of
        `room` move with their documents.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from rankwood.extend import Ranked, prepare
    >>> from rankwood.objectives import YetiRR
    >>> ranked = Ranked(2, np.array([0.0, 1.0]), np.zeros(2), np.arange(2), np.ones(2))
    >>> room = SimpleNamespace(inverse=np.empty(2), relevant=np.empty(2), above=np.empty(2))
    >>> prepare(YetiRR(), ranked, (), room).inverse.tolist()
    [1.0, 0.5]
    """


def _nothing_to_look_up(weight, own, anchors, block):
    return 0


@verb(default=_nothing_to_look_up, forward=True, kind="uncounted")
def look_up(weight, own, anchors, block):
    """Write into the record what depends on the ranks of four anchors and of the documents in a block.

    It is for weights that need a table look-up by the distance of two ranks: no vector loop can gather while it also
    stores. By default nothing is written.

    Parameters
    ----------
    weight : part
        The weight.
    own : record
        What `prepare` returned.
    anchors : tuple of documents
        Four documents, whose partners are in the block.
    block : DocBlock
        Documents `start` to `end` in the order of the loop, and their `ranks`.
    """


#: In place of r: what is seen of the anchor itself.
ANCHOR_ITSELF = -1


def _everything(weight, own, r):
    return own


@verb(default=_everything, forward=True, kind="uncounted")
def seen_by(weight, own, r):
    """Return what the r-th of four anchors sees of a document's entry of the record; by default all of it.

    Parameters
    ----------
    weight : part
        The weight.
    own : record
        A document's entry of what `prepare` returned.
    r : int
        Number of the anchor, 0 to 3, or -1 for the entry of the anchor itself.

    Returns
    -------
    record
        The entry that `weight` reads as `own`.
    """


@verb(forward=True, kind="uncounted")
def weight(weight, a, b):
    """Return the weight of the pair of documents a and b, the same both ways.

    Parameters
    ----------
    weight : part
        The weight.
    a, b : document
        Records of numbers: `label`, `score`, `rank` (from 0, as a float), and `own`, the document's entry of what
        `prepare` returned. Either may be the better one.

    Returns
    -------
    float
        The weight, at least 0.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankwood.extend import weight
    >>> from rankwood.objectives import LabelGap
    >>> weight(LabelGap(), SimpleNamespace(label=3.0), SimpleNamespace(label=1.0))
    2.0
    """


def _if_better(part, a, b):
    w = weight(part, a, b)
    return w if a.label > b.label else as_type_of(w, 0.0)


@verb(default=_if_better, forward=True, kind="uncounted")
def weight_above(weight, a, b):
    """Return the weight of ranking a above b, for sets of ordered pairs; by default 0 unless a has the better label.

    Parameters
    ----------
    weight : part
        The weight.
    a, b : document
        The document that should be above, and the other one.

    Returns
    -------
    float
        The weight, at least 0.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankwood.extend import weight_above
    >>> from rankwood.objectives import LabelGap, WinnerLabel
    >>> a, b = SimpleNamespace(label=1.0), SimpleNamespace(label=3.0)
    >>> float(weight_above(LabelGap(), a, b)), weight_above(WinnerLabel(), a, b)
    (0.0, 1.0)
    """


@verb(kind="uncounted")
def gap_weight(f, beyond):
    """Return the weight of a pair whose ranks are `beyond` farther apart than the smallest distance that counts.

    Parameters
    ----------
    f : part
        A function of the distance.
    beyond : int
        The distance of the ranks less k: 0, 1, 2, ...

    Returns
    -------
    float
        The weight, at least 0.

    Examples
    --------
    >>> from rankwood.extend import gap_weight
    >>> from rankwood.objectives import Geometric
    >>> gap_weight(Geometric(0.5), 2)
    0.25
    """


#: A field that takes a weight of pairs.
Weight = Annotated[Any, Can("weight")]
