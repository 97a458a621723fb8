"""Labels of documents that belong to a query and are not in its list: what a first stage has cut away."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups


class Beyond(NamedTuple):
    """Labels by query: query q has `y[ptr[q]:ptr[q + 1]]` beyond its list."""

    ptr: np.ndarray
    y: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Documents of each query that are not in its list."""
        return np.diff(self.ptr)

    def select(self, queries: np.ndarray) -> "Beyond":
        """Return the labels of the queries at these positions, in this order."""
        kept = [self.y[self.ptr[q] : self.ptr[q + 1]] for q in queries]
        return _joined(kept)

    def extend(self, groups: Groups) -> Groups:
        """Return groups of all documents: rows behind those of the list stand for the labels beyond it."""
        rows = np.empty(groups.rows.size + self.y.size, np.int64)
        inside = np.arange(groups.rows.size) + np.repeat(self.ptr[:-1], groups.sizes)
        outside = np.arange(self.y.size) + np.repeat(groups.ptr[1:], self.sizes)
        rows[inside] = groups.rows
        rows[outside] = groups.rows.size + np.arange(self.y.size)
        return groups._replace(ptr=groups.ptr + self.ptr, rows=rows)


def beyond_lists(given: Any, queries: int) -> Beyond:
    """Return labels beyond the lists, given as they are or as one sequence of labels per query."""
    if isinstance(given, Beyond):
        return given
    labels = list(given)
    if len(labels) != queries:
        raise checks.InputError(
            f"beyond has labels for {len(labels)} queries, but there are {queries}: give a list for each, in "
            "order of first appearance."
        )
    try:
        return _joined([checks.labels(one) if np.size(one) else np.empty(0) for one in labels])
    except checks.InputError as error:
        raise checks.InputError(f"in beyond, {error}") from None


def beyond_rows(y: np.ndarray, query: np.ndarray, queries: int) -> Beyond:
    """Return the labels of rows beyond the lists of their queries."""
    counts = np.bincount(query, minlength=queries)
    return Beyond(np.concatenate([[0], np.cumsum(counts)]), y[np.argsort(query, kind="stable")])


def _joined(labels: list[np.ndarray]) -> Beyond:
    ptr = np.concatenate([[0], np.cumsum([one.size for one in labels])]).astype(np.int64)
    return Beyond(ptr, np.concatenate([np.empty(0), *labels]))
