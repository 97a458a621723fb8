"""The records between the steps of the kernels.

A document has four coordinates, and every column is by one of them:

    row     its index in the caller's arrays
    slot    its index in its query, as the plan has it
    rank    its index by decreasing score; ties are broken by slot
    place   its index in the pair loop: its rank, unless two classes are moved apart

    scores[row] --rank--> slot by rank --arrange--> slot by place --visit--> sums by place --write--> out[row]

A document also has a *turn*, its number in the order of the pair set: an anchor's partners have the turns `first` up to
`end`. The turn is the place, unless the pair set lists its anchors: then these have the first turns.

The *push* of a document is its lambda, minus its gradient: it is positive if the document should move up.
"""

from collections import namedtuple

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.verbs import verb

#: Everything that stays the same between rounds: the lowered objective and steps, the plan, and the slots by
#: rank of each query in the round before.
KernelTask = namedtuple("KernelTask", "objective steps plan last_ranking")
#: Where results go: gradients and Hessians, and the first entry of each query if they are of pairs of documents.
Out = namedtuple("Out", "grad hess start")
#: One query of the plan: its number, n documents, the length to which the pair loop pads them (`padded`), and its first
#: position in the plan (`start`).
Query = namedtuple("Query", "number n padded start rows label values discount")
#: One query of an objective without pairs, by slot.
ListQuery = namedtuple("ListQuery", "label score values discount")
#: Derivatives of one query, by slot.
Derivatives = namedtuple("Derivatives", "gradient hessian")

#: What the pair loop sees of one document: its score relative to the middle of the query's range, what the loss made of
#: it, its rank as a float, its entry of what the weight prepared (`own`), its turn, and an anchor's partners.
Doc = namedtuple("Doc", "label score embedded rank own turn first end")
#: Documents `start` to `end` in the order of the loop, and their ranks.
DocBlock = namedtuple("DocBlock", "start end ranks")
#: Columns of `Doc` by place, the anchors among them, the slot of each place, and its rank; n documents, `padded`.
Arranged = namedtuple("Arranged", "n padded docs anchors slot ranks")
#: The slot of each place.
Places = namedtuple("Places", "slot")


class PairDerivatives(namedtuple("PairDerivatives", "above below hessian")):
    """Derivatives of the loss of a pair of documents, without the constant factors of the loss.

    Parameters
    ----------
    above : float
        The push if the first document should be above.
    below : float
        The push if the second document should be above.
    hessian : float
        The second derivative, at least 0.

    Examples
    --------
    >>> from rankwood.extend import PairDerivatives
    >>> PairDerivatives(above=0.5, below=0.5, hessian=0.25).hessian
    0.25
    """

    __slots__ = ()


@verb(kind="uncounted inline")
def rank_at(ranks, j):
    """Return the rank of place j."""


class RankIsPlace(namedtuple("RankIsPlace", "")):
    """Documents are in rank order."""

    __slots__ = ()

    def rank_at(self, j):
        return j


class RankByPlace(namedtuple("RankByPlace", "rank")):
    """Documents have moved: a column has the rank of each place."""

    __slots__ = ()

    def rank_at(self, j):
        return self.rank[j]


@verb(kind="uncounted inline")
def place_of_anchor(anchors, t):
    """Return the place of the t-th anchor."""


@verb(kind="uncounted inline")
def first_partner(anchors, t, first):
    """Return where the partners of four anchors, from the t-th on, may begin; their ranges begin at `first`."""


class Runs(namedtuple("Runs", "stop again end")):
    """Anchors at the places 0 to `stop` and `again` to `end`."""

    __slots__ = ()

    def place_of_anchor(self, t):
        return t

    def first_partner(self, t, first):
        return first


class Listed(namedtuple("Listed", "stop again end lead places")):
    """`stop` anchors at the places that `places` lists; the first `lead` of them are at 0, 1, ..."""

    __slots__ = ()

    def place_of_anchor(self, t):
        return self.places[t]

    def first_partner(self, t, first):
        # Partners may be anywhere behind the leading anchors.
        return as_type_of(first, t + 1 if t < self.lead else self.lead)


@uncounted
def beside(doc, own):
    """Return a document with another entry of a record as its own: what a weight inside another weight sees.

    Parameters
    ----------
    doc : Doc
        A document, as a verb of a weight gets it.
    own : record
        The entry of the weight inside, such as ``doc.own.base``.

    Returns
    -------
    Doc
        The document with `own` replaced.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankwood.extend import beside
    >>> fields = dict.fromkeys(("label", "score", "embedded", "rank", "turn", "first", "end"), 0.0)
    >>> beside(SimpleNamespace(**fields, own="both"), "inside").own
    'inside'
    """
    return Doc(doc.label, doc.score, doc.embedded, doc.rank, own, doc.turn, doc.first, doc.end)
