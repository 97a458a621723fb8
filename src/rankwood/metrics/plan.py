"""The part of a computation that depends on labels alone: made once per data set, used every round."""

from collections import namedtuple
from dataclasses import fields
from typing import Any

import numpy as np

from rankwood import _check, _run
from rankwood._jit import is_part, jit, lower
from rankwood.metrics.query import discounts
from rankwood.metrics.verbs import worth

_QUICK = 1000  # documents
_SPARE = 16  # the pair loop fills lists up, a little beyond the longest

#: Documents grouped by query, see the vocabulary in `query`; `worth` is the record of the parts' columns.
Plan = namedtuple("Plan", "ptr rows label worth table")


def plan(
    part: Any,
    y: np.ndarray,
    ptr: np.ndarray,
    rows: np.ndarray,
    real: type = np.float64,
    n_jobs: int | None = None,
) -> Plan:
    """Lay out labels by query and let every metric inside `part` say what each document is worth."""
    check_labels(part, y)
    label = y[rows]
    table = discounts(int(np.diff(ptr).max(initial=0)) + _SPARE)
    record = _record(part, label, ptr, table, real, n_jobs)
    return Plan(ptr, rows, label.astype(real), record, table.astype(real))


def check_labels(part: Any, y: np.ndarray) -> None:
    """Raise unless every part inside `part` can read these labels."""
    if hasattr(part, "check_labels"):
        part.check_labels(y)
    for f in fields(part):
        if is_part(getattr(part, f.name)):
            check_labels(getattr(part, f.name), y)


def _record(
    part: Any,
    label: np.ndarray,
    ptr: np.ndarray,
    table: np.ndarray,
    real: type,
    n_jobs: int | None,
) -> Any:
    """Return a part's own column if it has one, else the records of the parts inside it, in order.

    Behind them comes what `tables` of the part makes of the discounts, if it has that: a table of two
    dimensions, the same for every query.
    """
    if type(part).Raw in worth.table:
        out = np.empty(label.size)
        raw = lower(part)
        # Few documents are sooner done in plain Python than compiled for.
        fill = _fill if label.size > _QUICK else getattr(_fill, "py_func", _fill)
        _run.over(np.diff(ptr), lambda a, b: fill(raw, label, ptr, table, out, a, b), n_jobs)
        with np.errstate(over="ignore"):
            column: np.ndarray = out.astype(real, copy=False)
        if not np.isfinite(column).all():
            raise _check.InputError(
                f"{part!r} has values of up to {out.max():g} for these labels, beyond {np.dtype(real)}, "
                "in which training runs; use NDCG or a linear gain."
            )
        return column
    inner = [getattr(part, f.name) for f in fields(part)]
    record = [_record(x, label, ptr, table, real, n_jobs) for x in inner if is_part(x)]
    if hasattr(part, "tables"):
        record.append(part.tables(table).astype(real))
    return tuple(record)


@jit
def _fill(part, label, ptr, table, out, first, last):
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        worth(part, label[a:b], table, out[a:b])
