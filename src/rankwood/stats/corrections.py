"""Corrections of p-values for the number of tests.

`statsmodels.stats.multitest.multipletests` computes the same numbers. We have our own because a p-value may be NaN
here (a test that could not be made, which does not count), and to do without a dependency for two formulas.
"""

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks


def bonferroni(p: ArrayLike) -> np.ndarray:
    """Return p-values multiplied by the number of tests, at most 1.

    Parameters
    ----------
    p : array
        P-values. NaN stands for a test that was not made, and stays NaN.

    Returns
    -------
    array
        Corrected p-values, in the same order.

    Raises
    ------
    InputError
        If a number is not between 0 and 1.

    Examples
    --------
    >>> from rankwood.stats import bonferroni
    >>> bonferroni([0.01, 0.2, 0.5]).tolist()
    [0.03, 0.6000000000000001, 1.0]
    """
    raw = _p_values(p)
    result: np.ndarray = np.minimum(1.0, raw * (~np.isnan(raw)).sum())
    return result


def holm(p: ArrayLike) -> np.ndarray:
    """Return Holm's step-down p-values: never above Bonferroni's, with the same guarantee.

    Parameters
    ----------
    p : array
        P-values, as in `bonferroni`.

    Returns
    -------
    array
        The corrected p-values.

    Raises
    ------
    InputError
        As in `bonferroni`.

    Examples
    --------
    >>> from rankwood.stats import bonferroni, holm
    >>> p = [0.01, 0.25, 0.03]
    >>> holm(p).tolist(), bonferroni(p).tolist()
    ([0.03, 0.25, 0.06], [0.03, 0.75, 0.09])
    """
    raw = _p_values(p)
    corrected = np.full(raw.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(raw))
    order = tested[np.argsort(raw[tested], kind="stable")]
    steps = raw[order] * np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def _p_values(p: ArrayLike) -> np.ndarray:
    """Return p-values as a vector; raise unless each is NaN or between 0 and 1."""
    values = np.atleast_1d(checks.numbers(p, "p")).astype(np.float64)
    if values.ndim != 1 or (values < 0).any() or (values > 1).any():
        raise checks.InputError("p must be a list of numbers from 0 to 1.")
    return values
