"""Confidence intervals of a mean over queries: of a difference, or of a metric.

SciPy has `ttest_1samp(...).confidence_interval` and `bootstrap(method="BCa")`; ours treat constant differences and
a single query without warnings, and the bootstrap is bit-identical for any number of threads and any order of queries.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks
from rankwood.stats.effect_sizes import round_scipy, sample_moments
from rankwood.stats.sampling import resample

#: Kinds of intervals: Student's, and those of the bootstrap.
INTERVALS = ("t", "bca", "percentile")


def t_interval(differences: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return Student's confidence interval of the mean difference.

    Parameters
    ----------
    differences : array
        One number per query.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    tuple of float
        The lower and the upper end; NaN with fewer than two queries.

    Raises
    ------
    InputError
        If `level` is not between 0 and 1.

    Examples
    --------
    >>> from rankwood.stats import t_interval
    >>> low, high = t_interval([0.1, 0.2, 0.3])
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    from scipy.special import stdtrit  # slow to import, as in `paired`

    d = checks.vector(differences, "differences")
    level = confidence(level)
    if d.size < 2:
        return float("nan"), float("nan")
    mean, deviation = sample_moments(d)
    half = float(round_scipy(stdtrit(d.size - 1, (1 + level) / 2))) * deviation / math.sqrt(d.size)
    return mean - half, mean + half


def bootstrap_interval(
    differences: ArrayLike,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    kind: str = "bca",
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Return a bootstrap confidence interval of the mean difference.

    Parameters
    ----------
    differences, level : array and float
        As in `t_interval`.
    draws, seed, n_jobs : int
        As in `bootstrap`.
    kind : {"bca", "percentile"}
        Bias-corrected and accelerated, or plain percentiles of the resampled means.

    Returns
    -------
    tuple of float
        The ends, as in `t_interval`.

    Raises
    ------
    InputError
        If `level` is not between 0 and 1, or `kind` is unknown.

    Examples
    --------
    >>> from rankwood.stats import bootstrap_interval
    >>> low, high = bootstrap_interval([0.1, 0.2, 0.3, 0.2, 0.1], draws=2000)
    >>> 0.1 <= low < 0.18 < high <= 0.3
    True
    """
    d = checks.vector(differences, "differences")
    checks.one_of(kind, ("bca", "percentile"), "kind")
    level, draws = confidence(level), checks.at_least(draws, 1, "draws")
    if d.size < 2:
        return float("nan"), float("nan")
    if np.ptp(d) == 0:
        return float(d[0]), float(d[0])
    grid, sums, sign = resample(d, draws, seed, n_jobs)
    quantiles = np.array([(1 - level) / 2, (1 + level) / 2])
    if kind == "bca":
        quantiles = _bca_quantiles(quantiles, grid.astype(np.float64), sums)
    unit = np.abs(d).max() / np.abs(grid).max()
    low, high = np.quantile(sums.astype(np.float64), quantiles) * unit / d.size
    return (float(low), float(high)) if sign > 0 else (float(-high), float(-low))


def mean_interval(
    values: ArrayLike,
    kind: str = "t",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Return a confidence interval of the mean over queries, of one of three kinds.

    Parameters
    ----------
    values : array
        One number per query: a difference, or the value of a metric.
    kind : {"t", "bca", "percentile"}
        Student's interval (`t_interval`), or one of the bootstrap (`bootstrap_interval`).
    level : float
        Confidence level, between 0 and 1.
    draws, seed, n_jobs : int
        Of the bootstrap, as in `bootstrap`.

    Returns
    -------
    tuple of float
        The lower and the upper end; NaN with fewer than two queries.

    Raises
    ------
    InputError
        If `level` is not between 0 and 1, or `kind` is unknown.

    Examples
    --------
    >>> from rankwood.stats import mean_interval, t_interval
    >>> mean_interval([0.1, 0.2, 0.3], "t") == t_interval([0.1, 0.2, 0.3])
    True
    """
    checks.one_of(kind, INTERVALS, "interval")
    if kind == "t":
        return t_interval(values, level)
    return bootstrap_interval(values, level, draws, seed, kind, n_jobs)


def _bca_quantiles(quantiles: np.ndarray, x: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return quantiles corrected for bias and for skewness."""
    from scipy.special import ndtr, ndtri

    observed = int(x.sum())
    below = ((sums < observed).mean() + (sums <= observed).mean()) / 2
    edge = 0.5 / sums.size  # the normal quantile of 0 or 1 would be infinite
    bias = round_scipy(ndtri(np.clip(below, edge, 1 - edge)))
    centred = x - x.mean()
    # Products, since NumPy's powers depend on the processor.
    squares = (centred * centred).sum()
    acceleration = (centred * centred * centred).sum() / (6 * squares * math.sqrt(squares))
    z = bias + round_scipy(ndtri(quantiles))
    return round_scipy(ndtr(bias + z / (1 - acceleration * z)))


def confidence(level: Any) -> float:
    """Return a confidence level as a float.

    Parameters
    ----------
    level : float
        A number between 0 and 1, both excluded.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    InputError
        If it is not a number between 0 and 1.

    Examples
    --------
    >>> from rankwood.stats import confidence
    >>> confidence(0.95)
    0.95
    """
    if not 0 < checks.finite(level, "level") < 1:
        raise checks.InputError(f"level must be between 0 and 1, such as 0.95, got {level}.")
    return float(level)
