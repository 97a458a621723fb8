"""How large a difference is: intervals, effect sizes, wins."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.stats.sampling import resampled

_EQUAL = 1e-12  # values closer than this share of the largest are equal: 0.3 and 0.1 + 0.2
_DIGITS = 33


def snap(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return values minus others, with 0 where they differ by rounding errors only.

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


def rounded(d: np.ndarray) -> np.ndarray:
    """Return differences such that those equal but for rounding errors are equal, to rank them.

    Each keeps 33 binary digits, about 10 decimal ones, whatever the size of others: none becomes 0.
    """
    share, exponent = np.frexp(d)
    result: np.ndarray = np.ldexp(np.rint(np.ldexp(share, _DIGITS)), exponent - _DIGITS)
    return result


def wins_ties_losses(differences: Any) -> tuple[int, int, int]:
    """Return how many differences are above, equal to and below 0."""
    d = checks.vector(differences, "differences")
    return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())


def cohen_d(differences: Any) -> float:
    """Return the mean difference in units of the differences' standard deviation.

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
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    return mean / spread if spread > 1e-14 * abs(mean) else float(np.copysign(np.inf, mean))


def rank_biserial(differences: Any) -> float:
    """Return (ranks of gains - ranks of losses) / all ranks, between -1 and 1; differences of 0 are left out.

    Examples
    --------
    >>> from rankwood.stats import rank_biserial
    >>> rank_biserial([0.3, 0.1, 0.2, -0.05])
    0.8
    """
    d = checks.vector(differences, "differences")
    d = rounded(d)
    d = d[d != 0]
    if not d.size:
        return 0.0
    rank = ranks(np.abs(d))
    return float((rank * np.sign(d)).sum() / rank.sum())


def ranks(x: np.ndarray) -> np.ndarray:
    """Return ranks from 1 on; equal numbers share the mean of theirs."""
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    result: np.ndarray = (last - (counts - 1) / 2)[which]
    return result


def t_interval(differences: Any, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval of the mean difference; NaN with less than two queries."""
    from scipy.special import stdtrit  # see `paired`: imported when needed

    d = checks.vector(differences, "differences")
    level = confidence(level)
    if d.size < 2:
        return float("nan"), float("nan")
    half = stdtrit(d.size - 1, (1 + level) / 2) * d.std(ddof=1) / d.size**0.5
    return float(d.mean() - half), float(d.mean() + half)


def bootstrap_interval(
    differences: Any,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    kind: str = "bca",
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Return the bootstrap's interval of the mean difference.

    Parameters
    ----------
    differences : array
        One number per query.
    level : float
        Confidence.
    draws, seed, n_jobs
        As in `permutation`.
    kind : {"bca", "percentile"}
        Bias-corrected and accelerated, or plain percentiles of the resampled means.

    Returns
    -------
    tuple of float
        Low and high; NaN with less than two queries.
    """
    d = checks.vector(differences, "differences")
    checks.one_of(kind, ("bca", "percentile"), "kind")
    level, draws = confidence(level), checks.at_least(draws, 1, "draws")
    if d.size < 2:
        return float("nan"), float("nan")
    if np.ptp(d) == 0:
        return float(d[0]), float(d[0])
    grid, sums, turn = resampled(d, draws, seed, n_jobs)
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    if kind == "bca":
        shares = _accelerated(shares, grid.astype(np.float64), sums)
    unit = np.abs(d).max() / np.abs(grid).max()
    low, high = np.quantile(sums.astype(np.float64), shares) * unit / d.size
    return (float(low), float(high)) if turn > 0 else (float(-high), float(-low))


def _accelerated(shares: np.ndarray, x: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return the percentiles to take in place of `shares`: corrected for bias and for skewness."""
    from scipy.special import ndtr, ndtri

    seen = int(x.sum())
    below = ((sums < seen).mean() + (sums <= seen).mean()) / 2
    edge = 0.5 / sums.size  # a quantile of 0 or 1 would be infinite
    bias = ndtri(np.clip(below, edge, 1 - edge))
    centred = x - x.mean()
    skew = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    z = bias + ndtri(shares)
    result: np.ndarray = ndtr(bias + z / (1 - skew * z))
    return result


def confidence(level: Any) -> float:
    """Return a level of confidence: a number between 0 and 1."""
    if not 0 < checks.finite(level, "level") < 1:
        raise checks.InputError(f"level must be between 0 and 1, such as 0.95, got {level}.")
    return float(level)
