"""Pairs that come with the data, as kernels read them: for each document the pairs that it is in."""

from collections import namedtuple

import numpy as np

from rankwood._kernels.records import Table
from rankwood.data.given_pairs import GivenPairs
from rankwood.data.groups import Groups

#: Document p has the entries `first[p]` to `end[p]` of two tables: `partner` is the slot of the other document, and
#: `push` the weight of the pair, which is negative if the other document is the winner.
PairsByDocument = namedtuple("PairsByDocument", "first end partner push")


def pairs_by_document(pairs: GivenPairs, groups: Groups, real: type) -> PairsByDocument:
    """Return the pairs with a weight by document; every pair is there twice.

    The entries of a document are sorted, so that the order in which pairs were given changes no bit of a sum.
    """
    n = groups.rows.size
    place = np.empty(n, np.int64)
    place[groups.rows] = np.arange(n)
    counted = pairs.weight > 0
    winner, loser = place[pairs.winner[counted]], place[pairs.loser[counted]]
    document, partner = np.append(winner, loser), np.append(loser, winner)
    push = np.append(pairs.weight[counted], -pairs.weight[counted])
    order = np.lexsort((push, partner, document))
    counts = np.bincount(document, minlength=n)
    end = np.cumsum(counts)
    slot = np.arange(n) - np.repeat(groups.ptr[:-1], groups.sizes)
    with np.errstate(over="ignore"):  # a weight beyond the precision is reported with the gradients
        pushes: np.ndarray = push[order].astype(real)
    return PairsByDocument(end - counts, end, Table(slot[partner[order]]), Table(pushes))
