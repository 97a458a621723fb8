"""The tables of a comparison: its numbers as text cells, and the notes below them."""

import math
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.render.axis import Axis, axis_of
from rankwood.render.table import Cell, Span, Table

if TYPE_CHECKING:
    from rankwood.report.comparison.comparison import Comparison

LETTERS = ascii_letters
#: The mark of a p-value that can't be smaller with so few draws.
LIMIT = "‡"
#: Columns of `differences` that a narrow terminal can do without, the first to be dropped first.
DISPENSABLE = ("rank r", "Cohen's d", "raw p", "W/T/L")
_TESTS = {
    "permutation": "Paired permutation test",
    "fisher": "Fisher's randomisation test",
    "t": "Paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "bootstrap": "Paired bootstrap test",
}
_SIDES = {"two-sided": "two-sided", "greater": "one-sided (better)", "less": "one-sided (worse)"}
_COUNTS = {
    "share": ", ties counted and nothing added",
    "strict": ", strictly more extreme draws counted",
}
_INTERVALS = {"t": "Student's", "bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
_CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni"}


def tables(comparison: "Comparison", digits: int, details: bool) -> list[Table]:
    """Return the table of means, followed by the table of tests if there should be details."""
    digits = checks.at_least(digits, 0, "digits")
    means = summary(comparison, digits)
    tested = details and comparison.tests.size > 0
    return [means, *([differences(comparison, digits)] if tested else [])]


def summary(comparison: "Comparison", digits: int) -> Table:
    """Return the table of means: a row per model, a column per metric, the best mean in bold."""
    letters = comparison.rules["marks"] == "letters"
    models = [*comparison.models, *comparison.references]
    best = {m: _best(comparison, m) for m in comparison.metrics if _differ(comparison, m)}
    rows = []
    for i, model in enumerate(models):
        row = [Cell(model)]
        if letters:
            row.insert(0, Cell(LETTERS[i] if i < len(comparison.models) else ""))
        for metric in comparison.metrics:
            value = comparison.mean(model, metric)
            bound = model in comparison.references
            row.append(
                Cell(
                    format_number(value, digits),
                    "" if bound else _marks(comparison, model, metric),
                    not bound and _equal(value, best.get(metric, math.nan)),
                )
            )
        rows.append(row)
    headings = [
        *([""] if letters else []),
        "model",
        *(_heading(comparison, m) for m in comparison.metrics),
    ]
    breaks = [len(comparison.models)] if comparison.references else []
    tested = comparison.tests.size > 0  # a single model beside bounds has no test
    notes = [_legend(comparison), _method(comparison)] if tested else []
    notes.append(_queries(comparison))
    title = "Means over queries"
    return Table(title, headings, rows, len(comparison.metrics), [n for n in notes if n], breaks)


def _heading(comparison: "Comparison", metric: str) -> str:
    return metric if comparison.better[metric] > 0 else f"{metric} ↓"


def _best(comparison: "Comparison", metric: str) -> float:
    """Return the best mean of a metric; NaN if no model has one."""
    means = [comparison.mean(model, metric) for model in comparison.models]
    known = [x for x in means if not math.isnan(x)]
    pick = max if comparison.better[metric] > 0 else min
    return pick(known, default=math.nan)


def _differ(comparison: "Comparison", metric: str) -> bool:
    """Return whether some means of a metric differ; if all are equal, none of them stands out."""
    first, *others = (comparison.mean(model, metric) for model in comparison.models)
    return any(math.isnan(x) != math.isnan(first) or not _equal(x, first) for x in others)


def _equal(a: float, b: float) -> bool:
    """Return whether two means are equal but for rounding."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


def _marks(comparison: "Comparison", model: str, metric: str) -> str:
    """Return stars if better than the baseline, daggers if worse; or the letters of the models that one beats."""
    rows = comparison.tests
    rows = rows[(rows["model"] == model) & (rows["metric"] == metric)]
    if comparison.rules["marks"] == "letters":
        beaten = rows["against"][rows["stars"] > 0].tolist()
        return "".join(LETTERS[i] for i, m in enumerate(comparison.models) if m in beaten)
    stars = int(rows["stars"][0]) if rows.size else 0
    return "*" * stars if stars > 0 else "†" * -stars


def _legend(comparison: "Comparison") -> str:
    """Return what the marks mean."""
    rules = comparison.rules
    if rules["marks"] == "letters":
        return f"Letters: significantly better than the models of these letters (p < {rules['alphas'][0]:g})."
    less = rules["alternative"] == "less"
    sign = "†" if less else "*"
    marks = ", ".join(f"{sign * i} p < {x:g}" for i, x in enumerate(rules["alphas"], 1))
    more = "; † likewise worse" if rules["alternative"] == "two-sided" else ""
    return f"{'Worse' if less else 'Better'} than {rules['baseline']}: {marks}{more}."


def _method(comparison: "Comparison") -> str:
    """Return which test was made, and how p-values were corrected."""
    rules = comparison.rules
    text = f"{_TESTS[rules['test']]}, {_SIDES[rules['alternative']]}"
    if rules["test"] in ("permutation", "fisher", "bootstrap"):
        sampled = not comparison.tests["exact"].all()
        text += f", {rules['draws']:,} draws, seed {rules['seed']}" if sampled else ", exact"
        text += _COUNTS.get(rules["p_value"], "")
    if rules["family"] < 2:
        return f"{text}."
    tests = f"{rules['family']:,} tests"
    if rules["correction"] is None:
        return f"{text}; {tests}, not corrected for their number."
    return f"{text}; p-values corrected by {_CORRECTIONS[rules['correction']]} over {tests}."


def _queries(comparison: "Comparison") -> str:
    """Return how many queries were compared, and how many were omitted."""
    rows = comparison.tests
    counts = (rows if rows.size else comparison.means[~comparison.means["bound"]])["queries"]
    low, high = int(counts.min()), int(counts.max())
    text = plural(high, "query") if low == high else f"{low:,} to {high:,} queries"
    skipped = int(rows["skipped"].max(initial=0))
    if skipped:
        most = "" if rows["skipped"].min() == skipped else "up to "
        text += f"; {most}{skipped:,} without a value of both models omitted"
    repeats = comparison.conventions.get("repeats", 1)
    return text + (f"; values of repeated runs are means of {repeats}." if repeats > 1 else ".")


def differences(comparison: "Comparison", digits: int) -> Table:
    """Return the table of tests: a row per model and metric, with difference, interval, p-values and effect sizes."""
    rules, rows = comparison.rules, shown_tests(comparison)
    pairs = rules["marks"] == "letters"
    axes = {m: _axis(rows[rows["metric"] == m]) for m in comparison.metrics}
    last = {str(row["metric"]): i for i, row in enumerate(rows)}
    corrected = rules["correction"] is not None and rules["family"] > 1
    headings = ["model", *(["against"] if pairs else []), "metric", "difference"]
    headings.append(f"{100 * rules['confidence']:g} % interval")
    headings += ["raw p", f"{_CORRECTIONS[rules['correction']]} p"] if corrected else ["p"]
    headings += ["Cohen's d", "rank r", "W/T/L"]
    body = []
    for i, row in enumerate(rows):
        metric = str(row["metric"])
        names = [str(row["model"]), *([str(row["against"])] if pairs else []), metric]
        ends_and_point = (row["low"], row["difference"], row["high"])
        span = Span(*ends_and_point, axes[metric], comparison.better[metric], last[metric] == i)
        ends = [format_number(row[end], digits, sign=True) for end in ("low", "high")]
        limit = bool(row["at_limit"])
        ps = [row["p"], *([row["p_corrected"]] if corrected else [])]
        body.append(
            [
                *map(Cell, names),
                Cell(format_number(row["difference"], digits, sign=True)),
                Cell(f"{ends[0]} to {ends[1]}", span=span),
                *(
                    Cell(format_p(p, limit), LIMIT * limit, j == len(ps) - 1 and row["stars"] != 0)
                    for j, p in enumerate(ps)
                ),
                *(Cell(format_number(row[n], 2, sign=True)) for n in ("cohen_d", "rank_biserial")),
                Cell("/".join(str(row[n]) for n in ("wins", "ties", "losses"))),
            ]
        )
    title = "Differences between models" if pairs else f"Differences from {rules['baseline']}"
    notes = [f"Intervals of the mean difference: {_INTERVALS[rules['interval']]}."]
    notes.append("W/T/L: queries won, tied and lost.")
    if rows["at_limit"].any():
        notes.append(
            f"{LIMIT} At the limit of the draws: none of {rules['draws']:,} was as extreme, so p can't be smaller with "
            "so many."
        )
    several = rows.size > len(last) > 1
    breaks = [i + 1 for i in sorted(last.values())[:-1]] if several else []
    return Table(title, headings, body, len(headings) - 2 - pairs, notes, breaks)


def shown_tests(comparison: "Comparison") -> np.ndarray:
    """Return the tests by metric, without those that repeat another one with the models exchanged."""
    rows, rules = comparison.tests, comparison.rules
    rows = rows[np.argsort([comparison.metrics.index(m) for m in rows["metric"]], kind="stable")]
    if rules["marks"] != "letters" or rules["alternative"] != "two-sided":
        return rows
    place = {m: i for i, m in enumerate(comparison.models)}
    return rows[[place[a] > place[b] for a, b in zip(rows["model"], rows["against"], strict=True)]]


def _axis(rows: np.ndarray) -> Axis:
    """Return an axis that holds 0 and all intervals of a metric."""
    return axis_of([0.0, *np.concatenate([rows["low"], rows["high"], rows["difference"]]).tolist()])


def long_table(comparison: "Comparison") -> tuple[list[str], list[list[Any]]]:
    """Return headings and rows of one table of all numbers: each mean, with each of its tests or empty cells."""
    means, tests = comparison.means, comparison.tests
    names = list(means.dtype.names or ())
    more = [n for n in tests.dtype.names or () if n not in names and n != "against_mean"]
    rows = []
    for mean in means:
        own = tests[(tests["model"] == mean["model"]) & (tests["metric"] == mean["metric"])]
        tails = [[row[n].item() for n in more] for row in own] or [[""] * len(more)]
        rows += [[*mean.tolist(), *tail] for tail in tails]
    return [*names, *more], rows


def format_number(value: float, digits: int, sign: bool = False) -> str:
    """Return a number with fixed decimals, a dash if it is NaN; `sign` writes a plus as well, but not for 0."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text.replace("+", "") if sign and float(text) == 0 and value == 0 else text


def format_p(p: float, at_limit: bool = False) -> str:
    """Return a p-value with four decimals, a dash if it is NaN; one at the limit of the draws is not below it."""
    if math.isnan(p):
        return "-"
    return "<0.0001" if p < (0.00005 if at_limit else 0.0001) else f"{p:.4f}"
