"""Statistics of paired differences: arrays in, numbers out.

Everything here takes one difference per query (a model's value minus another's) and knows nothing of
models, metrics or tables: `rankwood.report` does.
"""

from rankwood.stats.paired import (
    ALTERNATIVES,
    COUNTS,
    Outcome,
    bootstrap,
    permutation,
    t_test,
    wilcoxon,
)
from rankwood.stats.several import bonferroni, holm
from rankwood.stats.sizes import (
    bootstrap_interval,
    cohen_d,
    confidence,
    rank_biserial,
    snap,
    t_interval,
    wins_ties_losses,
)

__all__ = [
    "ALTERNATIVES",
    "COUNTS",
    "Outcome",
    "bonferroni",
    "bootstrap",
    "bootstrap_interval",
    "cohen_d",
    "confidence",
    "holm",
    "permutation",
    "rank_biserial",
    "snap",
    "t_interval",
    "t_test",
    "wilcoxon",
    "wins_ties_losses",
]
