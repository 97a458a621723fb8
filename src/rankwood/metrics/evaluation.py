"""The result of an evaluation: numbers, not their rendering."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._util.atomic import written
from rankwood._util.checks import InputError, one_of
from rankwood._util.csv_text import csv_text
from rankwood._util.text import plural, printable
from rankwood.data.groups import check_ids_differ, join_ids
from rankwood.render.html import cells_html
from rankwood.stats import mean_interval


class Evaluation:
    """Values of metrics, one row per query.

    Attributes
    ----------
    metrics : list of str
        Names, as the caller gave them.
    per_query : structured array
        A field `qid` and one field per metric; `pandas.DataFrame(ev.per_query)` and
        `polars.DataFrame(ev.per_query)` take it as it is. NaN where a query was skipped.
    conventions : dict
        The rules for ties and empty queries behind the values.
    definitions : dict
        What each metric was, such as ``"NDCG(k=10)"``, by name; empty if that isn't known.

    Examples
    --------
    >>> import rankwood as rw
    >>> found = rw.evaluate(["rr", "p@1"], [0, 1, 1], [0.3, 0.2, 0.9], qid=["a", "a", "b"])
    >>> found.mean()
    {'rr': 0.75, 'p@1': 0.5}
    >>> found.per_query[["qid", "rr"]].tolist()
    [('a', 0.5), ('b', 1.0)]
    """

    def __init__(
        self,
        ids: np.ndarray,
        values: dict[str, np.ndarray],
        conventions: dict[str, Any],
        definitions: dict[str, str] | None = None,
    ) -> None:
        self.metrics = list(values)
        self.conventions = dict(conventions)
        self.definitions = dict(definitions or {})
        kinds = [("qid", ids.dtype), *((name, np.float64) for name in values)]
        self.per_query = np.empty(ids.size, dtype=kinds)
        self.per_query["qid"] = ids
        for name, column in values.items():
            self.per_query[name] = column

    @staticmethod
    def concat(parts: Sequence["Evaluation"], *, repeated: str = "error") -> "Evaluation":
        """Join the test parts of a cross-validation, or runs with several seeds on the same queries.

        Parameters
        ----------
        parts : sequence of Evaluation
            They must have the same metrics, in any order, and the same conventions.
        repeated : {"error", "mean"}
            What a query in several parts is: a mistake, or one of several runs whose values are averaged. Runs on the
            same query are not independent, so tests count it once [hurlbert1984]. Then every query must be in
            the same number of parts, which `conventions` has as ``"repeats"``.

        Returns
        -------
        Evaluation
            A row per query: those of the first part, then new ones of the second, and so on.

        Raises
        ------
        InputError
            If metrics, their definitions or conventions differ; if a query is in two parts, or with ``"mean"`` not in
            as many as the others.

        Examples
        --------
        >>> import rankwood as rw
        >>> parts = [rw.evaluate("ndcg", [2, 1, 0], [0.9, 0.5, 0.1], qid=[q] * 3) for q in "ab"]
        >>> rw.Evaluation.concat(parts)
        Evaluation(ndcg=1.00000; 2 queries)
        >>> seeds = [rw.evaluate("dcg@1", [1, 0], scores) for scores in ([2, 1], [1, 2])]
        >>> rw.Evaluation.concat(seeds, repeated="mean")
        Evaluation(dcg@1=0.50000; 1 query, means of 2 runs)
        """
        one_of(repeated, ("error", "mean"), "repeated")
        if isinstance(parts, Evaluation):
            raise InputError("concat takes a list of evaluations, as in concat([a, b]), got one.")
        parts = list(parts)
        if not parts:
            raise InputError("there are no parts: expected at least one Evaluation.")
        for i, part in enumerate(parts):
            if not isinstance(part, Evaluation):
                raise InputError(f"part {i} must be an Evaluation, got {type(part).__name__}.")
            _check_same(i, part, parts[0])
        ids = [part.per_query["qid"] for part in parts]
        if repeated == "error":
            check_ids_differ(ids, "; for runs with several seeds give repeated='mean'")
        metrics = parts[0].metrics
        values = {m: np.concatenate([part.per_query[m] for part in parts]) for m in metrics}
        definitions = {m: text for part in parts for m, text in part.definitions.items()}
        joined = Evaluation(join_ids(ids), values, parts[0].conventions, definitions)
        return joined if repeated == "error" else _averaged(joined)

    def mean(self) -> dict[str, float]:
        """Return the mean of each metric over the queries that were not skipped.

        Returns
        -------
        dict
            Means by name; NaN if all queries were skipped.
        """
        return {name: _mean(self.per_query[name]) for name in self.metrics}

    def intervals(
        self, confidence: float = 0.95, *, interval: str = "t", draws: int = 10_000, seed: int = 0
    ) -> dict[str, tuple[float, float]]:
        """Return a confidence interval of the mean of each metric, over the queries that were not skipped.

        It says how much the mean would vary with other queries of the same kind. For the difference of two models give
        both to `rankwood.compare`, which compares them query by query: overlapping intervals prove nothing.

        Parameters
        ----------
        confidence : float
            Confidence level, between 0 and 1.
        interval : {"t", "bca", "percentile"}
            Student's interval, or one of the bootstrap over queries: for few queries, or skewed values.
        draws, seed : int
            Number of resamples of the bootstrap, and their seed.

        Returns
        -------
        dict
            The lower and the upper end by name; NaN with fewer than two queries. The numbers are bit-identical on any
            number of threads.

        Raises
        ------
        InputError
            If `confidence` is not between 0 and 1, or `interval` is unknown.

        Examples
        --------
        >>> import rankwood as rw
        >>> ev = rw.evaluate("p@1", [1, 0, 0, 1, 1, 0], [2, 1, 2, 1, 2, 1], group=[2, 2, 2])
        >>> low, high = ev.intervals(0.9)["p@1"]
        >>> round(low, 3), round(high, 3)
        (-0.307, 1.64)
        """
        how = (interval, confidence, draws, seed)
        return {name: mean_interval(_kept(self.per_query[name]), *how) for name in self.metrics}

    def to_csv(self, path: str | Path) -> None:
        """Write the table of queries as CSV, which `rankwood.report.read_evaluation` reads.

        Parameters
        ----------
        path : str or path
            The file to write: a column `qid` and one per metric, with an empty cell for a skipped query. An existing
            file is replaced once the new one is complete. A text that a spreadsheet would take for a formula has an
            apostrophe before it.
        """
        written(csv_text(["qid", *self.metrics], self.per_query.tolist()), path)

    def __repr__(self) -> str:
        means = ", ".join(f"{printable(name)}={mean:.5f}" for name, mean in self.mean().items())
        repeats = self.conventions.get("repeats", 1)
        runs = f", means of {repeats} runs" if repeats > 1 else ""
        return f"Evaluation({means}; {self._counted()}{runs})"

    def _repr_html_(self) -> str:
        rows = [["metric", "mean", "95 % interval"]]
        for name, (low, high) in self.intervals().items():
            between = "" if math.isnan(low) else f"{low:.5f} to {high:.5f}"
            rows.append([name, f"{_mean(self.per_query[name]):.5f}", between])
        return cells_html(rows, (1, 2), 1, self._counted())

    def _counted(self) -> str:
        """Return the number of queries, and of those that the means omit."""
        size = self.per_query.size
        values = np.array([self.per_query[name] for name in self.metrics])
        skipped = int(np.isnan(values).all(axis=0).sum()) if len(values) else 0
        if not skipped:
            return plural(size, "query")
        return f"{size - skipped:,} of {plural(size, 'query')}, {skipped:,} without relevant documents omitted"


def _kept(values: np.ndarray) -> np.ndarray:
    """Return the values of queries that were not skipped."""
    kept: np.ndarray = values[~np.isnan(values)]
    return kept


def _mean(values: np.ndarray) -> float:
    kept = _kept(values)
    return float(kept.mean()) if kept.size else float("nan")


def _averaged(joined: Evaluation) -> Evaluation:
    """Return the mean of each query over its rows; raise unless all queries have the same number of rows."""
    row_of: dict[Any, int] = {}
    code = np.array([row_of.setdefault(q, len(row_of)) for q in joined.per_query["qid"].tolist()])
    counts = np.bincount(code)
    if counts.min() < counts.max():
        few, many = int(counts.argmin()), int(counts.argmax())
        ids = list(row_of)
        raise InputError(
            f"query {ids[many]!r} is in {plural(int(counts[many]), 'part')} and query {ids[few]!r} in {counts[few]}: "
            "give the same number of runs of every query, as means of fewer runs have more noise."
        )
    rows = np.argsort(code, kind="stable").reshape(len(row_of), -1)
    repeats = rows.shape[1]
    values = {m: _row_means(joined.per_query[m][rows], m) for m in joined.metrics}
    rules = dict(joined.conventions)
    if repeats > 1:
        rules["repeats"] = repeats * rules.get("repeats", 1)
    return Evaluation(joined.per_query["qid"][rows[:, 0]], values, rules, joined.definitions)


def _row_means(values: np.ndarray, metric: str) -> np.ndarray:
    """Return the mean of each row, in any order of its columns the same; NaN if the query was skipped."""
    skipped = np.isnan(values)
    if (skipped.any(axis=1) != skipped.all(axis=1)).any():
        raise InputError(
            f"a query was skipped in some parts and has a value of {metric!r} in others: evaluate all parts with "
            "the same labels."
        )
    return np.array([math.fsum(row) / len(row) for row in values.tolist()])


def _check_same(i: int, part: Evaluation, first: Evaluation) -> None:
    """Raise unless part `i` was made by the same metrics and conventions as the first one."""
    if set(part.metrics) != set(first.metrics):
        name = next(iter(set(part.metrics) ^ set(first.metrics)))
        has, lacks = (i, 0) if name in part.metrics else (0, i)
        raise InputError(
            f"part {has} has the metric {name!r}, but part {lacks} doesn't: evaluate all parts by the same "
            "metrics."
        )
    differences = [
        (f"conventions differ in {name!r}", first.conventions.get(name), part.conventions.get(name))
        for name in {**first.conventions, **part.conventions}
    ]
    differences += [  # a definition that isn't known can't differ
        (f"definitions of {name!r} differ", first.definitions[name], part.definitions[name])
        for name in first.definitions.keys() & part.definitions.keys()
    ]
    for what, ours, theirs in differences:
        if ours != theirs:
            raise InputError(
                f"{what}: {ours!r} in part 0 and {theirs!r} in part {i}; evaluate all parts in the same way."
            )
