"""What the parts of an objective can do, as verbs.

Verbs of the pair loop take two documents as records of scalars, never the query and an index: that is what lets the
loop vectorise. Work that needs the whole query is done once per ranking, in `prepare`. All of these verbs allocate
nothing: they fill memory that they are given, so that the same parts can be compiled for other devices.
"""

from typing import Annotated, Any

from rankwood._core.numeric import as_type_of
from rankwood._core.parts import Can
from rankwood._core.verbs import verb

__all__ = [
    "Loss",
    "Noise",
    "Pairs",
    "Scale",
    "Weight",
    "count_anchors",
    "cross_hessian",
    "embed",
    "factors",
    "largest_score",
    "list_anchors",
    "list_gradient",
    "list_loss",
    "look_up",
    "pair_derivatives",
    "pair_gradient",
    "pair_losses",
    "partners",
    "perturb",
    "prepare",
    "scale",
    "seen_by",
    "weight",
    "weight_above",
]

# Weights of pairs.


def _nothing(weight, ranked, values, room):
    return ()


def _prepare_base(weight, ranked, values, room):
    return prepare(weight.base, ranked, values.base, room.base)


@verb(default=_nothing, forward=_prepare_base, kind="uncounted inline")
def prepare(weight, ranked, values, room):
    """Fill `room` for a ranking and return the record by rank whose entries `weight` reads as `a.own` and `b.own`.

    `ranked` is a `rankwood.metrics.Ranked`; `values` holds what `label_values` made of the labels, and `room` the
    columns that the part names in `columns`: both are records with the names of the fields that are parts. Columns by
    rank in the result must be columns of `room`: those move with the documents if two classes are moved apart.
    """


def _nothing_to_look_up(weight, own, anchors, block):
    return 0


@verb(default=_nothing_to_look_up, forward=True, kind="uncounted")
def look_up(weight, own, anchors, block):
    """Write into the record what depends on the ranks of four anchors and of the documents in a `DocBlock`.

    For weights that need a table look-up by the distance of two ranks: no vector loop can gather while it also stores.
    """


#: In place of r: what is seen of the anchor itself.
ANCHOR_ITSELF = -1


def _everything(weight, own, r):
    return own


@verb(default=_everything, forward=True, kind="uncounted")
def seen_by(weight, own, r):
    """Return what the r-th of four anchors sees of a document's entry of the record; r may be `ANCHOR_ITSELF`."""


@verb(forward=True, kind="uncounted")
def weight(weight, a, b):
    """Return the weight of the pair of documents a and b, the same both ways; `a.own` is a's entry of the record."""


def _if_better(part, a, b):
    w = weight(part, a, b)
    return w if a.label > b.label else as_type_of(w, 0.0)


@verb(default=_if_better, forward=True, kind="uncounted")
def weight_above(weight, a, b):
    """Return the weight of ranking a above b, for sets of ordered pairs; by default 0 unless a has the better label."""


# Pair sets. A pair set is an order of the documents (by default their ranking), a number of anchors at its head,
# and for each anchor a range of turns: the anchor's partners.


@verb(forward=True, kind="uncounted")
def count_anchors(pairs, n):
    """Return the number m of anchors of a list of n documents: they are the first m of the ranking."""


def _list_base_anchors(pairs, ranked, values, state, room, order):
    return list_anchors(pairs.base, ranked, values.base, state, room.base, order)


@verb(forward=_list_base_anchors, kind="uncounted")
def list_anchors(pairs, ranked, values, state, room, order):
    """Write the ranks of the anchors to the head of `order` and return their number.

    For sets whose anchors are not the first documents of the ranking; they take the place of `count_anchors`.
    """


def _all_below(pairs, i, n):
    return i + 1, n


@verb(default=_all_below, forward=True, kind="uncounted")
def partners(pairs, i, n):
    """Return the first turn and the end of the turns of the i-th anchor's partners; by default all after it."""


def _by_label(pairs, weighting, a, b, derivatives):
    w = weight(weighting, a, b)
    inside = a.first <= b.turn and b.turn < a.end
    w = w if inside and (a.label < b.label or a.label > b.label) else as_type_of(w, 0.0)
    push = w * (derivatives.above if a.label > b.label else -derivatives.below)
    return push, abs(push), w * derivatives.hessian


@verb(default=_by_label, kind="uncounted")
def pair_gradient(pairs, weighting, a, b, derivatives):
    """Return the lambda of a (that of b is its opposite), the size of the push, and the Hessian of a pair."""


# Losses of pairs.


@verb(kind="uncounted")
def embed(loss, score):
    """Return what `pair_derivatives` needs of one document's score."""


@verb(kind="uncounted")
def largest_score(loss):
    """Return the largest distance of a score from 0 that `embed` can take; beyond it a loss has no slope left."""


@verb(kind="uncounted")
def pair_derivatives(loss, a, b):
    """Return `PairDerivatives`: the push if a should be above b, the push if b should be, and the Hessian."""


@verb(kind="uncounted")
def pair_losses(loss, a, b, derivatives):
    """Return the loss if a should be above b, and the loss if b should be; `derivatives` are those of the pair."""


@verb(kind="uncounted")
def factors(loss):
    """Return constant factors of the push and of the Hessian."""


# Scales, noise, and objectives without pairs.


@verb(kind="uncounted")
def scale(scale, total):
    """Return the factor on a query's lambdas, given the sum of their sizes."""


@verb(kind="uncounted")
def perturb(noise, score, draw, state, out):
    """Fill `out` with noisy scores, for the given draw; `state` is the random state of query and draw."""


@verb(kind="uncounted")
def list_gradient(objective, query, state, room, out):
    """Fill `out.gradient` and `out.hessian` of one query, for objectives without pairs; all columns are by slot.

    `query` is a `ListQuery`; `room` has the columns that the part names in `columns` and `index_columns`.
    """


@verb(kind="uncounted")
def list_loss(objective, query, state, room):
    """Return the loss of one query, whose gradient `list_gradient` has just filled; arguments are the same."""


def _diagonal(objective, query, room, matrix):
    return 0


@verb(default=_diagonal, kind="uncounted")
def cross_hessian(objective, query, room, matrix):
    """Fill `matrix` with minus the second derivatives by two different scores of one query; by default they are 0.

    For models that score pairs.
    """


#: Kinds of fields.
Weight = Annotated[Any, Can("weight")]
Pairs = Annotated[Any, Can("count_anchors", "list_anchors")]
Loss = Annotated[Any, Can("pair_derivatives", needs=("embed", "largest_score", "factors"))]
Scale = Annotated[Any, Can("scale")]
Noise = Annotated[Any, Can("perturb")]
