"""Statistics of the parts of a data set (queries, labels, lengths of lists) and of its features."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.data.tables.hashing import column_hashes, row_blocks

MANY_LABELS = 20  # distinct labels that a table still shows one by one


class PartStatistics(NamedTuple):
    """Counts of one part of a data set.

    Attributes
    ----------
    name : str
        The name of the part, such as ``"train"``.
    queries, documents : int
        How many there are.
    labels : dict of float to int
        The number of documents with each label, in order of labels.
    lengths : array of int
        The number of documents of each query.
    relevant : array of int
        The number of documents of each query with a label above 0.
    single : int
        Queries with one document.
    empty : int
        Queries without a relevant document.
    uniform : int
        Queries with several documents that all have the same label, which is above 0.
    scattered : bool
        Whether documents of a query are not adjacent in the file.
    repeated : int
        Documents with the features of an earlier document of the same query.
    contradictory : int
        Repeated documents whose label differs from the earlier document's.
    """

    name: str
    queries: int
    documents: int
    labels: dict[float, int]
    lengths: np.ndarray
    relevant: np.ndarray
    single: int
    empty: int
    uniform: int
    scattered: bool
    repeated: int
    contradictory: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; of lengths, the smallest, median, mean and largest."""
        size = self.lengths
        lengths = {
            "min": int(size.min()),
            "median": float(np.median(size)),
            "mean": float(size.mean()),
            "max": int(size.max()),
        }
        values = self._asdict() | {"lengths": lengths}
        values["labels"] = {f"{label:g}": count for label, count in self.labels.items()}
        del values["relevant"]
        return values


class FeatureStatistics(NamedTuple):
    """Statistics of each feature over all parts; arrays have one value per feature.

    Attributes
    ----------
    names : list of str
        The names, or numbers from 1 as in LETOR files.
    minimum, maximum : array of float
        NaN where every value is missing.
    missing, zero : array of float
        Shares of values that are missing (NaN), and that are 0.
    absent : array of bool
        All values are missing.
    constant : array of bool
        All values are the same and none is missing.
    per_query : array of bool
        The value is the same for all documents of a query, in every query, but not in all queries.
    duplicate_of : array of int
        The first feature with the same values, -1 if there is none; absent and constant ones are omitted.
    """

    names: list[str]
    minimum: np.ndarray
    maximum: np.ndarray
    missing: np.ndarray
    zero: np.ndarray
    absent: np.ndarray
    constant: np.ndarray
    per_query: np.ndarray
    duplicate_of: np.ndarray

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one record per feature."""
        columns = {key: getattr(self, key).tolist() for key in self._fields if key != "names"}
        columns["duplicate_of"] = [
            None if i < 0 else self.names[i] for i in self.duplicate_of.tolist()
        ]
        rows = zip(self.names, *columns.values(), strict=True)
        return [dict(zip(("name", *columns), row, strict=True)) for row in rows]


def count_values(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many values of each column are missing, and how many are 0."""
    missing, zero = np.zeros((2, X.shape[1]), np.int64)
    for rows in row_blocks(X):
        missing += np.isnan(X[rows]).sum(axis=0)
        zero += (X[rows] == 0).sum(axis=0)
    return missing, zero


def part_statistics(name: str, data: RankingData, hashes: np.ndarray) -> PartStatistics:
    """Return the counts of one part; `hashes` has the hash of each of its rows."""
    groups = data.groups
    label = data.y[groups.rows]
    starts, sizes = groups.ptr[:-1], groups.sizes
    highest = np.maximum.reduceat(label, starts)
    lowest = np.minimum.reduceat(label, starts)
    values, counts = np.unique(data.y, return_counts=True)
    repeated, contradictory = _repeated(groups, label, hashes[groups.rows])
    return PartStatistics(
        name=name,
        queries=int(sizes.size),
        documents=int(data.y.size),
        labels=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        lengths=sizes,
        relevant=np.add.reduceat((label > 0).astype(np.int64), starts),
        single=int((sizes == 1).sum()),
        empty=int((highest == 0).sum()),
        uniform=int(((highest == lowest) & (highest > 0) & (sizes > 1)).sum()),
        scattered=bool((np.diff(groups.rows) < 0).any()),
        repeated=repeated,
        contradictory=contradictory,
    )


def _repeated(groups: Any, label: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
    """Return how many documents repeat one of their query, and how many of these have a different label."""
    query = np.repeat(np.arange(groups.sizes.size), groups.sizes)
    order = np.lexsort((hashes, query))  # stable: the first document of equal ones stays the first
    same = (np.diff(query[order]) == 0) & (hashes[order][1:] == hashes[order][:-1])
    other = same & (np.diff(label[order]) != 0)
    return int(same.sum()), int(other.sum())


def feature_statistics(parts: list[RankingData]) -> FeatureStatistics:
    """Return the statistics of each feature over all parts."""
    matrices = [dense(part.X) for part in parts]
    names = parts[0].schema.labels()
    rows = sum(len(X) for X in matrices)
    low = np.fmin.reduce([np.fmin.reduce(X, axis=0) for X in matrices])
    high = np.fmax.reduce([np.fmax.reduce(X, axis=0) for X in matrices])
    missing, zero = np.sum([count_values(X) for X in matrices], axis=0)
    absent = missing == rows
    constant = (low == high) & (missing == 0)
    per_query = np.logical_and.reduce(
        [_same_in_queries(*p) for p in zip(matrices, parts, strict=True)]
    )
    return FeatureStatistics(
        names=names,
        minimum=low.astype(float),
        maximum=high.astype(float),
        missing=missing / rows,
        zero=zero / rows,
        absent=absent,
        constant=constant,
        per_query=per_query & ~absent & ~constant,
        duplicate_of=_duplicates(matrices, absent | constant),
    )


def _same_in_queries(X: np.ndarray, data: RankingData) -> np.ndarray:
    """Return a mask of the features that have one value per query."""
    groups = data.groups
    rows = groups.rows
    inside = np.ones(rows.size - 1, bool)
    inside[groups.ptr[1:-1] - 1] = False
    same = np.ones(X.shape[1], bool)
    for some in row_blocks(X[:-1]):
        if not same.any():
            break
        block = X[rows[some.start : some.stop + 1]]
        pairs = inside[some]
        equal = (block[1:] == block[:-1]) | (np.isnan(block[1:]) & np.isnan(block[:-1]))
        same &= equal[pairs].all(axis=0)
    return same


def _duplicates(matrices: list[np.ndarray], omitted: np.ndarray) -> np.ndarray:
    """Return the first feature with the same values, or -1; hashes find candidates, values decide."""
    words = np.stack([column_hashes(X) for X in matrices])
    first: dict[bytes, int] = {}
    duplicate_of = np.full(omitted.size, -1)
    for j in np.flatnonzero(~omitted):
        i = first.setdefault(words[:, j].tobytes(), int(j))
        if i != j and all(np.array_equal(X[:, i], X[:, j], equal_nan=True) for X in matrices):
            duplicate_of[j] = i
    return duplicate_of
