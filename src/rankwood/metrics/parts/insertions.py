r"""What a document gains by moving up past another, at the same cost for all metrics here.

Take document i out of a ranking and put it back just above j, or just below j: in both cases the documents above the
two are the same, those below them too, and so are their positions. So the metric changes as it does when two
neighbours swap, and only these two and what lies above them matter. With v the values, d the discounts (0 beyond k),
p the upper position of the two and d' = d_p - d_{p+1}, the change is

* :math:`(v_i - v_j) \, d'` for a sum of value times discount;
* :math:`(r_i - r_j) \, d' \prod (1 - r)`, a product over the documents above, for ERR and PFound: the terms with
  :math:`r_i r_j` are the same both ways;
* :math:`(v_i - v_j) \, d' (A + 1)` for average precision, with d = 1 / position and A relevant documents above: the
  relevant one of the two, if there is one, counts A + 1 hits at its position, and every other relevant document has
  as many above itself as before;
* :math:`(v_i - v_j) \, d'` for the reciprocal rank, if no relevant document is above.

All of this is known from the ranking with i in it, in which j has rank r. If i is below j, nothing above j changes and
p = r. If i is above j, then p = r - 1, and i must not count among the documents above: its factor 1 - r_i is divided
out of the product, and A is less by one if i is relevant. In the latter case i is relevant whenever j is not, or
nothing changes: so A + 1 is the number of relevant documents down to rank r, which depends on j alone.
"""

from collections import namedtuple

from rankwood._kernels.compile.jit import uncounted
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood.metrics.parts.additive import Gains, by_rank, inverse_positions
from rankwood.metrics.verbs import swap_record

SMALLEST_MISS = 1e-14  # a lower bound of 1 - r, which is divided by: it moves no value by more


class Insertions(namedtuple("Insertions", "gain below above own")):
    """Record by rank of what a metric gains when document i moves from just below document j to just above it.

    The gain is (gain_i - gain_j) times `below` of j if i is ranked below j. If i is ranked above j, it is
    (gain_i - gain_j) times `above` of j times `own` of i.

    Parameters
    ----------
    gain : array of float
        Value of each document.
    below, above, own : array of float
        Factors of each document, see above.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import Insertions
    >>> room = Insertions(*np.zeros((4, 3)))  # for a list of three documents
    >>> room.gain.tolist()
    [0.0, 0.0, 0.0]
    """

    __slots__ = ()


@uncounted
def _differences(room, n):
    """Replace the discounts in `below` by their fall to the next position; `above` gets that from the one before."""
    before = room.below[0]
    for i in range(n):
        here = room.below[i]
        room.below[i] = here - room.below[i + 1] if i + 1 < n else as_type_of(here, 0.0)
        room.above[i] = before - here
        room.own[i] = as_type_of(here, 1.0)
        before = here
    return room


def additive_insertions(self, ranked, values, room):
    """Fill the record of a metric whose swap record is `Gains`."""
    swap_record(self, ranked, values, Gains(room.gain, room.below))
    return _differences(room, ranked.slot.size)


@uncounted
def cascade_insertions(room, n):
    """Fill the record of a metric of a user who reads downwards; `gain` and `below` hold chances and discounts."""
    _differences(room, n)
    one = as_type_of(room.gain[0], 1.0)
    reach = one
    for i in range(n):
        room.below[i] *= reach
        room.above[i] *= reach
        missed = max(one - room.gain[i], as_type_of(one, SMALLEST_MISS))
        room.own[i] = one / missed
        reach *= missed
    return room


@uncounted
def _falls_of_inverse(ranked, values, k, room):
    """Fill the record of a sum of value / position; return 0 of its type."""
    by_rank(ranked, values, room.gain)
    inverse_positions(room.below, ranked.slot.size, k)
    _differences(room, ranked.slot.size)
    return as_type_of(room.gain[0], 0.0)


@uncounted
def precision_insertions(ranked, values, k, room):
    """Fill the record of average precision."""
    none = _falls_of_inverse(ranked, values, k, room)
    hits = none
    for i in range(ranked.slot.size):
        room.below[i] *= hits + as_type_of(none, 1.0)
        hits += as_type_of(none, room.gain[i] > none)
        room.above[i] *= hits
    return room


@uncounted
def first_hit_insertions(ranked, values, k, room):
    """Fill the record of the reciprocal rank."""
    none = _falls_of_inverse(ranked, values, k, room)
    hits = none
    for i in range(ranked.slot.size):
        room.below[i] = room.below[i] if hits == none else none
        hits += as_type_of(none, room.gain[i] > none)
        room.above[i] = room.above[i] if hits == as_type_of(none, 1.0) else none
    return room
