"""What the parts of a pairwise objective can do, as verbs.

Verbs of the pair loop take two documents as records of scalars, never the query and an index: that is
what lets the loop vectorise. Work that needs the whole query is done per document, in `prepare`.
"""

from rankwood._jit import verb


def _nothing(part, q, worth):
    return ()


def prepare(part, q, worth):
    """Return the per-rank record that `weight` reads, made anew for each ranking."""


prepare = verb(prepare, default=_nothing)


@verb
def weight(w, x, y, a, b):
    """Weight of the pair of documents x and y; a and b are their parts of the record."""


@verb
def select(pairs, n):
    """Number m of anchors: the pairs (i, j) with i < m and i < j < n are visited."""


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
