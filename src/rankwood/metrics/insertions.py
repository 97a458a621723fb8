r"""What a document wins by moving up past another, at the same cost for all metrics here.

Take document i out of a ranking and put it back just above j, or just below j: in both cases the documents
above the two are the same, those below them too, and so are their places. So the metric changes as it does
when two neighbours swap, and only these two and what lies above them matter. With w the worth, d the
discounts (0 beyond k), p the upper place of the two and d' = d_p - d_{p+1}, the change is

* :math:`(w_i - w_j) \, d'` of a sum of worth times discount;
* :math:`(r_i - r_j) \, d' \prod (1 - r)` over the documents above of ERR and PFound: the terms with
  :math:`r_i r_j` are the same both ways;
* :math:`(w_i - w_j) \, d' (A + 1)` of average precision, with d = 1 / place and A relevant documents above: the
  relevant one of the two, if one of them is, counts A + 1 hits at its place, and every other relevant
  document has as many above itself as before;
* :math:`(w_i - w_j) \, d'` of the reciprocal rank, if no relevant document is above.

All that is known from the ranking with i in it, in which j has rank r. If i is below j, nothing above j changes and
p = r. If i is above j, then p = r - 1, and i is not to be counted among the documents above: its factor 1 - r_i is
taken out of the product, and A is less by one if i is relevant. In the latter case i is relevant
whenever j is not, or nothing changes: so A + 1 is the number of relevant documents down to rank r,
which depends on j alone.
"""

from collections import namedtuple

from rankwood._core.jit import inner, like
from rankwood.metrics.additive import by_rank, inverse_places
from rankwood.metrics.verbs import columns

SURE = 1e-14  # keeps 1 - r above 0, as it is divided by: moves no value by more

#: Record by rank: above j rather than below it, document i changes the metric by (gain_i - gain_j) times `below` of j
#: if i is ranked below it, and times `above` of j and `own` of i if i is ranked above it.
Moves = namedtuple("Moves", "gain below above own")


@inner
def _falls(table):
    """Replace discounts, row 1, by how much they fall to the next place (row 1) and from the one before (row 2)."""
    n = table.shape[1]
    before = table[1, 0]
    for i in range(n):
        here = table[1, i]
        table[1, i] = here - table[1, i + 1] if i + 1 < n else like(here, 0.0)
        table[2, i] = before - here
        table[3, i] = like(here, 1.0)
        before = here
    return Moves(table[0], table[1], table[2], table[3])


def sum_moves(self, q, worth):
    """Record of a metric whose `columns` are `Gains`."""
    table = by_rank(q, worth, 4)
    discount = columns(self, q, worth).discount
    for i in range(discount.size):
        table[1, i] = discount[i]
    return _falls(table)


@inner
def chance_moves(table):
    """Record of a metric of a user who reads downwards; rows 0 and 1 hold chances and discounts."""
    found = _falls(table)
    one = like(table[0, 0], 1.0)
    reach = one
    for i in range(table.shape[1]):
        found.below[i] *= reach
        found.above[i] *= reach
        missed = max(one - found.gain[i], like(one, SURE))
        found.own[i] = one / missed
        reach *= missed
    return found


@inner
def hit_moves(q, worth, k):
    """Record of average precision."""
    table = by_rank(q, worth, 4)
    inverse_places(table[1], k)
    found = _falls(table)
    none = like(table[0, 0], 0.0)
    hits = none
    for i in range(q.slot.size):
        found.below[i] *= hits + like(none, 1.0)
        hits += like(none, found.gain[i] > none)
        found.above[i] *= hits
    return found


@inner
def first_moves(q, worth, k):
    """Record of the reciprocal rank."""
    table = by_rank(q, worth, 4)
    inverse_places(table[1], k)
    found = _falls(table)
    none = like(table[0, 0], 0.0)
    hits = none
    for i in range(q.slot.size):
        found.below[i] = found.below[i] if hits == none else none
        hits += like(none, found.gain[i] > none)
        found.above[i] = found.above[i] if hits == like(none, 1.0) else none
    return found
