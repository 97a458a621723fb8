"""The columns of a comparison's two tables of numbers, and these tables as structured arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Columns = Sequence[tuple[str, Any]]

#: Columns of `Comparison.means`.
MEAN: Columns = [
    ("model", str),
    ("metric", str),
    ("mean", float),
    ("error", float),
    ("queries", int),
    ("bound", bool),
]
#: Columns of `Comparison.tests`.
TEST: Columns = [
    *((name, str) for name in ("model", "against", "metric")),
    *((name, float) for name in ("mean", "against_mean", "difference", "low", "high")),
    *((name, float) for name in ("statistic", "p", "p_corrected")),
    ("stars", int),
    ("exact", bool),
    ("at_limit", bool),
    *((name, float) for name in ("cohen_d", "rank_biserial")),
    *((name, int) for name in ("wins", "ties", "losses", "queries", "skipped")),
]


def structured(rows: list[tuple[Any, ...]], columns: Columns) -> np.ndarray:
    """Return rows as a structured array whose text columns are as wide as their longest text."""
    widths = [
        max((len(row[i]) for row in rows if isinstance(row[i], str)), default=1)
        for i in range(len(columns))
    ]
    dtype = [
        (name, f"U{width}" if kind is str else kind)
        for (name, kind), width in zip(columns, widths, strict=True)
    ]
    return np.array(rows, dtype=dtype)


def records(rows: np.ndarray) -> list[dict[str, Any]]:
    """Return a structured array as dictionaries for JSON: None instead of numbers that are not finite."""
    names = rows.dtype.names or ()
    return [
        {name: _finite(value) for name, value in zip(names, row, strict=True)}
        for row in rows.tolist()
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
