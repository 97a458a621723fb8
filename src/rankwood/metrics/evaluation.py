"""The result of an evaluation: numbers, not their rendering."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._core.checks import InputError
from rankwood._core.text import plural
from rankwood.data.groups import check_ids_differ, join_ids


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
    def concat(parts: Sequence["Evaluation"]) -> "Evaluation":
        """Join evaluations of different queries, such as the test parts of a cross-validation.

        Parameters
        ----------
        parts : sequence of Evaluation
            They must have the same metrics, in any order, and the same conventions.

        Returns
        -------
        Evaluation
            The queries of the first part, then those of the second, and so on.

        Raises
        ------
        InputError
            If metrics, their definitions or conventions differ, or a query is in two parts.

        Examples
        --------
        >>> import rankwood as rw
        >>> parts = [rw.evaluate("ndcg", [2, 1, 0], [0.9, 0.5, 0.1], qid=[q] * 3) for q in "ab"]
        >>> rw.Evaluation.concat(parts)
        Evaluation(ndcg=1.00000; 2 queries)
        """
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
        check_ids_differ(ids)
        metrics = parts[0].metrics
        values = {m: np.concatenate([part.per_query[m] for part in parts]) for m in metrics}
        definitions = {m: text for part in parts for m, text in part.definitions.items()}
        return Evaluation(join_ids(ids), values, parts[0].conventions, definitions)

    def mean(self) -> dict[str, float]:
        """Return the mean of each metric over the queries that were not skipped.

        Returns
        -------
        dict
            Means by name; NaN if all queries were skipped.
        """
        return {name: _mean(self.per_query[name]) for name in self.metrics}

    def to_csv(self, path: str | Path) -> None:
        """Write the table of queries as CSV.

        Parameters
        ----------
        path : str or path
            The file to write: a column `qid` and one per metric.
        """
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["qid", *self.metrics])
            writer.writerows(self.per_query.tolist())

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.5f}" for name, mean in self.mean().items())
        return f"Evaluation({means}; {plural(self.per_query.size, 'query')})"


def _mean(values: np.ndarray) -> float:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


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
