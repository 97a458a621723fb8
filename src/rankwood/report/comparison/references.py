"""Rows of a comparison that are not models: the best possible order and a random one, or any that are given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankwood.report.comparison.align import Aligned, align_one
from rankwood.report.comparison.reference_models import perfect, random
from rankwood.report.comparison.runs import models_or_judgments


def reference_means(table: Aligned, bounds: Any, n_jobs: int | None) -> dict[str, np.ndarray]:
    """Return the values of the perfect and the random model, or of the given ones, by metric and query."""
    bounds = models_or_judgments(bounds)
    if isinstance(bounds, Mapping):
        return {str(name): align_one(table, str(name), ev) for name, ev in bounds.items()}
    y, qid = bounds if type(bounds) is tuple and len(bounds) == 2 else (bounds, None)
    rules = {"qid": qid, "n_jobs": n_jobs, "convention": table.conventions.get("convention")}
    empty = table.conventions.get("empty")
    values: dict[str, list[np.ndarray]] = {"perfect model": [], "random model": []}
    for metric in table.metrics:  # a convention may have a rule for empty queries per metric
        rules["empty"] = empty.get(metric) if isinstance(empty, dict) else empty
        one_metric = replace(table, metrics=[metric])
        for (name, columns), evaluate in zip(values.items(), (perfect, random), strict=True):
            columns.append(align_one(one_metric, name, evaluate(metric, y, **rules))[0])
    return {name: np.array(columns) for name, columns in values.items()}
