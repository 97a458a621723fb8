"""Marks of significance, by hand and by plain loops."""

from itertools import product

import numpy as np
import pytest

from rankwood.reproduce.recipes.recipe import SignificanceTest
from rankwood.reproduce.significance import differences, our_marks, paper_mark, paper_p, sentences

#: Differences whose p-values are known: all 2^8 signs can be listed, and t is 1.66992 with 7 degrees of freedom.
D = np.array([0.2, 0, -0.1, 0.3, 0.1, 0, 0.25, -0.05])
ONE_SIDED = SignificanceTest(sides=1, strict=True, levels=(0.1, 0.01), marks=("*", "**"))


def test_p_values_of_known_differences():
    assert paper_p(D, ONE_SIDED) == 0.0625
    assert paper_p(D, SignificanceTest(sides=1)) == 0.09375
    assert paper_p(D, SignificanceTest(sides=2)) == 0.1875
    assert paper_p(D, SignificanceTest(kind="t", sides=2)) == pytest.approx(0.13887, abs=2e-5)
    assert np.isnan(paper_p(np.array([np.nan]), ONE_SIDED))


def test_p_value_is_the_share_of_signs():
    signs = np.array(list(product([-1, 1], repeat=8)))
    sums = (signs * np.abs(D)).sum(axis=1)
    assert paper_p(D, ONE_SIDED) == (sums > D.sum() + 1e-9).mean()


def test_marks_are_of_improvements_only():
    assert paper_mark(D, ONE_SIDED) == "*"
    assert paper_mark(-D, ONE_SIDED) == ""
    assert paper_mark(np.full(12, 0.5), ONE_SIDED) == "**"
    two_sided = SignificanceTest(sides=2, levels=(0.5,), marks=("+",))
    assert (paper_mark(D, two_sided), paper_mark(-D, two_sided)) == ("+", "")
    assert paper_mark(np.zeros(5), two_sided) == ""


def test_arrows_are_corrected_for_their_number(rng):
    clear, none = np.full(9, 0.1), np.zeros(9)
    # All 2^9 signs: two of them are as extreme, so p = 1 / 256; Holm multiplies the smallest by the number of tests.
    assert our_marks([clear]) == ["↑"]
    assert our_marks([clear] * 12) == ["↑"] * 12  # 12 / 256 < 0.05
    assert (
        our_marks([clear] * 13) == [""] * 13
    )  # 13 / 256 > 0.05, so the first step of Holm's ends it
    assert our_marks([-clear, none, None]) == ["↓", "", ""]
    assert our_marks([]) == []


def test_differences_point_upwards_if_better():
    ours, others = np.array([0.3, np.nan, 0.1 + 0.2]), np.array([0.1, 0.2, 0.3])
    found = differences(ours, others, 1)
    assert found[0] == pytest.approx(0.2)
    assert np.isnan(found[1])
    assert found[2] == 0  # rounding is no difference
    assert differences(ours, others, -1)[0] == pytest.approx(-0.2)


def test_sentences_say_which_test():
    one, ours = sentences(ONE_SIDED, "RankNet", False)
    levels = ", ".join(map(str, ONE_SIDED.levels))
    assert one.startswith(f"{', '.join(ONE_SIDED.marks)}: better than RankNet at {levels} by ")
    assert "one-sided permutation test" in one
    assert "Holm" in ours and "two-sided" in ours
    letters, _ = sentences(SignificanceTest(kind="t", letters=True), "a", False)
    assert letters.startswith("Letters") and "t-test" in letters
    best, _ = sentences(ONE_SIDED, "best", True)
    assert "worse than the best model" in best
