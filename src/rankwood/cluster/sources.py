"""What `fit` was given, as parts on the workers of a cluster."""

import os
import warnings
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from rankwood._util import checks
from rankwood._util.checks import InputError
from rankwood.cluster import partitions as parts
from rankwood.cluster.clients import gathered
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.frames import is_lazy
from rankwood.fit.arguments import FitArguments, named_sets, training_data, with_columns_of_valid
from rankwood.fit.result import VALID

_PARQUET = (".parquet", ".parq", ".pq")
_COLUMNS = ("y", "qid", "sample_weight")


def given_sets(given: FitArguments) -> dict[str, FitArguments]:
    """Return validation sets by name."""
    valid = with_columns_of_valid(given).valid
    if valid is None:
        return {}
    pairs = named_sets(valid)
    if pairs is None:
        return {VALID: _given_set(valid)}
    if not pairs:
        raise InputError("valid has no set: give at least one, or omit it.")
    return {str(name): _given_set(data) for name, data in pairs}


def _given_set(valid: Any) -> FitArguments:
    if _are_files(valid) or isinstance(valid, Source):
        return FitArguments(valid)
    if isinstance(valid, (tuple, list)):
        if len(valid) != 3:
            raise InputError(f"valid must be (X, y, qid), got {len(valid)} values.")
        return FitArguments(*valid)
    if is_lazy(valid):
        raise InputError("valid must be (X, y, qid): X alone has no labels.")
    return FitArguments(valid)


class Wide(NamedTuple):
    """The features that a validation set must have: those of the training data."""

    features: int
    names: list[str] | None


def futures_of(client: Any, given: FitArguments, pieces: int, like: Wide | None) -> list[Any]:
    """Return parts as Dask's futures, each of a `RankingData` or None."""
    if isinstance(given.X, Source) and given.X.in_blocks:
        raise InputError(
            "data of rw.stream_files is read on one machine: give the names of the files instead, and the workers "
            "read them."
        )
    files = files_of(given.X)
    if files is not None:
        _check_files(files)
        _check_left_out(given, ("y", "qid", "group", "weight", "sample_weight"), "a LETOR file")
        return _files(client, files, None if like is None else like.features)
    if is_lazy(given.X):
        _check_left_out(given, ("group", "weight"), "a partition")
        for name in ("y", "qid"):
            if getattr(given, name) is None:
                raise InputError(
                    f"fit needs {name}: the name of a column, or a Dask collection with as many partitions as X."
                )
        names = None if like is None else like.names
        return list(client.compute(_delayed(given, names)))
    if not isinstance(given.X, Source) and any(map(is_lazy, given)):
        raise InputError(
            "y and qid are collections of Dask, and X isn't: make all of them collections."
        )
    data = cast("RankingData", training_data(given, "fit"))
    if data.unlisted is not None:
        raise InputError("unlisted documents can't go to a cluster: omit them, or omit cluster.")
    if data.pairs is not None:
        raise InputError("pairs can't go to a cluster: set data.pairs = None, or omit cluster.")
    if like is not None and like.names is not None:
        data = data.with_features(like.names)
    parts.refuse_categories(data)
    with warnings.catch_warnings():
        # A task that holds its part can be repeated if a worker is lost; Dask advises against large ones.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        return [client.submit(_same, one, pure=False) for one in _pieces(data, pieces)]


def _check_left_out(given: FitArguments, names: tuple[str, ...], what: str) -> None:
    for name in names:
        if getattr(given, name) is not None:
            why = {
                "group": "give qid, an id per row",
                "weight": "give sample_weight, a column with a weight per row",
            }.get(name, "omit it")
            raise InputError(f"{name} can't be used with {what}: {why}.")


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


def files_of(x: Any) -> list[str] | None:
    """Return the names of files, or None if the data is something else."""
    if not _are_files(x):
        return None
    return [os.fspath(path) for path in ([x] if _is_file(x) else x)]


def _check_files(files: list[str]) -> None:
    """Raise if a file is a Parquet file, or given twice."""
    seen = set()
    for name in files:
        if name.lower().endswith(_PARQUET):
            raise InputError(
                f"{name} is a Parquet file, and the workers read LETOR files: give the DataFrame that "
                "dask.dataframe.read_parquet returns."
            )
        real = os.path.realpath(name)
        if real in seen:
            raise InputError(f"{name} is given twice: give each file once.")
        seen.add(real)


def _files(client: Any, files: list[str], width: int | None) -> list[Any]:
    """Return LETOR files, all with as many features as the widest of them, or as the training data."""
    names = [os.path.abspath(name) for name in files]
    found = client.map(parts.part_of_file, names, pure=False)
    widths = gathered(client, client.map(parts.width_of, found, pure=False))
    width = max(widths) if width is None else max(width, *widths)
    return [
        client.submit(parts.widened, part, width, pure=False) if own < width else part
        for part, own in zip(found, widths, strict=True)
    ]


def _delayed(given: FitArguments, features: list[str] | None) -> list[Any]:
    """Return the partitions of collections as delayed parts."""
    from dask import delayed

    X = given.X
    if hasattr(X, "columns"):
        _check_columns(given)
        chunks = list(X.to_delayed())
    elif hasattr(X, "numblocks"):
        check_blocks(X)
        chunks = list(X.to_delayed().ravel())
    else:
        raise InputError(
            f"X must be a Dask DataFrame or array, got {type(X).__name__}: bags have to_dataframe()."
        )
    columns = {name: _along(given, name, len(chunks)) for name in _COLUMNS}
    make = delayed(parts.part_of_partition, pure=False)
    return [
        make(chunk, {name: column[number] for name, column in columns.items()}, features, number)
        for number, chunk in enumerate(chunks)
    ]


def check_blocks(X: Any) -> None:
    """Raise unless an array can be taken by blocks of rows."""
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise InputError(
            "X must have two dimensions and all columns in one chunk: X.rechunk({1: -1})."
        )


def _along(given: FitArguments, name: str, count: int) -> list[Any]:
    """Return labels, ids or weights, for each of the partitions of X: the name of a column, or what belongs to it."""
    value = getattr(given, name)
    if value is None or isinstance(value, str):
        if value is not None and not hasattr(given.X, "columns"):
            raise InputError(f"{name}={value!r} is the name of a column, and an array has none.")
        return [value] * count
    if not is_lazy(value):
        raise InputError(
            f"{name} must be the name of a column, or a Dask collection with as many partitions as X, got "
            f"{type(value).__name__}."
        )
    pieces = list(np.ravel(value.to_delayed()))
    if len(pieces) != count:
        raise InputError(
            f"X and {name} must have the same partitions of rows, got {count} and {len(pieces)}: take them from one "
            "collection, or rechunk arrays alike."
        )
    return pieces


def _check_columns(given: FitArguments) -> None:
    """Raise unless a frame has the columns that were named, and numbers in all others."""
    X, known = given.X, list(given.X.columns)
    named = {name: getattr(given, name) for name in _COLUMNS}
    named = {name: value for name, value in named.items() if isinstance(value, str)}
    for name, value in named.items():
        if value not in known:
            near = checks.nearest(value, map(str, known))
            raise InputError(f"the DataFrame has no column {value!r} ({name}){near}")
    others = [column for column in known if column not in named.values()]
    for column, kind in zip(known, X.dtypes, strict=True):
        if column in others and getattr(kind, "kind", "O") not in "biuf":
            raise InputError(
                f"column {column!r} has values of type {kind}, and features must be numbers: drop it, as in "
                f"df.drop(columns=[{column!r}]), or make numbers of it."
            )
    if not others:
        raise InputError(
            "the DataFrame has no columns besides labels and queries: there are no features."
        )
