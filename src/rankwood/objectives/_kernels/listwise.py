"""The kernel of objectives that look at a whole list at once, without pairs: one call of `derive` a query."""

import numpy as np

from rankwood._core.jit import cut, jit, like
from rankwood._core.rng import mix
from rankwood.objectives._kernels.verbs import bend, derive

# Numbers between two arrays of a query. Compiled loops look at run time whether arrays are close to each other, and
# round differently if they are: bits would depend on the longest list that a thread has.
_APART = 256


@jit
def each(obj, plan, order, cross, state, scores, grad, hess, first, last):
    """Gradients and hessians of queries `first` to `last`, each in the order of its slots.

    Scores are handed over relative to the middle of their range: differences are all that matters, and in
    float32 they keep their digits. `cross` is as in `fill`.
    """
    longest = 0
    for q in range(first, last):
        n = plan.ptr[q + 1] - plan.ptr[q]
        longest = n if n > longest else longest
    work = np.empty((4, longest + _APART), plan.table.dtype)
    zero, table = like(plan.table[0], 0.0), plan.table.copy()
    for q in range(first, last):
        start, n = plan.ptr[q], plan.ptr[q + 1] - plan.ptr[q]
        label, score, g, h = work[0, :n], work[1, :n], work[2, :n], work[3, :n]
        low = high = scores[plan.rows[start]]
        for i in range(n):
            s = scores[plan.rows[start + i]]
            low, high = (s if s < low else low), (s if s > high else high)
        middle = 0.5 * low + 0.5 * high
        for i in range(n):
            label[i] = plan.label[start + i]
            score[i] = scores[plan.rows[start + i]] - middle
            g[i] = h[i] = zero
        worth = cut(plan.worth, start, start + n)
        derive(obj, label, score, worth, table, mix(state, q), g, h)
        if cross is not None:
            bend(obj, label, score, worth, cross[1][cross[0][q] : cross[0][q + 1]])
        for i in range(n):
            row = plan.rows[start + i]
            grad[row], hess[row] = g[i], h[i]
