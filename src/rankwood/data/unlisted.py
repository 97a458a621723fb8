"""Labels of documents that belong to a query but are not in its list, because a first stage removed them."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.data.groups import Groups


class UnlistedLabels(NamedTuple):
    """Labels of documents that are not in the lists: query q has `y[ptr[q]:ptr[q + 1]]`."""

    ptr: np.ndarray
    y: np.ndarray

    @classmethod
    def from_lists(cls, labels: Any, n_queries: int) -> "UnlistedLabels":
        """Return labels from one sequence per query; an `UnlistedLabels` is returned unchanged."""
        if isinstance(labels, cls):
            return labels
        labels = list(labels)
        if len(labels) != n_queries:
            raise checks.InputError(
                f"unlisted has labels for {plural(len(labels), 'query')}, but there are {n_queries}: give a "
                "list for each, in order of first appearance."
            )
        try:
            lists = [checks.labels(y) if np.size(y) else np.empty(0) for y in labels]
        except checks.InputError as error:
            raise checks.InputError(f"in unlisted, {error}") from None
        return cls._of(lists)

    @classmethod
    def from_rows(cls, y: np.ndarray, query: np.ndarray, n_queries: int) -> "UnlistedLabels":
        """Return labels given as one row per document, with the position of its query."""
        counts = np.bincount(query, minlength=n_queries)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        return cls(ptr, y[np.argsort(query, kind="stable")])

    @classmethod
    def _of(cls, lists: list[np.ndarray]) -> "UnlistedLabels":
        ptr = np.concatenate([[0], np.cumsum([y.size for y in lists])]).astype(np.int64)
        return cls(ptr, np.concatenate([np.empty(0), *lists]))

    @property
    def sizes(self) -> np.ndarray:
        """Number of documents of each query that are not in its list."""
        return np.diff(self.ptr)

    def lists(self) -> list[np.ndarray]:
        """Return the labels of each query."""
        return np.split(self.y, self.ptr[1:-1])

    def select(self, queries: np.ndarray) -> "UnlistedLabels":
        """Return the labels of the queries at these positions, in this order."""
        lists = self.lists()
        return self._of([lists[q] for q in queries])

    def followed_by(self, other: "UnlistedLabels") -> "UnlistedLabels":
        """Return the labels of both, query by query."""
        pairs = zip(self.lists(), other.lists(), strict=True)
        return self._of([np.append(first, second) for first, second in pairs])

    def extend(self, groups: Groups) -> Groups:
        """Return groups of all documents; unlisted documents have the rows after the listed ones."""
        rows = np.empty(groups.rows.size + self.y.size, np.int64)
        listed = np.arange(groups.rows.size) + np.repeat(self.ptr[:-1], groups.sizes)
        unlisted = np.arange(self.y.size) + np.repeat(groups.ptr[1:], self.sizes)
        rows[listed] = groups.rows
        rows[unlisted] = groups.rows.size + np.arange(self.y.size)
        return groups._replace(ptr=groups.ptr + self.ptr, rows=rows)
