"""The best documents of each list, and scores that put them above the others."""

import numpy as np

from rankwood.data.groups import Groups


def best(scores: np.ndarray, groups: Groups, top: int) -> np.ndarray:
    """Return a mask of the rows with the `top` highest scores of each query; equal scores by the caller's order."""
    order, place = _ranked(scores, groups)
    mask = np.empty(scores.size, bool)
    mask[order] = place < top
    return mask


def stacked(upper: np.ndarray, scores: np.ndarray, mask: np.ndarray, groups: Groups) -> np.ndarray:
    """Return one score per row: those of the rows in `mask` as given, the others below them in their own order.

    In each query the others have the lowest score of those above less 1, 2, ..., one step for each
    different value of `scores`: no two of them become equal, or different, by rounding.
    """
    out = np.empty(scores.size)
    out[mask] = upper
    lowest = np.minimum.reduceat(np.where(mask, out, np.inf)[groups.rows], groups.ptr[:-1])
    order, place = _ranked(np.where(mask, np.inf, scores), groups)
    score, rest = scores[order], ~mask[order]
    new = rest & np.append(True, ~rest[:-1] | (score[1:] != score[:-1]) | (place[1:] == 0))
    steps = np.append(0, np.cumsum(new))
    step = steps[1:] - np.repeat(steps[groups.ptr[:-1]], groups.sizes)
    out[order[rest]] = (np.repeat(lowest, groups.sizes) - step)[rest]
    return out


def _ranked(scores: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return rows by query and decreasing score, and the place of each in its query, counted from 0."""
    query = groups.per_row(np.arange(groups.ids.size))
    place = np.arange(scores.size) - np.repeat(groups.ptr[:-1], groups.sizes)
    return np.lexsort((-scores, query)), place
