"""Compare models: means, differences, tests."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankwood import stats
from rankwood._core import checks
from rankwood.report.align import Aligned, align, align_one, direction
from rankwood.report.comparison import MEAN, TEST, Comparison
from rankwood.report.presets import INTERVALS, rules
from rankwood.report.reference_models import perfect, random
from rankwood.report.view import LETTERS

_CORRECT: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    "holm": stats.holm,
    "bonferroni": stats.bonferroni,
    None: lambda p: p,
}


def compare(
    evaluations: Any,
    baseline: str | None = None,
    *,
    test: str | None = None,
    alternative: str | None = None,
    correct: str | None = "preset",
    draws: int | None = None,
    seed: int = 0,
    preset: str | None = None,
    metrics: Any = None,
    marks: str | None = None,
    levels: Any = None,
    count: str | None = None,
    interval: str | None = None,
    level: float = 0.95,
    bounds: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare models query by query, and say which differences chance would hardly make.

    Parameters
    ----------
    evaluations : dict of Evaluation
        Models by name, two or more, evaluated by the same metrics and rules on the same queries (in any
        order: they are matched by id). A list gets the names "model 1", "model 2", …
    baseline : str, optional
        The model that the others are compared with; the first by default.
    test : {"permutation", "fisher", "t", "wilcoxon", "bootstrap"}
        Default "permutation": exchange the two values of queries at random; "fisher" is its other name.
    alternative : {"two-sided", "greater", "less"}
        Whether a model is different, better or worse than the other; for a metric such as ARP, where less
        is better, "greater" means better too. Default "two-sided".
    correct : {"holm", "bonferroni", None}
        Correction of p-values for the number of tests of the table: models times metrics. By default
        what the preset says, "holm" without one.
    draws : int
        Random draws of permutation, Fisher and bootstrap; 10,000 by default.
    seed : int
        Same seed, same numbers.
    preset : str, optional
        Rules of a paper: "lambdagap-2025", "lambda-ex-2023", "lambdaloss-2018", "which-tricks-2023" or
        "bivariate-2024"; what is stated beside it wins.
    metrics : str or list of str, optional
        Metrics to compare by, all by default.
    marks : {"stars", "letters"}
        Stars compare with the baseline; letters name every model that one is significantly better than, which needs
        tests of all pairs. Default "stars".
    levels : list of float
        Levels of significance, one star each: (0.05, 0.01, 0.001) by default. Letters use the weakest.
    count : {"corrected", "share", "strict"}
        How draws become a p-value, see `rankwood.stats.permutation`.
    interval : {"t", "bca", "percentile"}
        Interval of the mean difference: Student's (default), or the bootstrap's (default of that test: "bca").
    level : float
        Confidence of intervals.
    bounds : RankingData, Qrels, (y, qid) or dict of Evaluation, optional
        The labels behind the evaluations: adds a perfect and a random model as rows, without tests. A dictionary gives
        such rows by name, as `report.perfect` and `report.random` make them.
    n_jobs : int, optional
        Threads; None means every core. The result is the same for any number.

    Returns
    -------
    Comparison
        Numbers, and ways to write them.

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
    given = {"test": test, "alternative": alternative, "draws": draws, "count": count}
    given |= {"marks": marks, "levels": levels}
    stated: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if correct != "preset":
        stated["correct"] = correct
    how = rules(preset, stated)
    usual = "bca" if how["test"] == "bootstrap" else "t"
    how["interval"] = checks.one_of(interval or usual, INTERVALS, "interval")
    how["level"] = stats.confidence(level)
    how["seed"] = checks.at_least(seed, 0, "seed")
    table = align(evaluations, metrics)
    if how["marks"] == "letters" and len(table.models) > len(LETTERS):
        raise checks.InputError(
            f"there are letters for {len(LETTERS)} models, got {len(table.models)}; use marks='stars'."
        )
    how["baseline"] = _baseline(baseline, table.models)
    better = {name: direction(name) for name in table.metrics}
    tests = _tests(table, how, better, n_jobs)
    edges = {} if bounds is None else _bounds(table, bounds, n_jobs)
    return Comparison(table, _means(table, edges), tests, how, better, list(edges))


def _baseline(baseline: Any, models: list[str]) -> str:
    if baseline is None:
        return models[0]
    if str(baseline) not in models:
        near = checks.nearest(str(baseline), models)
        raise checks.InputError(f"baseline {str(baseline)!r} is none of the models{near}")
    return str(baseline)


def _means(table: Aligned, edges: dict[str, np.ndarray]) -> np.ndarray:
    """Return the mean of each model by each metric, over the queries that it didn't skip."""
    rows = []
    for model, values in [*zip(table.models, table.values, strict=True), *edges.items()]:
        for metric, column in zip(table.metrics, values, strict=True):
            kept = column[~np.isnan(column)]
            mean = kept.mean() if kept.size else np.nan
            error = kept.std(ddof=1) / kept.size**0.5 if kept.size > 1 else np.nan
            rows.append((model, metric, mean, error, kept.size, model in edges))
    return _array(rows, MEAN)


def _tests(
    table: Aligned, how: dict[str, Any], better: dict[str, int], n_jobs: int | None
) -> np.ndarray:
    """Return a row for each pair of models and metric, p-values corrected over all tests made."""
    models, base = table.models, table.models.index(how["baseline"])
    mirrored = how["marks"] == "letters" and how["alternative"] == "two-sided"
    if how["marks"] == "stars":
        pairs = [(i, base) for i in range(len(models)) if i != base]
    else:  # both ways are one test, unless it asks for one side
        pairs = [(i, j) for i in range(len(models)) for j in range(len(models)) if i != j]
        pairs = [(i, j) for i, j in pairs if i > j or not mirrored]
    rows = [
        _row(table, how, i, j, m, better[metric], n_jobs)
        for i, j in pairs
        for m, metric in enumerate(table.metrics)
    ]
    corrected = _CORRECT[how["correct"]](np.array([row["p"] for row in rows]))
    how["family"] = int((~np.isnan(corrected)).sum())
    for row, p in zip(rows, corrected, strict=True):
        row["p_corrected"] = float(p)
        row["stars"] = _stars(row, how)
    if mirrored:
        rows += [_mirrored(row, how) for row in rows]
    return _array([tuple(row[name] for name, _ in TEST) for row in rows], TEST)


def _row(
    table: Aligned, how: dict[str, Any], i: int, j: int, m: int, better: int, n_jobs: int | None
) -> dict[str, Any]:
    """Return everything about one model against another by one metric, but the correction."""
    mine, theirs = table.values[i, m], table.values[j, m]
    both = ~(np.isnan(mine) | np.isnan(theirs))
    row: dict[str, Any] = {
        "model": table.models[i],
        "against": table.models[j],
        "metric": table.metrics[m],
        "queries": int(both.sum()),
        "skipped": int((~both).sum()),
    }
    if not both.any():
        raise checks.InputError(
            f"{row['model']!r} and {row['against']!r} have no query in common with a value of "
            f"{row['metric']!r}: all {both.size:,} were skipped."
        )
    d = stats.snap(mine[both], theirs[both])
    ranked = stats.rank_biserial(d)
    outcome = _test(d * better, how, n_jobs)
    low, high = _interval(d, how, n_jobs)
    wins, ties, losses = stats.wins_ties_losses(d * better)
    return {
        **row,
        "mean": mine[both].mean(),
        "against_mean": theirs[both].mean(),
        "difference": d.mean(),
        "low": low,
        "high": high,
        "statistic": outcome.statistic,
        "p": outcome.p,
        "exact": outcome.exact,
        "cohen_d": stats.cohen_d(d),
        "rank_biserial": ranked,
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "direction": _direction(d, ranked, how) * better,
    }


def _direction(d: np.ndarray, ranked: float, how: dict[str, Any]) -> int:
    """Return the sign of what the test is about: of ranks, or of the mean if it is no rounding error."""
    if how["test"] == "wilcoxon":
        return int(np.sign(ranked))
    mean = float(d.mean())
    return int(np.sign(mean)) if abs(mean) > 1e-12 * np.abs(d).mean() else 0


def _test(d: np.ndarray, how: dict[str, Any], n_jobs: int | None) -> stats.Outcome:
    name, alternative = how["test"], how["alternative"]
    if name == "t":
        return stats.t_test(d, alternative)
    if name == "wilcoxon":
        return stats.wilcoxon(d, alternative)
    sampled = stats.bootstrap if name == "bootstrap" else stats.permutation
    return sampled(d, alternative, how["draws"], how["seed"], how["count"], n_jobs)


def _interval(d: np.ndarray, how: dict[str, Any], n_jobs: int | None) -> tuple[float, float]:
    if how["interval"] == "t":
        return stats.t_interval(d, how["level"])
    return stats.bootstrap_interval(
        d, how["level"], how["draws"], how["seed"], how["interval"], n_jobs
    )


def _stars(row: dict[str, Any], how: dict[str, Any]) -> int:
    """Return how many levels a difference passes: above 0 if it is for the better, below if for the worse."""
    if row["direction"] == 0:
        return 0
    passed = sum(row["p_corrected"] < level for level in how["levels"])
    return passed * {"greater": 1, "less": -1}.get(how["alternative"], row["direction"])


def _mirrored(row: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return the same test with the models exchanged."""
    moved = row["wins"] + row["losses"]
    total = moved * (moved + 1) / 2 if how["test"] == "wilcoxon" else 0.0  # of ranks, won and lost
    other = {name: -row[name] for name in ("difference", "cohen_d", "rank_biserial", "stars")}
    other |= {"low": -row["high"], "high": -row["low"], "statistic": total - row["statistic"]}
    for a, b in (("model", "against"), ("mean", "against_mean"), ("wins", "losses")):
        other |= {a: row[b], b: row[a]}
    return {**row, **other}


def _bounds(table: Aligned, data: Any, n_jobs: int | None) -> dict[str, np.ndarray]:
    """Return the values of a perfect and a random model, by metric and query."""
    if isinstance(data, Mapping):
        return {str(name): align_one(table, str(name), edge) for name, edge in data.items()}
    y, qid = data if type(data) is tuple and len(data) == 2 else (data, None)
    rules = {"qid": qid, "n_jobs": n_jobs, "convention": table.conventions.get("convention")}
    empty = table.conventions.get("empty")
    edges: dict[str, list[np.ndarray]] = {"perfect model": [], "random model": []}
    for metric in table.metrics:  # a program may have a rule for empty queries for each metric
        rules["empty"] = empty.get(metric) if isinstance(empty, dict) else empty
        one = replace(table, metrics=[metric])
        for values, model in zip(edges.values(), (perfect, random), strict=True):
            name = model.__name__ + " model"
            values.append(align_one(one, name, model(metric, y, **rules))[0])
    return {name: np.array(values) for name, values in edges.items()}


def _array(rows: list[tuple[Any, ...]], kinds: list[tuple[str, Any]]) -> np.ndarray:
    """Return a structured array with room for the longest text."""
    wide = [
        max((len(row[i]) for row in rows if isinstance(row[i], str)), default=1)
        for i in range(len(kinds))
    ]
    dtype = [
        (name, f"U{w}" if kind is str else kind)
        for (name, kind), w in zip(kinds, wide, strict=True)
    ]
    return np.array(rows, dtype=dtype)
