"""What compares how: the rules of a comparison, and those of papers by name."""

from typing import Any

from rankwood import stats
from rankwood._core import checks

TESTS = ("permutation", "fisher", "t", "wilcoxon", "bootstrap")
CORRECTIONS = ("holm", "bonferroni", None)
MARKS = ("stars", "letters")
INTERVALS = ("t", "bca", "percentile")
#: What holds where neither the caller nor a preset says anything.
DEFAULTS: dict[str, Any] = {
    "test": "permutation",
    "alternative": "two-sided",
    "correct": "holm",
    "draws": 10_000,
    "count": "corrected",
    "levels": (0.05, 0.01, 0.001),
    "marks": "stars",
}
#: How papers test, by name; none of them corrects for the number of tests.
PRESETS: dict[str, dict[str, Any]] = {
    # The share of 10,000 exchanges whose mean difference is strictly above the one seen.
    "lambdagap-2025": {
        "test": "permutation",
        "alternative": "greater",
        "draws": 10_000,
        "count": "strict",
        "levels": (0.05, 0.01, 0.001),
        "correct": None,
    },
    # Through RankEval, which draws 100,000 times and counts ties as extreme.
    "lambda-ex-2023": {
        "test": "fisher",
        "alternative": "two-sided",
        "draws": 100_000,
        "count": "share",
        "levels": (0.05, 0.01),
        "correct": None,
    },
    # The paper says "t-test" and no more; paired and two-sided is the usual reading.
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
    # Its tables have letters for the rows that a model improves on.
    "bivariate-2024": {
        "test": "t",
        "alternative": "two-sided",
        "levels": (0.01,),
        "correct": None,
        "marks": "letters",
    },
}


def rules(preset: str | None, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the rules of a comparison: what is stated wins over the preset, the preset over defaults."""
    made = dict(DEFAULTS)
    if preset is not None:
        made.update(PRESETS[checks.one_of(preset, PRESETS, "preset")])
    made.update(stated)
    checks.one_of(made["test"], TESTS, "test")
    checks.one_of(made["alternative"], stats.ALTERNATIVES, "alternative")
    checks.one_of(made["correct"], CORRECTIONS, "correct")
    checks.one_of(made["count"], stats.COUNTS, "count")
    checks.one_of(made["marks"], MARKS, "marks")
    if made["marks"] == "letters" and made["alternative"] == "less":
        raise checks.InputError(
            "letters show which models one is better than, but alternative='less' asks for worse; "
            "use 'two-sided' or 'greater'."
        )
    made["draws"] = checks.at_least(made["draws"], 1, "draws")
    made["levels"] = _levels(made["levels"])
    return {"preset": preset, **made}


def _levels(levels: Any) -> tuple[float, ...]:
    """Return levels of significance from the weakest to the strongest: one mark each."""
    try:
        found = tuple(float(x) for x in (levels if hasattr(levels, "__iter__") else [levels]))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < x < 1 for x in found):
        raise checks.InputError(
            f"levels must be numbers between 0 and 1, such as (0.05, 0.01), got {levels!r}."
        )
    return tuple(sorted(set(found), reverse=True))
