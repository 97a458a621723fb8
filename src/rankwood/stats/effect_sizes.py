"""The size of a difference: effect sizes, wins and losses."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks

_EQUAL = 1e-12  # values closer than this share of the largest are equal: 0.3 and 0.1 + 0.2
_RANK_BITS = 33  # differences that agree in these leading bits tie
_SCIPY_BITS = 36  # of values of SciPy's distributions: the others depend on the processor


def _round_binary(x: Any, digits: int) -> np.ndarray:
    """Round each number to `digits` binary digits."""
    fraction, exponent = np.frexp(x)
    result: np.ndarray = np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)
    return result


def round_scipy(x: Any) -> np.ndarray:
    """Round values of SciPy's distributions to 36 binary digits, about 11 decimal ones.

    Their last digits differ between processors with and without FMA.
    """
    return _round_binary(np.asarray(x, np.float64), _SCIPY_BITS)


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
