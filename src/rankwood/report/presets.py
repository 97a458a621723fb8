"""The rules of a comparison: which test, which marks; and those of papers by name."""

from typing import Any

from rankwood import stats
from rankwood._core import checks

TESTS = ("permutation", "fisher", "t", "wilcoxon", "bootstrap")
CORRECTIONS = ("holm", "bonferroni", None)
MARKS = ("stars", "letters")
INTERVALS = ("t", "bca", "percentile")
#: Rules for which neither the caller nor the preset gives a value.
DEFAULTS: dict[str, Any] = {
    "test": "permutation",
    "alternative": "two-sided",
    "correct": "holm",
    "draws": 10_000,
    "count": "corrected",
    "levels": (0.05, 0.01, 0.001),
    "marks": "stars",
}
#: The rules of papers, by name; none of them corrects for the number of tests.
PRESETS: dict[str, dict[str, Any]] = {
    # P-value: the share of 10,000 exchanges whose mean difference is strictly above the observed one.
    "lambdagap-2025": {
        "test": "permutation",
        "alternative": "greater",
        "draws": 10_000,
        "count": "strict",
        "levels": (0.05, 0.01, 0.001),
        "correct": None,
    },
    # The paper uses RankEval, which draws 100,000 times and counts ties as extreme.
    "lambda-ex-2023": {
        "test": "fisher",
        "alternative": "two-sided",
        "draws": 100_000,
        "count": "share",
        "levels": (0.05, 0.01),
        "correct": None,
    },
    # The paper only says "t-test"; paired and two-sided is the usual reading.
    "lambdaloss-2018": {
        "test": "t",
        "alternative": "two-sided",
        "levels": (0.05,),
        "correct": None,
    },
    "which-tricks-2023": {
        "test": "t",
        "alternative": "greater",
        "levels": (0.05,),
        "correct": None,
    },
    # The letters in its tables name the models that one improves on.
    "bivariate-2024": {
        "test": "t",
        "alternative": "two-sided",
        "levels": (0.01,),
        "correct": None,
        "marks": "letters",
    },
}


def resolve(preset: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """Return the rules of a comparison: given ones take precedence over the preset, the preset over defaults."""
    rules = dict(DEFAULTS)
    if preset is not None:
        rules.update(PRESETS[checks.one_of(preset, PRESETS, "preset")])
    rules.update(given)
    checks.one_of(rules["test"], TESTS, "test")
    checks.one_of(rules["alternative"], stats.ALTERNATIVES, "alternative")
    checks.one_of(rules["correct"], CORRECTIONS, "correct")
    checks.one_of(rules["count"], stats.COUNTS, "count")
    checks.one_of(rules["marks"], MARKS, "marks")
    if rules["marks"] == "letters" and rules["alternative"] == "less":
        raise checks.InputError(
            "letters show which models one is better than, but alternative='less' tests for worse; "
            "use 'two-sided' or 'greater'."
        )
    rules["draws"] = checks.at_least(rules["draws"], 1, "draws")
    rules["levels"] = _levels(rules["levels"])
    return {"preset": preset, **rules}


def _levels(levels: Any) -> tuple[float, ...]:
    """Return significance levels from the largest to the smallest, without duplicates."""
    try:
        found = tuple(float(x) for x in (levels if hasattr(levels, "__iter__") else [levels]))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < x < 1 for x in found):
        raise checks.InputError(
            f"levels must be numbers between 0 and 1, such as (0.05, 0.01), got {levels!r}."
        )
    return tuple(sorted(set(found), reverse=True))
