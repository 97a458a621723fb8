"""Tests of whether paired differences have a mean of 0."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood.stats.sampling import margin, on_grid, resampled, sign_sums
from rankwood.stats.sizes import ranks, rounded

ALTERNATIVES = ("two-sided", "greater", "less")
#: How draws become a p-value: (1 + at least as extreme) / (1 + draws), the share of those at least as
#: extreme, or the share of those strictly more extreme.
COUNTS = ("corrected", "share", "strict")


class Outcome(NamedTuple):
    """What a test says: its statistic, the p-value, and whether nothing was left to chance."""

    statistic: float
    p: float
    exact: bool


def permutation(
    differences: Any,
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
        What the mean is, if not 0; "two-sided" compares sizes of means.
    draws : int
        Random exchanges. With at most 16 differences that are not 0 all of them are gone through instead, and the
        p-value is exact.
    seed : int
        Same seed, same p-value, on any number of threads and for any order of queries.
    count : {"corrected", "share", "strict"}
        ``(1 + #{at least as extreme}) / (1 + draws)``, the share of draws at least as extreme, or the share
        strictly more extreme. An exact p-value has no 1 to add: the observed signs are among all signs.
        Beware of "strict" with few differences: a single one gives 0.
    n_jobs : int, optional
        Threads; None means every core.

    Returns
    -------
    Outcome
        The mean, the p-value, and whether it is exact.

    Examples
    --------
    >>> from rankwood.stats import permutation
    >>> permutation([0.2, 0.0, -0.1, 0.3, 0.1, 0.0, 0.25, -0.05]).p
    0.1875
    """
    d = _differences(differences, alternative)
    checks.one_of(count, COUNTS, "count")
    draws = checks.at_least(draws, 1, "draws")
    # Under random signs only sizes matter. In order of size they give the same sums for any order of
    # queries, and for the two models exchanged.
    sizes = np.sort(np.abs(d[d != 0]))
    if not sizes.size:
        return Outcome(0.0, 1.0, True)  # also if strict: models that never differ are not different
    grid = on_grid(sizes, float(sizes.sum()))
    seen = int(on_grid(d, float(sizes.sum())).sum())
    sums, every = sign_sums(grid, draws, seed, n_jobs)
    return Outcome(
        float(d.mean()), _share(sums, seen, margin(grid), alternative, count, every), every
    )


def _share(
    sums: np.ndarray, seen: int, near: int, alternative: str, count: str, every: bool
) -> float:
    """Return the share of sums as extreme as the one seen."""
    if alternative == "two-sided":
        sums, seen = np.abs(sums), abs(seen)
    elif alternative == "less":
        seen = -seen  # signs are symmetric: the model that loses is tested as the one that wins
    hits = int((sums > seen + near).sum() if count == "strict" else (sums >= seen - near).sum())
    if count == "corrected" and not every:
        return (1 + hits) / (1 + sums.size)
    return hits / sums.size


def bootstrap(
    differences: Any,
    alternative: str = "two-sided",
    draws: int = 10_000,
    seed: int = 0,
    count: str = "corrected",
    n_jobs: int | None = None,
) -> Outcome:
    """Test by resampling queries with replacement, the mean shifted to 0.

    Parameters are those of `permutation`; nothing is ever exact.

    Examples
    --------
    >>> from rankwood.stats import bootstrap
    >>> bootstrap([0.2, 0.1, 0.3, 0.25, 0.15], draws=999).p
    0.001
    """
    d = _differences(differences, alternative)
    checks.one_of(count, COUNTS, "count")
    draws = checks.at_least(draws, 1, "draws")
    if not d.any():
        return Outcome(0.0, 1.0, True)  # also if strict: models that never differ are not different
    grid, sums, turn = resampled(d, draws, seed, n_jobs)
    seen = int(grid.sum())
    shifted = (sums - seen) * turn
    return Outcome(
        float(d.mean()), _tail(shifted, seen * turn, margin(grid), alternative, count), False
    )


def _tail(sums: np.ndarray, seen: int, near: int, alternative: str, count: str) -> float:
    if alternative == "less":  # unlike signs, resamples are not symmetric
        sums, seen = -sums, -seen
    return _share(
        sums, seen, near, "two-sided" if alternative == "two-sided" else "greater", count, False
    )


def t_test(differences: Any, alternative: str = "two-sided") -> Outcome:
    """Student's paired t-test: normal differences, or many.

    Without a difference the p-value is 1; with less than two queries it is NaN.

    Examples
    --------
    >>> from rankwood.stats import t_test
    >>> round(t_test([0.2, 0.0, -0.1, 0.3, 0.1, 0.0, 0.25, -0.05]).statistic, 5)
    1.66992
    """
    # SciPy takes time to import: whoever starts the command line need not wait for it.
    from scipy.special import stdtr

    d = _differences(differences, alternative)
    if d.size < 2:
        return Outcome(float("nan"), float("nan"), True)
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    if not d.any():
        return Outcome(0.0, 1.0, True)
    # Equal differences have a spread of rounding errors only.
    t = (
        mean / (spread / d.size**0.5)
        if spread > 1e-14 * abs(mean)
        else float(np.copysign(np.inf, mean))
    )
    if alternative == "two-sided":
        p = 2 * stdtr(d.size - 1, -abs(t))
    else:
        p = stdtr(d.size - 1, -t if alternative == "greater" else t)
    return Outcome(t, float(p), True)


def wilcoxon(differences: Any, alternative: str = "two-sided") -> Outcome:
    """Wilcoxon's signed-rank test, of whether gains are larger than losses by rank.

    Differences of 0 are left out (Wilcoxon's own rule); without any others the p-value is 1. SciPy decides
    whether the p-value is exact or normal. The statistic is the sum of ranks of the positive differences.

    Examples
    --------
    >>> from rankwood.stats import wilcoxon
    >>> wilcoxon([0.3, 0.1, 0.2, -0.05, 0.4])
    Outcome(statistic=14.0, p=0.125, exact=True)
    """
    from scipy.stats import wilcoxon as signed_rank

    d = _differences(differences, alternative)
    d = rounded(d)
    d = d[d != 0]
    if not d.size:
        return Outcome(0.0, 1.0, True)
    up = float(ranks(np.abs(d))[d > 0].sum())
    tie_free = np.unique(np.abs(d)).size == d.size
    p = float(signed_rank(d, alternative=alternative).pvalue)
    return Outcome(up, p, tie_free and d.size <= 50)


def _differences(differences: Any, alternative: str) -> np.ndarray:
    checks.one_of(alternative, ALTERNATIVES, "alternative")
    d = checks.vector(differences, "differences")
    if not d.size:
        raise checks.InputError("differences is empty; give one number per query.")
    return d
