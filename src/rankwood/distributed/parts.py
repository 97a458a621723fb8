"""Parts of the data on the workers of a cluster: partitions, chunks or files, each a `RankingData`."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from rankwood._core.checks import InputError
from rankwood._core.rng import splitmix64
from rankwood.data.concatenation import join_matrices
from rankwood.data.frames import dense
from rankwood.data.groups import join_ids
from rankwood.data.letor import load_letor
from rankwood.data.ranking_data import RankingData


class PartInfo(NamedTuple):
    """What the driver knows of a part.

    Attributes
    ----------
    features : int
        Number of features.
    names : list of str or None
        Their names.
    hashes : array of uint64
        Of the ids of its queries, in their order.
    sizes : array of int64
        Number of documents of each query.
    kind : str
        "integers", "numbers" or "text": what the ids are.
    torn : str
        The first query whose rows are not adjacent, "" if there is none.
    """

    features: int
    names: list[str] | None
    hashes: np.ndarray
    sizes: np.ndarray
    kind: str
    torn: str


def part_of_frame(frame: Any, y: str, qid: str, number: int) -> RankingData | None:
    """Return a partition of a DataFrame; None if it is empty."""
    if len(frame) == 0:
        return None
    return _checked(frame, y, qid, number)


def part_of_arrays(X: Any, y: Any, qid: Any, number: int) -> RankingData | None:
    """Return the chunks of three arrays; None if they are empty."""
    return None if X.shape[0] == 0 else _checked(X, y, qid, number)


def _checked(X: Any, y: Any, qid: Any, number: int) -> RankingData:
    try:
        data = RankingData(X, y, qid=qid)
    except InputError as error:
        raise InputError(f"in partition {number}: {error}") from None
    if data.categories:
        name = next(iter(data.categories))
        raise InputError(
            f"feature {name!r} is categorical, and partitions may code categories differently: make it numbers first."
        )
    return data


def part_of_file(path: str, n_features: int | None = None) -> RankingData:
    """Return a LETOR file."""
    data = load_letor(path, n_features=n_features)
    data.comments = None
    return data


def describe(part: RankingData | None) -> PartInfo | None:
    """Return what the driver needs to know of a part; None if it is empty."""
    if part is None:
        return None
    groups = part.groups
    torn = ""
    gaps = np.flatnonzero(np.diff(groups.rows) != 1)
    if gaps.size:
        torn = str(groups.ids[np.searchsorted(groups.ptr, gaps[0], side="right") - 1])
    hashes, kind = _hashes(groups.ids)
    return PartInfo(part.n_features, part.feature_names, hashes, groups.sizes, kind, torn)


def _hashes(ids: np.ndarray) -> tuple[np.ndarray, str]:
    """Return 64 bits of each id, and what the ids are."""
    if ids.dtype.kind in "iu":
        return splitmix64(ids.astype(np.uint64)), "integers"
    if ids.dtype.kind == "f":
        return splitmix64(ids.astype(np.float64).view(np.uint64)), "numbers"
    texts = [hashlib.blake2b(str(one).encode(), digest_size=8).digest() for one in ids.tolist()]
    return np.frombuffer(b"".join(texts), np.uint64), "text"


def id_of(part: RankingData, place: int) -> str:
    """Return the id of a query as text."""
    return str(part.groups.ids[place])


def queries_of(part: RankingData, places: np.ndarray) -> RankingData:
    """Return some of the queries of a part."""
    return part.select(places)


def assemble(part: RankingData, keep: np.ndarray, pieces: list[RankingData]) -> RankingData | None:
    """Return the queries of a part that stay, with the rows of other parts that belong to them, each query whole."""
    sets = [part.select(keep)] if keep.size else []
    sets += pieces
    if not sets:
        return None
    X, y = join_matrices(sets), np.concatenate([one.y for one in sets])
    ids, names = join_ids([one.qid for one in sets]), part.feature_names
    data = RankingData(X, y, qid=ids, feature_names=names)
    rows = data.groups.rows
    if (np.diff(rows) == 1).all():
        return data
    return RankingData(X[rows], y[rows], qid=ids[rows], feature_names=names)


def rows_of(part: RankingData, rows: np.ndarray | None, single: bool) -> np.ndarray:
    """Return the features of some rows, or of all; in single precision if the engine bins them so."""
    X = dense(part.X if rows is None else part.X[rows])
    return X.astype(np.float32, copy=False) if single else X


def stacked(pieces: list[np.ndarray]) -> np.ndarray:
    """Return rows of several parts as one matrix."""
    return np.vstack(pieces)
