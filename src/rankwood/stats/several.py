"""Corrections for many tests at once."""

from typing import Any

import numpy as np

from rankwood._core import checks


def bonferroni(p: Any) -> np.ndarray:
    """Return p-values times their number, at most 1; NaN is no test.

    Examples
    --------
    >>> from rankwood.stats import bonferroni
    >>> bonferroni([0.01, 0.2, 0.5]).tolist()
    [0.03, 0.6000000000000001, 1.0]
    """
    p = _chances(p)
    result: np.ndarray = np.minimum(1.0, p * (~np.isnan(p)).sum())
    return result


def holm(p: Any) -> np.ndarray:
    """Return Holm's step-down p-values: never above Bonferroni's, and as safe.

    Examples
    --------
    >>> from rankwood.stats import holm
    >>> holm([0.01, 0.25, 0.03]).tolist()
    [0.03, 0.25, 0.06]
    """
    p = _chances(p)
    out = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return out


def _chances(p: Any) -> np.ndarray:
    a = np.atleast_1d(checks.numbers(p, "p")).astype(np.float64)
    if a.ndim != 1 or (a < 0).any() or (a > 1).any():
        raise checks.InputError("p must be a list of numbers from 0 to 1.")
    return a
