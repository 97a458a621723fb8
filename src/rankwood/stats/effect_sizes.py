"""The size of a difference: confidence intervals, effect sizes, wins and losses.

SciPy has `ttest_1samp(...).confidence_interval` and `bootstrap(method="BCa")`; ours treat constant differences and
a single query without warnings, and the bootstrap is bit-identical for any number of threads and any order of queries.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks
from rankwood.stats.sampling import resample

_EQUAL = 1e-12  # values closer than this share of the largest are equal: 0.3 and 0.1 + 0.2
_RANK_BITS = 33  # differences that agree in these leading bits tie
_SCIPY_BITS = 36  # of values of SciPy's distributions: the others depend on the processor


def _round_binary(x: Any, digits: int) -> np.ndarray:
    """Round each number to `digits` binary digits."""
    fraction, exponent = np.frexp(x)
    result: np.ndarray = np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)
    return result


def round_scipy(x: Any) -> float:
    """Round a value of one of SciPy's distributions to 36 binary digits, about 11 decimal ones.

    Their last digits differ between processors with and without FMA.
    """
    return float(_round_binary(np.float64(x), _SCIPY_BITS))


def snap(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return values minus others, with exact zeros where they differ only by rounding errors.

    Parameters
    ----------
    values, others : array
        The values of two models, query by query.

    Returns
    -------
    array
        Differences; 0 where they are below 1e-12 of the largest value.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.stats import snap
    >>> snap(np.array([0.1 + 0.2]), np.array([0.3])).tolist()
    [0.0]
    """
    d = values - others
    largest = max(np.abs(values).max(initial=0), np.abs(others).max(initial=0))
    return np.where(np.abs(d) <= _EQUAL * largest, 0.0, d)


def signed_ranks(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the non-zero differences and the ranks of their absolute values; ties share their mean rank.

    Differences are rounded to 33 binary digits (about 10 decimal digits) before ranking, so values that differ only by
    rounding errors are tied. The rounding is relative to each value, so none becomes 0.
    """
    from scipy.stats import rankdata  # slow to import, as in `paired`

    rounded = _round_binary(differences, _RANK_BITS)
    d = rounded[rounded != 0]
    return d, rankdata(np.abs(d))


def wins_ties_losses(differences: ArrayLike) -> tuple[int, int, int]:
    """Return how many differences are above, equal to and below 0.

    Parameters
    ----------
    differences : array
        One number per query.

    Returns
    -------
    tuple of int
        Wins, ties and losses.

    Examples
    --------
    >>> from rankwood.stats import wins_ties_losses
    >>> wins_ties_losses([0.3, 0.1, 0.0, -0.05])
    (2, 1, 1)
    """
    d = checks.vector(differences, "differences")
    return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())


def cohen_d(differences: ArrayLike) -> float:
    """Return Cohen's d: the mean difference in standard deviations of the differences.

    Parameters
    ----------
    differences : array
        The differences of two models, query by query.

    Returns
    -------
    float
        0 if all differences are 0, infinite if they are equal but not 0, NaN for a single one that is not 0.

    Examples
    --------
    >>> from rankwood.stats import cohen_d
    >>> cohen_d([1.0, 2.0, 3.0])
    2.0
    """
    d = checks.vector(differences, "differences")
    if not d.any():
        return 0.0
    if d.size < 2:
        return float("nan")
    return mean_over_deviation(d)


class SampleMoments(NamedTuple):
    """The mean and the standard deviation (with n - 1) of numbers; the latter is NaN if there is one."""

    mean: float
    deviation: float


def sample_moments(d: np.ndarray) -> SampleMoments:
    """Return mean and deviation by sums that are rounded once: bit-identical for any order of the numbers."""
    exponent = np.frexp(np.abs(d).max())[1]
    scaled = np.ldexp(d, -exponent)  # below 1, so that no sum and no square overflows
    mean = math.fsum(scaled.tolist()) / d.size
    squares = math.fsum(((scaled - mean) ** 2).tolist())
    deviation = math.sqrt(squares / (d.size - 1)) if d.size > 1 else math.nan
    with np.errstate(over="ignore"):
        return SampleMoments(*np.ldexp([mean, deviation], exponent).tolist())


def mean_over_deviation(d: np.ndarray, divisor: float = 1.0) -> float:
    """Return the mean over the standard deviation, which is divided by `divisor` first; infinite if all are equal."""
    mean, deviation = sample_moments(d)
    # The deviation of equal numbers consists of rounding errors.
    if deviation <= 1e-14 * abs(mean):
        return float(np.copysign(np.inf, mean))
    return mean / (deviation / divisor)


def rank_biserial(differences: ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation, the effect size of Wilcoxon's test.

    It is (rank sum of gains - rank sum of losses) / (sum of all ranks).

    Parameters
    ----------
    differences : array
        One number per query; zeros are omitted.

    Returns
    -------
    float
        A number from -1 to 1; 0 if all differences are 0.

    Examples
    --------
    >>> from rankwood.stats import rank_biserial
    >>> rank_biserial([0.3, 0.1, 0.2, -0.05])
    0.8
    """
    d, ranks = signed_ranks(checks.vector(differences, "differences"))
    if not d.size:
        return 0.0
    return float((ranks * np.sign(d)).sum() / ranks.sum())


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
    half = round_scipy(stdtrit(d.size - 1, (1 + level) / 2)) * deviation / math.sqrt(d.size)
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
    z = bias + _round_binary(ndtri(quantiles), _SCIPY_BITS)
    return _round_binary(ndtr(bias + z / (1 - acceleration * z)), _SCIPY_BITS)


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
