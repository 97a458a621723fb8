"""The rules of a comparison: which test, which marks; and those of papers by name."""

from collections.abc import Sequence
from typing import Any, TypedDict

from rankwood import stats
from rankwood._util import checks


class ComparisonRules(TypedDict, total=False):
    """Which test a comparison makes, and what it marks; `compare` takes these by name.

    Attributes
    ----------
    test : {"permutation", "fisher", "t", "wilcoxon", "bootstrap"}
        The paired test. The default, "permutation", exchanges the two values of queries at random; "fisher" is
        another name for it.
    alternative : {"two-sided", "greater", "less"}
        Whether to test for a model that is different from the other, better, or worse. "greater" means better even
        for a metric such as ARP whose lower values are better. Default "two-sided".
    correction : {"holm", "bonferroni", None}
        Correction of p-values for the number of tests in the table (models times metrics). By default that of the
        preset, or "holm" without a preset.
    draws : int
        Number of random draws of the permutation test and the bootstrap; 10,000 by default.
    seed : int
        The same seed gives the same numbers.
    preset : str, optional
        The rules of a paper: "lambdagap-2025", "lambda-ex-2023", "lambdaloss-2018", "which-tricks-2023" or
        "bivariate-2024". Arguments given beside it take precedence.
    marks : {"stars", "letters"}
        Stars compare each model with the baseline. Letters list the models that one is significantly better than,
        which takes a test for every pair of models. Default "stars".
    alphas : list of float
        Significance levels, one star each; (0.05, 0.01, 0.001) by default. Letters use the largest.
    p_value : {"corrected", "share", "strict"}
        How random draws become a p-value, see `rankwood.stats.permutation`.
    interval : {"t", "bca", "percentile"}
        Confidence interval of the mean difference: Student's or a bootstrap interval. Default "t", or "bca" if the
        test is the bootstrap.
    confidence : float
        Confidence level of intervals.
    """

    preset: str | None
    test: str | None
    alternative: str | None
    correction: str | None
    draws: int | None
    seed: int
    marks: str | None
    alphas: float | Sequence[float] | None
    p_value: str | None
    interval: str | None
    confidence: float


TESTS = ("permutation", "fisher", "t", "wilcoxon", "bootstrap")
CORRECTIONS = ("holm", "bonferroni", None)
MARKS = ("stars", "letters")
#: Rules for which neither the caller nor the preset gives a value.
DEFAULTS: dict[str, Any] = {
    "test": "permutation",
    "alternative": "two-sided",
    "correction": "holm",
    "draws": 10_000,
    "p_value": "corrected",
    "alphas": (0.05, 0.01, 0.001),
    "marks": "stars",
}
#: The rules of papers, by name; none of them corrects for the number of tests.
PRESETS: dict[str, dict[str, Any]] = {
    # P-value: the share of 10,000 exchanges whose mean difference is strictly above the observed one.
    "lambdagap-2025": {
        "test": "permutation",
        "alternative": "greater",
        "draws": 10_000,
        "p_value": "strict",
        "alphas": (0.05, 0.01, 0.001),
        "correction": None,
    },
    # The paper uses RankEval, which draws 100,000 times and counts ties as extreme.
    "lambda-ex-2023": {
        "test": "fisher",
        "alternative": "two-sided",
        "draws": 100_000,
        "p_value": "share",
        "alphas": (0.05, 0.01),
        "correction": None,
    },
    # The paper only says "t-test"; paired and two-sided is the usual reading.
    "lambdaloss-2018": {
        "test": "t",
        "alternative": "two-sided",
        "alphas": (0.05,),
        "correction": None,
    },
    "which-tricks-2023": {
        "test": "t",
        "alternative": "greater",
        "alphas": (0.05,),
        "correction": None,
    },
    # The letters in its tables name the models that one improves on.
    "bivariate-2024": {
        "test": "t",
        "alternative": "two-sided",
        "alphas": (0.01,),
        "correction": None,
        "marks": "letters",
    },
}


#: Arguments that had other names up to version 0.4.
_RENAMED = {
    **{"bounds": "references", "level": "confidence", "levels": "alphas", "count": "p_value"},
    "correct": "correction",
}


def resolve(arguments: ComparisonRules) -> dict[str, Any]:
    """Return all rules of a comparison: arguments take precedence over the preset, the preset over defaults."""
    for name in arguments:
        if name not in ComparisonRules.__annotations__:
            near = checks.nearest(name, ComparisonRules.__annotations__)
            now = f": it is called {_RENAMED[name]!r}." if name in _RENAMED else near
            raise TypeError(f"compare has no argument {name!r}{now}")
    preset, rules = arguments.get("preset"), dict(DEFAULTS)
    if preset is not None:
        rules.update(PRESETS[checks.one_of(preset, PRESETS, "preset")])
    # None is the default of all rules but one: without a correction, p-values stay as they are.
    rules |= {
        name: value
        for name, value in arguments.items()
        if name in DEFAULTS and (value is not None or name == "correction")
    }
    checks.one_of(rules["test"], TESTS, "test")
    checks.one_of(rules["alternative"], stats.ALTERNATIVES, "alternative")
    checks.one_of(rules["correction"], CORRECTIONS, "correction")
    checks.one_of(rules["p_value"], stats.COUNTS, "p_value")
    checks.one_of(rules["marks"], MARKS, "marks")
    if rules["marks"] == "letters" and rules["alternative"] == "less":
        raise checks.InputError(
            "letters show which models one is better than, but alternative='less' tests for worse; "
            "use 'two-sided' or 'greater'."
        )
    rules["draws"] = checks.at_least(rules["draws"], 1, "draws")
    rules["alphas"] = _levels(rules["alphas"])
    usual = "bca" if rules["test"] == "bootstrap" else "t"
    rules["interval"] = checks.one_of(
        arguments.get("interval") or usual, stats.INTERVALS, "interval"
    )
    rules["confidence"] = stats.confidence(arguments.get("confidence", 0.95))
    rules["seed"] = checks.at_least(arguments.get("seed", 0), 0, "seed")
    return {"preset": preset, **rules}


def _levels(levels: Any) -> tuple[float, ...]:
    """Return significance levels from the largest to the smallest, without duplicates."""
    try:
        numbers = tuple(float(x) for x in (levels if hasattr(levels, "__iter__") else [levels]))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(0 < x < 1 for x in numbers):
        raise checks.InputError(
            f"alphas must be numbers between 0 and 1, such as (0.05, 0.01), got {levels!r}."
        )
    return tuple(sorted(set(numbers), reverse=True))
