"""What `fit` was given, as parts on the workers of a cluster."""

import os
from itertools import pairwise
from typing import Any

import numpy as np

from rankwood._core.checks import InputError
from rankwood.data.ranking_data import RankingData
from rankwood.distributed import parts
from rankwood.training.inputs import training_data


def is_lazy(x: Any) -> bool:
    """Return whether this is a collection of Dask."""
    return hasattr(x, "__dask_graph__")


def futures_of(client: Any, given: tuple[Any, Any, Any], pieces: int) -> list[Any]:
    """Return parts as Dask's futures, each of a `RankingData` or None, given (X, y, qid)."""
    X, y, qid = given
    if _are_files(X):
        names = [os.path.abspath(os.fspath(path)) for path in ([X] if _is_file(X) else X)]
        return list(client.map(parts.part_of_file, names, pure=False))
    if is_lazy(X):
        return list(client.compute(_delayed(X, y, qid)))
    data = training_data(X, y, qid, None, None, "fit")
    if data.weight is not None or data.sample_weight is not None or data.unlisted is not None:
        raise InputError(
            "weights and unlisted documents can't go to a cluster yet: leave them out, or leave out cluster."
        )
    if data.categories:
        raise InputError("categorical features can't go to a cluster yet: make numbers of them.")
    return [client.submit(_same, one, pure=False) for one in _pieces(data, pieces)]


def _same(part: RankingData) -> RankingData:
    return part


def _pieces(data: RankingData, count: int) -> list[RankingData]:
    """Return the queries in so many parts of about the same size."""
    ptr = data.groups.ptr
    ends = np.searchsorted(ptr, np.linspace(0, ptr[-1], count + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], ends, [ptr.size - 1]])).tolist()
    out = [data.select(np.arange(a, b)) for a, b in pairwise(cuts)]
    for one in out:
        one.comments = None
    return out


def _is_file(x: Any) -> bool:
    return isinstance(x, (str, os.PathLike))


def _are_files(x: Any) -> bool:
    return _is_file(x) or (isinstance(x, (list, tuple)) and bool(x) and all(map(_is_file, x)))


def _delayed(X: Any, y: Any, qid: Any) -> list[Any]:
    """Return the partitions of collections as delayed parts."""
    from dask import delayed

    if hasattr(X, "columns"):
        for name, value in (("y", y), ("qid", qid)):
            if not isinstance(value, str):
                raise InputError(
                    f"{name} must be the name of a column of the DataFrame, got {type(value).__name__}: assign it as a "
                    "column first."
                )
            if value not in X.columns:
                known = ", ".join(map(repr, list(X.columns)[:8]))
                raise InputError(f"the DataFrame has no column {value!r} ({name}); it has {known}.")
        make = delayed(parts.part_of_frame, pure=False)
        return [make(frame, y, qid, number) for number, frame in enumerate(X.to_delayed())]
    if not all(is_lazy(one) and hasattr(one, "numblocks") for one in (X, y, qid)):
        raise InputError("with a Dask array, X, y and qid must all be Dask arrays.")
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise InputError(
            "X must have two dimensions and all columns in one chunk: X.rechunk({1: -1})."
        )
    if not X.numblocks[0] == y.numblocks[0] == qid.numblocks[0]:
        raise InputError(
            f"X, y and qid must have the same chunks of rows, got {X.numblocks[0]}, {y.numblocks[0]} and "
            f"{qid.numblocks[0]}: y.rechunk(X.chunks[0])."
        )
    make = delayed(parts.part_of_arrays, pure=False)
    chunks = zip(*(one.to_delayed().ravel() for one in (X, y, qid)), strict=True)
    return [make(*three, number) for number, three in enumerate(chunks)]
