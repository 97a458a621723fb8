"""One query in rank order, as metrics and pair weights see it.

A *row* is a document's place in the caller's arrays; rows of a query need not be adjacent. Inside a query a document
has a *slot* (its place among the rows of the query) and a *rank* (its 0-based place by decreasing score; documents
that tie are ranked by slot). Positions are 0-based in code and 1-based in prose.
"""

from collections import namedtuple

import numpy as np

#: A query by rank: the number n of documents, labels, scores (relative to the middle of their range), the slot of each
#: rank, and the discounts 1 / log2(2 + rank). The pair loop pads its lists with copies of the last document that have
#: no label (NaN), so that their length is a multiple of the vector width: columns by rank have `slot.size` entries.
Ranked = namedtuple("Ranked", "n label score slot discount")


def discounts(size: int) -> np.ndarray:
    """Return the discounts 1 / log2(1 + position) of positions 1 to `size`."""
    return 1.0 / np.log2(np.arange(2.0, size + 2.0))
