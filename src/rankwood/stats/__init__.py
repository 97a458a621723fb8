"""Tests, intervals and effect sizes for paired differences: arrays in, numbers out.

Every function takes one difference per query (the value of one model minus the value of another) and knows nothing
about models, metrics or tables; `rankwood.report` does.

SciPy has `permutation_test`, `bootstrap`, `ttest_1samp` and `wilcoxon`, and statsmodels has `multipletests`. The t-test
and Wilcoxon's test use SciPy's distributions. Permutations and resamples are our own for three reasons. Sums are
made of integers, so they are exact and ties between discrete metrics (P@k) are not lost to rounding. Random numbers are
a function of seed, draw and position, so the p-value is bit-identical for any number of threads and any order of
queries. And draws are compiled and threaded: 10,000 draws of 6,000 queries take some milliseconds.
"""

from rankwood.stats.corrections import bonferroni, holm
from rankwood.stats.effect_sizes import cohen_d, rank_biserial, snap, wins_ties_losses
from rankwood.stats.intervals import (
    INTERVALS,
    bootstrap_interval,
    confidence,
    mean_interval,
    t_interval,
)
from rankwood.stats.paired_tests import (
    ALTERNATIVES,
    COUNTS,
    Outcome,
    bootstrap,
    permutation,
    t_test,
    wilcoxon,
)

__all__ = [
    "ALTERNATIVES",
    "COUNTS",
    "INTERVALS",
    "Outcome",
    "bonferroni",
    "bootstrap",
    "bootstrap_interval",
    "cohen_d",
    "confidence",
    "holm",
    "mean_interval",
    "permutation",
    "rank_biserial",
    "snap",
    "t_interval",
    "t_test",
    "wilcoxon",
    "wins_ties_losses",
]
