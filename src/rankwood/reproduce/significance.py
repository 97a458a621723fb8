"""Marks of significance: by the test of a paper, and by ours with Holm's correction."""

from collections.abc import Sequence

import numpy as np

from rankwood import stats
from rankwood.reproduce.recipes.recipe import SignificanceTest

OUR_LEVEL = 0.05
OURS = f"a two-sided permutation test (10,000 draws) with Holm's correction over the table, at {OUR_LEVEL:g}"


def paper_p(differences: np.ndarray, test: SignificanceTest) -> float:
    """Return the p-value of differences (above 0 means better) by the test of a paper; NaN if there are none."""
    kept = differences[~np.isnan(differences)]
    if not kept.size:
        return float("nan")
    alternative = "greater" if test.sides == 1 else "two-sided"
    if test.kind == "t":
        return stats.t_test(kept, alternative).p
    count = "strict" if test.strict else "share"
    return stats.permutation(kept, alternative, test.draws, count=count, n_jobs=1).p


def paper_mark(differences: np.ndarray, test: SignificanceTest) -> str:
    """Return the mark that a paper would print at these differences: only improvements have one."""
    p = paper_p(differences, test)
    kept = differences[~np.isnan(differences)]
    if not kept.size or kept.mean() <= 0:
        return ""
    strictest_first = sorted(zip(test.levels, test.marks, strict=True))
    return next((mark for level, mark in strictest_first if p < level), "")


def our_marks(differences: Sequence[np.ndarray | None]) -> list[str]:
    """Return an arrow for each difference that is significant among all of them, by Holm's correction."""
    p = [_our_p(d) for d in differences]
    corrected = stats.holm(p) if p else np.zeros(0)
    marks = []
    for d, value in zip(differences, corrected, strict=True):
        if d is None or not value < OUR_LEVEL:
            marks.append("")
        else:
            marks.append("↑" if np.nanmean(d) > 0 else "↓")
    return marks


def _our_p(differences: np.ndarray | None) -> float:
    if differences is None:
        return float("nan")
    kept = differences[~np.isnan(differences)]
    return stats.permutation(kept, n_jobs=1).p if kept.size else float("nan")


def differences(values: np.ndarray, others: np.ndarray, better: int) -> np.ndarray:
    """Return differences by query, above 0 where the first is better; rounding counts as a tie."""
    both = ~(np.isnan(values) | np.isnan(others))
    found = np.full(values.shape, np.nan)
    found[both] = stats.snap(values[both], others[both]) * better
    return found


def sentences(test: SignificanceTest, baseline: str, best: bool) -> list[str]:
    """Return what the marks of the paper's test and of ours mean."""
    kind = "paired t-test"
    if test.kind == "permutation":
        more = "more extreme" if test.strict else "at least as extreme"
        kind = f"permutation test ({test.draws:,} draws, of which those {more} count)"
    own = f"the paper's own test, a {'one' if test.sides == 1 else 'two'}-sided {kind}"
    against = "the best model" if best else baseline
    arrows = f"↑ and ↓: better or worse than {against} by {OURS}."
    if test.letters:
        beaten = f"Letters: the rows that are beaten by {own} at {max(test.levels):g}."
        return [beaten, arrows]
    levels = ", ".join(f"{level:g}" for level in test.levels)
    how = f"{'worse' if best else 'better'} than {against} at {levels}"
    return [f"{', '.join(test.marks)}: {how} by {own}.", arrows]
