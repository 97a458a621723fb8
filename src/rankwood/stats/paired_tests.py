"""Tests of whether paired differences have a mean of 0.

SciPy's counterparts are `permutation_test` (with ``permutation_type="samples"``), `ttest_1samp` and `wilcoxon`; it
has no bootstrap test. `t_test` and `wilcoxon` use SciPy and add rules for differences that are all zero or all equal.
`permutation` and `bootstrap` are our own: their sums are exact integers. All p-values are bit-identical for any
number of threads and any order of queries.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwood._util import checks
from rankwood.stats.effect_sizes import (
    mean_over_deviation,
    round_scipy,
    sample_moments,
    signed_ranks,
)
from rankwood.stats.sampling import resample, sign_sums, tie_margin, to_grid

#: Alternative hypotheses about the mean difference: it is not 0, above 0, or below 0.
ALTERNATIVES = ("two-sided", "greater", "less")
#: How draws become a p-value: (1 + number at least as extreme) / (1 + draws), the share at least as extreme, or the
#: share strictly more extreme.
COUNTS = ("corrected", "share", "strict")


class Outcome(NamedTuple):
    """The result of a test.

    Attributes
    ----------
    statistic : float
        The test statistic; the mean difference for `permutation` and `bootstrap`.
    p : float
        The p-value.
    exact : bool
        Whether the p-value was computed without random draws or normal approximation.

    Examples
    --------
    >>> from rankwood.stats import permutation
    >>> permutation([1.0, 2.0, 3.0])  # all eight choices of signs
    Outcome(statistic=2.0, p=0.25, exact=True)
    """

    statistic: float
    p: float
    exact: bool


# Models that never differ are not significantly different, even where "strict" would give 0.
_NO_DIFFERENCE = Outcome(0.0, 1.0, True)


def permutation(
    differences: ArrayLike,
    alternative: str = "two-sided",
    draws: int = 10_000,
    seed: int = 0,
    count: str = "corrected",
    n_jobs: int | None = None,
) -> Outcome:
    """Test by exchanging the two values of queries at random: Fisher's randomisation test.

    Parameters
    ----------
    differences : array
        One number per query.
    alternative : {"two-sided", "greater", "less"}
        The alternative to a mean of 0; "two-sided" compares absolute means.
    draws : int
        Number of random exchanges. With at most 16 non-zero differences, all exchanges are enumerated instead, and
        the p-value is exact.
    seed : int
        The same seed gives the same p-value, for any number of threads and any order of queries.
    count : {"corrected", "share", "strict"}
        How draws are counted: ``(1 + number at least as extreme) / (1 + draws)``, the share of draws at least as
        extreme, or the share strictly more extreme. An exact p-value needs no correction, because the observed
        signs are among those enumerated. Beware of "strict" with few differences: a single one gives 0.
    n_jobs : int, optional
        Number of threads; None means every core.

    Returns
    -------
    Outcome
        The mean difference, the p-value, and whether it is exact.

    Raises
    ------
    InputError
        If there are no differences, one is not finite, or another argument can't be used.

    Examples
    --------
    >>> from rankwood.stats import permutation
    >>> permutation([0.2, 0.0, -0.1, 0.3, 0.1, 0.0, 0.25, -0.05]).p
    0.1875
    """
    d, draws = _differences(differences, alternative), _draws(draws, count)
    # Under random signs only absolute values matter. Sorted, they give the same sums for any order of queries and
    # for exchanged models.
    absolute = np.sort(np.abs(d[d != 0]))
    if not absolute.size:
        return _NO_DIFFERENCE
    grid = to_grid(absolute, float(absolute.sum()))
    observed = int(to_grid(d, float(absolute.sum())).sum())
    if alternative == "less":  # signs are symmetric, so the sums stay unchanged
        observed = -observed
    sums, exact = sign_sums(grid, draws, seed, n_jobs)
    extremes = _more_extreme(sums, observed, tie_margin(grid), alternative, count)
    return Outcome(sample_moments(d).mean, _p_value(extremes, sums.size, count, exact), exact)


def bootstrap(
    differences: ArrayLike,
    alternative: str = "two-sided",
    draws: int = 10_000,
    seed: int = 0,
    count: str = "corrected",
    n_jobs: int | None = None,
) -> Outcome:
    """Test by resampling queries with replacement, after shifting the mean to 0.

    Parameters
    ----------
    differences, alternative, seed, count, n_jobs : array, str, int, str and int
        As in `permutation`.
    draws : int
        Number of resamples.

    Returns
    -------
    Outcome
        The mean difference and the p-value, which is exact only if all differences are 0.

    Raises
    ------
    InputError
        If an argument can't be used, as in `permutation`.

    Examples
    --------
    >>> from rankwood.stats import bootstrap
    >>> bootstrap([0.2, 0.1, 0.3, 0.25, 0.15], draws=999).p
    0.001
    """
    d, draws = _differences(differences, alternative), _draws(draws, count)
    if not d.any():
        return _NO_DIFFERENCE
    grid, sums, sign = resample(d, draws, seed, n_jobs)
    observed = int(grid.sum())
    side = -sign if alternative == "less" else sign
    shifted = (sums - observed) * side
    extremes = _more_extreme(shifted, observed * side, tie_margin(grid), alternative, count)
    return Outcome(sample_moments(d).mean, _p_value(extremes, draws, count, False), False)


def _draws(draws: int, count: str) -> int:
    """Return the number of draws; raise if it is below 1, or if the way of counting is unknown."""
    checks.one_of(count, COUNTS, "count")
    return checks.at_least(draws, 1, "draws")


def _more_extreme(
    sums: np.ndarray, observed: int, margin: int, alternative: str, count: str
) -> int:
    """Return how many sums are as extreme as the observed one, large sums being extreme if one-sided."""
    if alternative == "two-sided":
        sums, observed = np.abs(sums), abs(observed)
    extreme = sums > observed + margin if count == "strict" else sums >= observed - margin
    return int(extreme.sum())


def _p_value(extremes: int, draws: int, count: str, exact: bool) -> float:
    if count == "corrected" and not exact:
        return (1 + extremes) / (1 + draws)
    return extremes / draws


def t_test(differences: ArrayLike, alternative: str = "two-sided") -> Outcome:
    """Student's paired t-test, for differences that are normal or many.

    Parameters
    ----------
    differences, alternative : array and str
        As in `permutation`.

    Returns
    -------
    Outcome
        The t statistic and its p-value: 1 if all differences are 0, NaN with fewer than two queries.

    Raises
    ------
    InputError
        If there are no differences, or one is not finite.

    Examples
    --------
    >>> from rankwood.stats import t_test
    >>> round(t_test([0.2, 0.0, -0.1, 0.3, 0.1, 0.0, 0.25, -0.05]).statistic, 5)
    1.66992
    """
    # SciPy is slow to import, so we import it only where it is needed.
    from scipy.special import stdtr

    d = _differences(differences, alternative)
    if d.size < 2:
        return Outcome(float("nan"), float("nan"), True)
    if not d.any():
        return _NO_DIFFERENCE
    t = mean_over_deviation(d, math.sqrt(d.size))
    if alternative == "two-sided":
        p = 2 * stdtr(d.size - 1, -abs(t))
    else:
        p = stdtr(d.size - 1, -t if alternative == "greater" else t)
    return Outcome(t, float(round_scipy(p)), True)


def wilcoxon(differences: ArrayLike, alternative: str = "two-sided") -> Outcome:
    """Wilcoxon's signed-rank test: whether gains have higher ranks than losses.

    Differences of 0 are omitted, which is Wilcoxon's own rule. SciPy decides whether the p-value is exact or a normal
    approximation.

    Parameters
    ----------
    differences, alternative : array and str
        As in `permutation`; the alternative is to a distribution that is symmetric around 0.

    Returns
    -------
    Outcome
        The sum of the ranks of positive differences, and its p-value: 1 if all differences are 0.

    Raises
    ------
    InputError
        If there are no differences, or one is not finite.

    Examples
    --------
    >>> from rankwood.stats import wilcoxon
    >>> wilcoxon([0.3, 0.1, 0.2, -0.05, 0.4])
    Outcome(statistic=14.0, p=0.125, exact=True)
    """
    from scipy.stats import wilcoxon as scipy_wilcoxon

    d, ranks = signed_ranks(_differences(differences, alternative))
    if not d.size:
        return _NO_DIFFERENCE
    without_ties = np.unique(np.abs(d)).size == d.size
    p = float(round_scipy(scipy_wilcoxon(d, alternative=alternative).pvalue))
    return Outcome(float(ranks[d > 0].sum()), p, without_ties and d.size <= 50)


def _differences(differences: ArrayLike, alternative: str) -> np.ndarray:
    """Return differences as a vector; raise if there are none or the alternative is unknown."""
    checks.one_of(alternative, ALTERNATIVES, "alternative")
    d = checks.vector(differences, "differences")
    if not d.size:
        raise checks.InputError("differences is empty; give one number per query.")
    return d
