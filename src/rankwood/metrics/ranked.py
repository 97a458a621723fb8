"""One query in rank order, as metrics and pair weights see it.

A *row* is a document's place in the caller's arrays; rows of a query need not be adjacent. Inside a query a document
has a *slot* (its place among the rows of the query) and a *rank* (its 0-based place by decreasing score; documents
that tie are ranked by slot). Positions are 0-based in code and 1-based in prose.
"""

from collections import namedtuple

import numpy as np

from rankwood._kernels.numeric.elementary import log2


class Ranked(namedtuple("Ranked", "n label score slot discount")):
    """The documents of one query by rank, as verbs of metrics and weights see them.

    The pair loop pads its lists with copies of the last document that have no label (NaN), so that their length is a
    multiple of sixteen. So columns by rank have `slot.size` entries, which may be more than `n`.

    Parameters
    ----------
    n : int
        Number of documents.
    label : array of float
        Labels by rank.
    score : array of float
        Scores by rank, relative to the middle of their range.
    slot : array of int
        The slot of each rank: the document's place among the rows of its query.
    discount : array of float
        The discounts 1 / log2(2 + rank), with ranks from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import Ranked
    >>> label, score = np.array([0.0, 2.0]), np.array([-0.5, 0.5])
    >>> slot = np.argsort(-score, stable=True)
    >>> Ranked(2, label[slot], score[slot], slot, 1 / np.log2(2.0 + np.arange(2))).label.tolist()
    [2.0, 0.0]
    """

    __slots__ = ()


def discounts(size: int) -> np.ndarray:
    """Return the discounts 1 / log2(1 + position) of positions 1 to `size`."""
    return 1.0 / log2(np.arange(2.0, size + 2.0))
