"""Which scores belong to which query, given as ids, as lengths, or as a padded matrix with a mask."""

from typing import Any, NamedTuple

import numpy as np
import torch

from rankwood._util import checks
from rankwood.data.groups import Groups, group_rows

_OF_NUMPY = (torch.float16, torch.float32, torch.float64)


class ListLayout(NamedTuple):
    """Queries that have documents, and where they are among those that were given.

    Attributes
    ----------
    groups : Groups
        Rows by query; an empty query has none and is omitted.
    n_queries : int
        Number of queries given, empty ones included.
    given : array or None
        For each query of `groups`, its number among those given; None if no query is empty.
    """

    groups: Groups
    n_queries: int
    given: np.ndarray | None

    def spread(self, values: torch.Tensor) -> torch.Tensor:
        """Return one value for each query that was given: 0 for empty ones."""
        if self.given is None:
            return values
        out = values.new_zeros(self.n_queries)
        out[torch.from_numpy(self.given)] = values
        return out

    def query_of_row(self, n_rows: int) -> np.ndarray:
        """Return the number of each row's query, among those with documents; padding has 0."""
        query = np.zeros(n_rows, np.int64)
        query[self.groups.rows] = np.repeat(np.arange(self.groups.ptr.size - 1), self.groups.sizes)
        return query


def array(x: Any) -> np.ndarray:
    """Return a tensor, or anything else, as an array; memory is shared where that is possible."""
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu()
        # NumPy lacks bfloat16 and the floats of 8 bits.
        return (x.float() if x.is_floating_point() and x.dtype not in _OF_NUMPY else x).numpy()
    try:
        return np.asarray(x)
    except ValueError:
        raise checks.InputError(
            "labels, lengths, masks and weights must be tensors, arrays or lists, got lists of different lengths: "
            "pad them."
        ) from None


def layout(shape: tuple[int, ...], qid: Any, lengths: Any, mask: Any) -> ListLayout:
    """Return the queries of scores of this shape."""
    given = [
        name for name, x in (("qid", qid), ("lengths", lengths), ("mask", mask)) if x is not None
    ]
    if len(given) > 1:
        raise checks.InputError(f"give one of qid, lengths and mask, got {' and '.join(given)}.")
    if len(shape) == 2:
        if qid is not None:
            raise checks.InputError(
                "qid is for flat scores, and these have a row for each query: give a mask, or the lengths of the rows."
            )
        return _of_matrix(shape, lengths, mask)
    if mask is not None:
        raise checks.InputError(
            "mask is for padded scores, a row for each query; for flat scores give qid or lengths."
        )
    if lengths is not None:
        return _of_lengths(shape[0], _lengths(lengths))
    if shape[0] == 0 and (qid is None or np.size(_ids(qid)) == 0):
        return _no_documents(0)
    groups = group_rows(shape[0], None if qid is None else _ids(qid))
    return ListLayout(groups, groups.ptr.size - 1, None)


def _ids(qid: Any) -> Any:
    return array(qid) if isinstance(qid, torch.Tensor) else qid


def _no_documents(n_queries: int) -> ListLayout:
    nothing = np.zeros(0, np.int64)
    return ListLayout(Groups(np.zeros(1, np.int64), nothing, nothing), n_queries, nothing)


def _lengths(lengths: Any) -> np.ndarray:
    found = array(lengths)
    if found.shape == (0,):  # an empty list has no integers to tell its kind by
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found.size and found.min() < 0):
        raise checks.InputError(
            "lengths must hold the number of documents of each query, integers of at least 0, got "
            f"{found.dtype} of shape {found.shape}."
        )
    return found.astype(np.int64, copy=False)


def _of_lengths(size: int, lengths: np.ndarray) -> ListLayout:
    if lengths.sum() != size:
        raise checks.InputError(
            f"lengths must sum to the number of scores, {size}, got {lengths.sum()}."
        )
    return _compact(lengths, np.arange(size))


def _compact(lengths: np.ndarray, rows: np.ndarray) -> ListLayout:
    """Return queries of these lengths, which have these rows one after the other, without empty ones."""
    given = None if lengths.all() else np.flatnonzero(lengths)
    sizes = lengths if given is None else lengths[given]
    ptr = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    ids = np.arange(sizes.size) if given is None else given
    return ListLayout(Groups(ptr, rows, ids), lengths.size, given)


def _of_matrix(shape: tuple[int, ...], lengths: Any, mask: Any) -> ListLayout:
    if mask is not None:
        found = array(mask)
        if found.shape != shape or found.dtype.kind != "b":
            raise checks.InputError(
                f"mask must be a boolean for each score, True for documents and False for padding: shape {shape}, "
                f"got {found.dtype} of shape {found.shape}."
            )
        return _compact(found.sum(axis=1), np.flatnonzero(found))
    if lengths is None:
        return _compact(np.full(shape[0], shape[1], np.int64), np.arange(shape[0] * shape[1]))
    sizes = _lengths(lengths)
    if sizes.size != shape[0] or (sizes.size and sizes.max() > shape[1]):
        raise checks.InputError(
            f"lengths must be those of {shape[0]} rows, each at most {shape[1]}, got {sizes.size} of up to "
            f"{sizes.max(initial=0)}."
        )
    return _compact(sizes, np.flatnonzero(np.arange(shape[1]) < sizes[:, None]))
