"""The part of a computation that depends on labels alone: made once per data set, used every round."""

from collections import namedtuple
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import check_labels, is_part, jit, lower
from rankwood._core.sorting import discounts
from rankwood.data.groups import Groups
from rankwood.data.unlisted import Beyond
from rankwood.metrics.verbs import value, worth

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
    beyond: Beyond | None = None,
) -> Plan:
    """Lay out labels by query and let every metric inside `part` say what each document is worth.

    With labels `beyond` the lists a metric is told all labels of a query, as its ideal is that of all.
    """
    lists = _Lists(y[rows], ptr, None)
    whole = lists
    if beyond is not None:
        full = beyond.extend(Groups(ptr, rows, ptr[:-1]))
        y = np.append(y, beyond.y)
        whole = _Lists(y[full.rows], full.ptr, full.rows < rows.size)
    check_labels(part, y)
    table = discounts(int(np.diff(ptr).max(initial=0)) + _SPARE)
    record = _record(part, lists, whole, table, real, n_jobs)
    return Plan(ptr, rows, lists.label.astype(real), record, table.astype(real))


class _Lists(NamedTuple):
    """Labels by query, and which of the documents are to be kept, if not all."""

    label: np.ndarray
    ptr: np.ndarray
    kept: np.ndarray | None


def _record(
    part: Any,
    lists: _Lists,
    whole: _Lists,
    table: np.ndarray,
    real: type,
    n_jobs: int | None,
) -> Any:
    """Return a part's own column if it has one, else the records of the parts inside it, in order.

    Behind them comes what `tables` of the part makes of the discounts, if it has that: a table of two
    dimensions, the same for every query.
    """
    if type(part).Raw in worth.table:
        return _column(part, whole if _compares(part) else lists, real, n_jobs)
    inner = [getattr(part, f.name) for f in fields(part)]
    record = [_record(x, lists, whole, table, real, n_jobs) for x in inner if is_part(x)]
    if hasattr(part, "tables"):
        record.append(part.tables(table).astype(real))
    return tuple(record)


def has_ideal(part: Any) -> bool:
    """Tell whether something inside `part` may compare a list with all documents of its query."""
    inner = [getattr(part, f.name) for f in fields(part)]
    return _compares(part) or any(has_ideal(x) for x in inner if is_part(x))


def _compares(part: Any) -> bool:
    """Metrics compare, and parts that say so; pair sets and targets of a loss are made of the list alone."""
    return type(part).Raw in value.table or getattr(part, "ideal_of_all", False)


def _column(part: Any, lists: _Lists, real: type, n_jobs: int | None) -> np.ndarray:
    """Return what each document is worth to a part."""
    label, ptr, kept = lists
    out, raw = np.empty(label.size), lower(part)
    table = discounts(int(np.diff(ptr).max(initial=0)) + _SPARE)
    threads.over(np.diff(ptr), lambda a, b: _fill(raw, label, ptr, table, out, a, b), n_jobs)
    out = out if kept is None else out[kept]
    with np.errstate(over="ignore"):
        column: np.ndarray = out.astype(real, copy=False)
    if not np.isfinite(column).all():
        raise checks.InputError(
            f"{part!r} has values of up to {out.max():g} for these labels, beyond {np.dtype(real)}, "
            "in which training runs; use NDCG or a linear gain."
        )
    return column


@jit
def _fill(part, label, ptr, table, out, first, last):
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        worth(part, label[a:b], table, out[a:b])
