"""The result of an evaluation: numbers, not their rendering."""

import csv
from pathlib import Path
from typing import Any

import numpy as np


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

    def mean(self) -> dict[str, float]:
        """Mean of each metric over the queries that were not skipped; NaN if all were."""
        return {name: _mean(self.per_query[name]) for name in self.metrics}

    def to_csv(self, path: str | Path) -> None:
        """Write the table of queries as CSV."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["qid", *self.metrics])
            writer.writerows(self.per_query.tolist())

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.5f}" for name, mean in self.mean().items())
        return f"Evaluation({means}; {self.per_query.size:,} queries)"


def _mean(values: np.ndarray) -> float:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")
