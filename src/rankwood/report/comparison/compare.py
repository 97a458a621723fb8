"""Compare models query by query: means, differences, tests of significance."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from rankwood import stats
from rankwood._util import checks
from rankwood.report.comparison.align import Aligned, align, better_sign
from rankwood.report.comparison.columns import MEAN, TEST, structured
from rankwood.report.comparison.comparison import Comparison
from rankwood.report.comparison.presets import ComparisonRules, resolve
from rankwood.report.comparison.references import reference_means
from rankwood.report.comparison.runs import evaluate_runs
from rankwood.report.comparison.view import LETTERS

_CORRECTIONS: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    "holm": stats.holm,
    "bonferroni": stats.bonferroni,
    None: lambda p: p,
}


def compare(
    evaluations: Mapping[str, Any] | Sequence[Any],
    baseline: str | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    references: Any = None,
    qrels: Any = None,
    convention: str | None = None,
    n_jobs: int | None = None,
    **rules: Unpack[ComparisonRules],
) -> Comparison:
    """Compare models query by query, and test which differences are significant.

    Parameters
    ----------
    evaluations : dict of Evaluation
        Two or more models by name, evaluated with the same metrics and rules on the same queries; with `references`,
        one is enough. Queries are matched by id, so their order does not matter. Models of a list are called "model 1",
        "model 2", … With `qrels`, these may be runs, in any form that `rankwood.evaluate` takes.
    baseline : str, optional
        The model that the others are compared with; the first by default.
    metrics : str or list of str, optional
        Metrics to compare by; all by default, and ndcg@10 with `qrels`.
    references : RankingData, Qrels, (y, qid) or dict of Evaluation, optional
        The labels behind the evaluations: adds a perfect and a random model as rows without tests. A dictionary
        adds its evaluations as such rows instead, see `report.perfect` and `report.random`.
    qrels : Qrels, dict, table or iterable, optional
        Judgments, to evaluate runs by.
    convention : str, optional
        The program whose definitions and rules the evaluation of runs follows, as in `rankwood.evaluate`; with `qrels`
        only.
    n_jobs : int, optional
        Number of threads; None means every core. The result is the same for any number.
    **rules
        Which test, which marks, which intervals: `preset`, `test`, `alternative`, `correction`, `draws`, `seed`,
        `marks`, `alphas`, `p_value`, `interval` and `confidence`, see `rankwood.report.ComparisonRules`.

    Returns
    -------
    Comparison
        The numbers, with methods that write them as tables.

    Raises
    ------
    InputError
        If models were evaluated on different queries, with different metrics or by different rules.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import compare
    >>> y, qid = [1, 0, 0, 1, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    >>> good = rw.evaluate("dcg@1", y, [9, 1, 1, 9, 1, 9, 9, 1], qid=qid)
    >>> poor = rw.evaluate("dcg@1", y, [1, 9, 9, 1, 9, 1, 1, 9], qid=qid)
    >>> found = compare({"poor": poor, "good": good})
    >>> found.tests[["difference", "p", "wins"]].tolist()
    [(1.0, 0.125, 4)]
    """
    resolved = resolve(rules)
    evaluated = evaluate_runs(evaluations, qrels, metrics, convention, n_jobs)
    table = align(evaluated, metrics, 2 if references is None else 1)
    if resolved["marks"] == "letters" and len(table.models) > len(LETTERS):
        raise checks.InputError(
            f"there are letters for {len(LETTERS)} models, got {len(table.models)}; use marks='stars'."
        )
    resolved["baseline"] = _baseline(baseline, table.models)
    better = {name: better_sign(name) for name in table.metrics}
    tests = _tests(table, resolved, better, n_jobs)
    reference_values = {} if references is None else reference_means(table, references, n_jobs)
    means = _means(table, reference_values)
    return Comparison(table, means, tests, resolved, better, list(reference_values))


def _baseline(baseline: Any, models: list[str]) -> str:
    """Return the name of the baseline; raise if there is no such model."""
    if baseline is None:
        return models[0]
    if str(baseline) not in models:
        near = checks.nearest(str(baseline), models)
        raise checks.InputError(f"baseline {str(baseline)!r} is none of the models{near}")
    return str(baseline)


def _means(table: Aligned, references: dict[str, np.ndarray]) -> np.ndarray:
    """Return the mean of each model by each metric, over the queries that were not skipped."""
    rows = []
    for model, values in [*zip(table.models, table.values, strict=True), *references.items()]:
        for metric, column in zip(table.metrics, values, strict=True):
            kept = column[~np.isnan(column)]
            mean = kept.mean() if kept.size else np.nan
            error = kept.std(ddof=1) / math.sqrt(kept.size) if kept.size > 1 else np.nan
            rows.append((model, metric, mean, error, kept.size, model in references))
    return structured(rows, MEAN)


class _Pair(NamedTuple):
    """A model, the model it is compared with, and a metric, all by index."""

    model: int
    against: int
    metric: int


def _tests(
    table: Aligned, rules: dict[str, Any], better: dict[str, int], n_jobs: int | None
) -> np.ndarray:
    """Return a row for each pair of models and metric, with p-values corrected over all tests."""
    n, baseline = len(table.models), table.models.index(rules["baseline"])
    mirrored = rules["marks"] == "letters" and rules["alternative"] == "two-sided"
    if rules["marks"] == "stars":
        models = [(i, baseline) for i in range(n) if i != baseline]
    else:  # a two-sided test of (i, j) is that of (j, i), so it is made once
        models = [(i, j) for i in range(n) for j in range(n) if i > j or (i < j and not mirrored)]
    rows = [
        _row(table, rules, _Pair(i, j, m), better[metric], n_jobs)
        for i, j in models
        for m, metric in enumerate(table.metrics)
    ]
    corrected = _CORRECTIONS[rules["correction"]](np.array([row["p"] for row in rows]))
    rules["family"] = int((~np.isnan(corrected)).sum())
    for row, p in zip(rows, corrected, strict=True):
        row["p_corrected"] = float(p)
        row["stars"] = _stars(row, rules)
    if mirrored:
        rows += [_mirrored(row, rules) for row in rows]
    return structured([tuple(row[name] for name, _ in TEST) for row in rows], TEST)


def _row(
    table: Aligned, rules: dict[str, Any], pair: _Pair, better: int, n_jobs: int | None
) -> dict[str, Any]:
    """Return all columns of a test but the corrected p-value, and the direction of the difference."""
    values = table.values[pair.model, pair.metric]
    others = table.values[pair.against, pair.metric]
    both = ~(np.isnan(values) | np.isnan(others))
    model, against = table.models[pair.model], table.models[pair.against]
    metric = table.metrics[pair.metric]
    if not both.any():
        raise checks.InputError(
            f"{model!r} and {against!r} have no query in common with a value of {metric!r}: "
            f"all {both.size:,} were skipped."
        )
    d = stats.snap(values[both], others[both])
    outcome = _test(d * better, rules, n_jobs)
    low, high = _interval(d, rules, n_jobs)
    wins, ties, losses = stats.wins_ties_losses(d * better)
    rank_biserial = stats.rank_biserial(d)
    return {
        "model": model,
        "against": against,
        "metric": metric,
        "queries": int(both.sum()),
        "skipped": int((~both).sum()),
        "mean": values[both].mean(),
        "against_mean": others[both].mean(),
        "difference": d.mean(),
        "low": low,
        "high": high,
        "statistic": outcome.statistic,
        "p": outcome.p,
        "exact": outcome.exact,
        "at_limit": _at_limit(outcome, rules),
        "cohen_d": stats.cohen_d(d),
        "rank_biserial": rank_biserial,
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "direction": _direction(d, rank_biserial, rules) * better,
    }


def _direction(d: np.ndarray, rank_biserial: float, rules: dict[str, Any]) -> int:
    """Return the sign of what is tested: of the ranks for Wilcoxon's test, else of the mean; 0 if it is rounding."""
    if rules["test"] == "wilcoxon":
        return int(np.sign(rank_biserial))
    mean = float(d.mean())
    return int(np.sign(mean)) if abs(mean) > 1e-12 * np.abs(d).mean() else 0


def _test(d: np.ndarray, rules: dict[str, Any], n_jobs: int | None) -> stats.Outcome:
    name, alternative = rules["test"], rules["alternative"]
    if name == "t":
        return stats.t_test(d, alternative)
    if name == "wilcoxon":
        return stats.wilcoxon(d, alternative)
    sampled = stats.bootstrap if name == "bootstrap" else stats.permutation
    return sampled(d, alternative, rules["draws"], rules["seed"], rules["p_value"], n_jobs)


def _at_limit(outcome: stats.Outcome, rules: dict[str, Any]) -> bool:
    """Return whether no draw was as extreme as what was observed, so that p is the smallest possible."""
    if outcome.exact or rules["test"] in ("t", "wilcoxon"):
        return False
    smallest = 1 / (1 + rules["draws"]) if rules["p_value"] == "corrected" else 0.0
    return outcome.p <= smallest


def _interval(d: np.ndarray, rules: dict[str, Any], n_jobs: int | None) -> tuple[float, float]:
    kind, level = rules["interval"], rules["confidence"]
    return stats.mean_interval(d, kind, level, rules["draws"], rules["seed"], n_jobs)


def _stars(row: dict[str, Any], rules: dict[str, Any]) -> int:
    """Return how many significance levels a difference passes; negative if the model is worse."""
    if row["direction"] == 0:
        return 0
    passed = sum(row["p_corrected"] < level for level in rules["alphas"])
    return passed * {"greater": 1, "less": -1}.get(rules["alternative"], row["direction"])


def _mirrored(row: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    """Return the same test with the models exchanged."""
    untied = row["wins"] + row["losses"]
    # Wilcoxon's statistic is a sum of ranks: those of gains and of losses add up to a constant.
    total = untied * (untied + 1) / 2 if rules["test"] == "wilcoxon" else 0.0
    other = {name: -row[name] for name in ("difference", "cohen_d", "rank_biserial", "stars")}
    other |= {"low": -row["high"], "high": -row["low"], "statistic": total - row["statistic"]}
    for a, b in (("model", "against"), ("mean", "against_mean"), ("wins", "losses")):
        other |= {a: row[b], b: row[a]}
    return {**row, **other}
