"""What depends on labels alone: computed once per data set, used every round."""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.compile import callable_kernel
from rankwood._core.parts import all_parts, check_labels, lower, named_record, parts_inside
from rankwood._core.records import Table
from rankwood.data.groups import Groups
from rankwood.data.unlisted import UnlistedLabels
from rankwood.metrics.kernels import fill_values
from rankwood.metrics.ranked import discounts
from rankwood.metrics.verbs import label_values, value
from rankwood.objectives._kernels.records import VECTOR_WIDTH

#: Documents grouped by query: query q has the positions `ptr[q]` to `ptr[q + 1]`, and `rows[p]` is the caller's row of
#: position p. `values` is the record of what parts made of the labels, `discount` the discounts by rank.
Plan = namedtuple("Plan", "ptr rows label values discount")


class LabelledLists(NamedTuple):
    """Labels of queries; `unlisted` are labels of documents that belong to the queries and are not listed."""

    y: np.ndarray
    groups: Groups
    unlisted: UnlistedLabels | None = None


class _Labels(NamedTuple):
    """Labels by query, and which of the documents are listed, if not all are."""

    label: np.ndarray
    ptr: np.ndarray
    listed: np.ndarray | None


def make_plan(objective: Any, lists: LabelledLists, real: type, n_jobs: int | None = None) -> Plan:
    """Group labels by query and let every part inside an objective compute its `label_values`.

    Metrics see the unlisted labels too: their ideal is that of all documents of a query.
    """
    y, groups, unlisted = lists
    listed = _Labels(y[groups.rows], groups.ptr, None)
    every = listed
    if unlisted is not None:
        full = unlisted.extend(groups)
        y = np.append(y, unlisted.y)
        every = _Labels(y[full.rows], full.ptr, full.rows < groups.rows.size)
    check_labels(objective, y)
    discount = discounts(int(groups.sizes.max(initial=0)) + 2 * VECTOR_WIDTH)
    values = _Values(listed, every, discount, real, n_jobs).of(objective)
    return Plan(groups.ptr, groups.rows, listed.label.astype(real), values, discount.astype(real))


class _Values(NamedTuple):
    """What `label_values` is computed from."""

    listed: _Labels
    every: _Labels
    discount: np.ndarray
    real: type
    n_jobs: int | None

    def of(self, part: Any) -> Any:
        """Return a part's own column, or a record of the columns of the parts inside it, by field.

        What the method `tables` of a part makes of the discounts joins the record, the same for every query.
        """
        if label_values.verb.able(part):
            return self._column(part, self.every if _has_own_ideal(part) else self.listed)
        inside = {name: self.of(x) for name, x in parts_inside(part).items()}
        tables = part.tables(self.discount) if hasattr(part, "tables") else {}
        made = {name: Table(table.astype(self.real)) for name, table in tables.items()}
        return named_record({**inside, **made})

    def _column(self, part: Any, labels: _Labels) -> np.ndarray:
        """Return the `label_values` of one part."""
        out, ptr, lowered = np.empty(labels.label.size), labels.ptr, lower(part)
        discount = discounts(int(np.diff(ptr).max(initial=0)))
        fill = callable_kernel(fill_values)

        def run(first: int, last: int) -> None:
            fill(lowered, labels.label, ptr, discount, out, first, last)

        threads.run_ranges(run, np.diff(ptr), self.n_jobs)
        out = out if labels.listed is None else out[labels.listed]
        with np.errstate(over="ignore"):
            column: np.ndarray = out.astype(self.real, copy=False)
        if not np.isfinite(column).all():
            raise checks.InputError(
                f"{part!r} has values of up to {out.max():g} for these labels, beyond {np.dtype(self.real)}, "
                "in which training runs; use NDCG or a linear gain."
            )
        return column


def has_ideal(objective: Any) -> bool:
    """Tell whether a part inside an objective compares a list with all documents of its query."""
    return any(_has_own_ideal(part) for part in all_parts(objective))


def _has_own_ideal(part: Any) -> bool:
    """Tell whether a part counts unlisted documents: metrics do, and parts with `ideal_of_all`.

    Pair sets and the targets of a loss see the list only.
    """
    return value.verb.able(part) or getattr(part, "ideal_of_all", False)


def most_labels(objective: Any, lists: LabelledLists) -> int:
    """Return the largest number of different labels in a query, if a part keeps a table by label."""
    if not any(hasattr(part, "tables_by_label") for part in all_parts(objective)):
        return 1
    by_query = np.split(lists.y[lists.groups.rows], lists.groups.ptr[1:-1])
    return max(np.unique(labels).size for labels in by_query)
