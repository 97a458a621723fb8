"""Which anchors may have a document as their partner: by its rank, once for each length of a list."""

from collections import namedtuple
from typing import Any

import numpy as np

from rankwood._kernels.compile.jit import callable_kernel, jit
from rankwood._kernels.parts import lower
from rankwood.objectives._kernels.verbs import count_anchors, partners

#: Where the entries of each query begin, or -1 if it has none; by rank, the first anchor and the end of the anchors.
AnchorBounds = namedtuple("AnchorBounds", "start low high")
#: Longer lists have no entries: each document checks all their anchors.
_LONGEST = 4096
_FEW = 10_000  # up to so many pairs, plain Python is faster than compiling a kernel


def anchor_bounds(pairs: Any, sizes: np.ndarray) -> AnchorBounds:
    """Return the bounds of the anchors of queries of these sizes, for a pair set that counts its anchors."""
    lengths, number = np.unique(sizes, return_inverse=True)
    kept = lengths <= _LONGEST
    start = np.r_[0, np.cumsum(np.where(kept, lengths, 0))]
    low, high = np.zeros(start[-1] + 1, np.int32), np.zeros(start[-1] + 1, np.int32)
    fill = callable_kernel(fill_anchor_bounds, int((lengths[kept] ** 2).sum()) > _FEW)
    fill(lower(pairs), lengths[kept], low, high)
    begin = np.where(kept, start[:-1], -1).astype(np.int32)
    return AnchorBounds(begin[number], low, high)


@jit
def fill_anchor_bounds(pairs, lengths, low, high):
    """Fill the bounds for lists of each of these lengths, one after the other."""
    start = 0
    for n in lengths:
        m = min(count_anchors(pairs, n), n)
        for j in range(n):
            low[start + j], high[start + j] = m, 0
        for t in range(m):
            first, end = partners(pairs, t, n)
            for j in range(first, min(end, n)):
                low[start + j] = min(low[start + j], t)
                high[start + j] = t + 1
        start += n
