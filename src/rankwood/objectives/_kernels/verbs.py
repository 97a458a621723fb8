"""What the parts of a pairwise objective can do, as verbs.

Verbs of the pair loop take two documents as records of scalars, never the query and an index: that is
what lets the loop vectorise. Work that needs the whole query is done per document, in `prepare`.
"""

from rankwood._core.jit import like, verb


def _nothing(part, q, worth):
    return ()


def prepare(part, q, worth):
    """Return the per-rank record that `weight` reads, made anew for each ranking."""


prepare = verb(prepare, default=_nothing)


def _nothing_to_look_up(w, own, ranks, rank, moved, start, end):
    return 0


def relate(w, own, ranks, rank, moved, start, end):
    """Write into the record what depends on the ranks of four anchors and of the documents from `start` to `end`.

    Documents are in rank order, or, if they are `moved`, of the ranks that `rank` lists.

    For weights that look something up by the distance of two ranks: no vector loop can do that while it
    also stores. By default there is nothing to look up.
    """


relate = verb(relate, default=_nothing_to_look_up)


def _as_it_is(w, b, r):
    return b


def facing(w, b, r):
    """Return what the r-th of four anchors sees of a document's part of the record; by default all of it.

    With r = -1, what is seen of the anchor itself.
    """


facing = verb(facing, default=_as_it_is)


@verb
def weight(w, x, y, a, b):
    """Weight of the pair of documents x and y, the same both ways; a and b are their parts of the record."""


def _by_label(w, x, y, a, b):
    v = weight(w, x, y, a, b)
    return v if x.label > y.label else like(v, 0.0)


def toward(w, x, y, a, b):
    """Weight of the wish to see x above y, for sets that ask for both; by default only the better label has one."""


toward = verb(toward, default=_by_label)

# A pair set is a working order of the documents (by default their ranking), a number of anchors at its
# head, and for each anchor a range of places: the anchor's partners.


@verb
def select(pairs, q, n, worth, order, state):
    """Number m of anchors, which are the first m of `order` (rank of each place).

    A set whose anchors are not the first m of the ranking writes their ranks there, and says so by an attribute
    `scattered`; the others follow in rank order.
    """


def _below(pairs, i, n):
    return i + 1, n


def span(pairs, i, n):
    """First and end of the places whose documents pair with the anchor at place i; all below it by default."""


span = verb(span, default=_below)


@verb
def lay(labels, docs, order):
    """Tell whether documents are moved into the order of the loop, and return them in it."""


def _graded(pairs, w, x, y, above, below, bend):
    v = weight(w, x, y, x.own, y.own)
    inside = x.first <= y.place and y.place < x.end
    v = v if inside and (x.label < y.label or x.label > y.label) else like(v, 0.0)
    push = v * (above if x.label > y.label else -below)
    return push, abs(push), v * bend


def lean(pairs, w, x, y, above, below, bend):
    """Lambda of x (that of y is its opposite), sum of what the pair pushes, and curvature; by default by labels."""


lean = verb(lean, default=_graded)


@verb
def split(labels, label, n, m, pairs, order, first, end, spare):
    """Bring `order` into the order of the loop and fill the anchors' ranges; return where the anchors are.

    They are at the places 0 to the first number, and from the second to the third.
    """


@verb
def embed(loss, score):
    """What `slope` needs of one document's score."""


@verb
def reach(loss):
    """Largest distance of a score from 0 that `embed` can take; at that distance a pair's slope has run out."""


@verb
def slope(loss, x, y):
    """Push on a pair if x should be above y, push if y should be above x, curvature (the same both ways)."""


@verb
def units(loss):
    """Constant factors of the push and of the curvature."""


@verb
def scale(s, total):
    """Factor on a query's lambdas, given their sum."""


@verb
def shake(noise, score, draw, state, out):
    """Fill `out` with noisy scores, the `draw`-th time; `state` is the random state of query and draw."""


@verb
def derive(obj, label, score, worth, table, state, grad, hess):
    """Fill `grad` and `hess` of one query, for objectives without pairs; all arrays are by slot.

    `worth` is what the parts inside made of the labels, `table` the discounts by rank.
    """


def _diagonal(obj, label, score, worth, out):
    return 0


def bend(obj, label, score, worth, out):
    """Fill the matrix `out`, row after row, with minus the second derivatives by two different scores of one query.

    For models that score pairs. By default they count as 0.
    """


bend = verb(bend, default=_diagonal)
