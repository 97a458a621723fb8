"""Queries as groups of rows."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import generator
from rankwood._util import checks


class Groups(NamedTuple):
    """Rows by query: query q has rows `rows[ptr[q]:ptr[q + 1]]`, in the caller's order, and id `ids[q]`.

    Queries are in order of first appearance.
    """

    ptr: np.ndarray
    rows: np.ndarray
    ids: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of documents of each query."""
        return np.diff(self.ptr)

    def shuffled(self, seed: int, noise: np.ndarray | None = None) -> "Groups":
        """Return the same queries with the rows of each in random order, the same for the same seed.

        `noise` has the random numbers of the rows, if they are some of the rows of a larger data set.
        """
        query = np.repeat(np.arange(self.ids.size), self.sizes)
        noise = generator(seed).random(self.rows.size) if noise is None else noise
        return self._replace(rows=self.rows[np.lexsort((noise, query))])

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Spread one value per query over the rows, in the caller's order."""
        out = np.empty(self.rows.size, values.dtype)
        out[self.rows] = np.repeat(values, self.sizes)
        return out


def group_rows(size: int, qid: Any = None, group: Any = None) -> Groups:
    """Group `size` rows by query ids of any type in any order, or by consecutive group sizes.

    With neither, all rows are one query.
    """
    if size == 0:
        raise checks.InputError("there are no rows: expected at least one document.")
    if qid is not None and group is not None:
        raise checks.InputError(
            "give either qid (an id per row) or group (sizes of queries), not both."
        )
    if group is not None:
        return _from_sizes(size, group)
    if qid is None:
        return Groups(np.array([0, size]), np.arange(size), np.zeros(1, np.int64))
    return _from_ids(size, qid)


def random_part(n_queries: int, fraction: float, seed: int) -> np.ndarray:
    """Return a mask of a random share of the queries: at least one, and not all."""
    if not 0 < checks.finite(fraction, "fraction") < 1:
        raise checks.InputError(f"fraction must be above 0 and below 1, got {fraction}.")
    if n_queries < 2:
        raise checks.InputError("one query can't be split, expected at least two.")
    size = min(max(round(fraction * n_queries), 1), n_queries - 1)
    chosen = np.zeros(n_queries, bool)
    chosen[_shuffled(n_queries, seed)[:size]] = True
    return chosen


def random_folds(n_queries: int, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each query, 0 to `n_folds` - 1, at random; sizes differ by at most one."""
    if checks.at_least(n_folds, 2, "n") > n_queries:
        raise checks.InputError(
            f"{n_folds} folds need as many queries, but there are {n_queries}: give a smaller n."
        )
    fold = np.empty(n_queries, np.int64)
    fold[_shuffled(n_queries, seed)] = np.arange(n_queries) % n_folds
    return fold


def _shuffled(n_queries: int, seed: int) -> np.ndarray:
    return generator(checks.at_least(seed, 0, "seed")).permutation(n_queries)


def _from_sizes(size: int, group: Any) -> Groups:
    sizes = checks.vector(group, "group")
    if (sizes != np.floor(sizes)).any() or (sizes.size and sizes.min() < 1):
        raise checks.InputError("group must hold the sizes of queries, integers of at least 1.")
    if sizes.sum() != size:
        hint = "; to give an id per row use qid=" if sizes.size == size else ""
        raise checks.InputError(
            f"group must sum to the number of rows, {size}, got {int(sizes.sum())}{hint}."
        )
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Groups(ptr, np.arange(size), np.arange(sizes.size))


def _from_ids(size: int, qid: Any) -> Groups:
    ids = id_array(qid)
    if ids.size != size:
        hint = "; to give the sizes of queries use group=" if ids.size < size else ""
        raise checks.InputError(f"qid has {ids.size} values, but there are {size} rows{hint}.")
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    code, unique = _factorize(ids[starts])
    if unique.size == starts.size:  # rows of every query are adjacent
        return Groups(np.append(starts, size), np.arange(size), unique)
    runs = np.diff(np.append(starts, size))
    row_code = np.repeat(code, runs)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(row_code))])
    return Groups(ptr, np.argsort(row_code, kind="stable"), unique)


def id_array(qid: Any) -> np.ndarray:
    """Return query ids as a one-dimensional array; missing ids are an error."""
    ids = np.ma.asanyarray(qid) if isinstance(qid, np.ma.MaskedArray) else np.asarray(qid)
    if isinstance(qid, (list, tuple)) and ids.dtype.kind in "US":
        # NumPy turns [1, "1"] and ["a", nan] into text; different ids must stay different.
        ids = ids if all(isinstance(x, (str, bytes)) for x in qid) else np.array(qid, dtype=object)
    if ids.ndim == 2 and ids.shape[1] == 1:
        ids = ids[:, 0]
    if ids.ndim != 1:
        raise checks.InputError(f"qid must have one dimension, got shape {ids.shape}.")
    missing = _missing(ids)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise checks.InputError(f"qid must not be missing, but it is at row {row}.")
    return np.asarray(ids)


def check_ids_differ(parts: list[np.ndarray], hint: str = "") -> None:
    """Raise if a query id is in two of several parts; `hint` ends the message."""
    seen: dict[Any, int] = {}
    for i, ids in enumerate(parts):
        repeated = next((qid for qid in ids.tolist() if qid in seen), None)
        if repeated is not None:
            raise checks.InputError(
                f"query {repeated!r} is in part {seen[repeated]} and in part {i}, but one query can't be in two "
                f"parts: give the queries of each part ids of their own (group= numbers them from 0){hint}."
            )
        seen |= dict.fromkeys(ids.tolist(), i)


def join_ids(parts: list[np.ndarray]) -> np.ndarray:
    """Return the query ids of several parts in one array; ids of different kinds stay what they are."""
    kinds = {ids.dtype.kind for ids in parts}
    return np.concatenate(parts if len(kinds) == 1 else [ids.astype(object) for ids in parts])


def _missing(ids: np.ndarray) -> np.ndarray:
    if isinstance(ids, np.ma.MaskedArray):
        return np.ma.getmaskarray(ids)
    if ids.dtype.kind in "fc":
        return np.isnan(ids)
    if ids.dtype.kind in "mM":
        return np.isnat(ids)
    if ids.dtype.kind == "O":  # NaN and NaT differ from themselves; pandas' NA has no truth value
        return np.array([x is None or repr(x) == "<NA>" or bool(x != x) for x in ids], bool)
    return np.zeros(0, bool)


def _factorize(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code ids by first appearance."""
    if ids.dtype.kind == "O":  # ids that can't be compared, only hashed
        codes: dict[Any, int] = {}
        try:
            code = np.array([codes.setdefault(x, len(codes)) for x in ids], np.int64)
        except TypeError:
            raise checks.InputError(
                "qid must hold plain values such as numbers or text, got ones that can't be compared."
            ) from None
        unique = np.empty(len(codes), object)
        unique[:] = list(codes)
        return code, unique
    unique, first, code = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[code], unique[order]
