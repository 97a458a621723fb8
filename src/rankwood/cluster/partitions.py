"""Parts of the data on the workers of a cluster: partitions, chunks or files, each a `RankingData`."""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rankwood._kernels.numeric.rng import splitmix64
from rankwood._util.checks import InputError
from rankwood.data.concatenation import join_matrices
from rankwood.data.groups import join_ids
from rankwood.data.letor import load_letor
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense


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


def part_of_partition(
    X: Any, columns: dict[str, Any], features: list[str] | None, number: int
) -> RankingData | None:
    """Return a partition, with labels, ids and weights that are its columns or stand beside it; None if it is empty."""
    if X.shape[0] == 0:
        return None
    try:
        data = RankingData(X, **columns)
        if features is not None:
            data = data.with_features(features)
    except InputError as error:
        raise InputError(f"in partition {number}: {error}") from None
    refuse_categories(data)
    return data


def refuse_categories(data: RankingData) -> None:
    """Raise if a feature is categorical."""
    if data.categories:
        name = next(iter(data.categories))
        raise InputError(
            f"feature {name!r} is categorical, and partitions may code categories differently: make it numbers first."
        )


def part_of_file(path: str) -> RankingData:
    """Return a LETOR file."""
    data = load_letor(path)
    data.comments = None
    return data


def width_of(part: RankingData) -> int:
    """Return the number of features."""
    return part.n_features


def widened(part: RankingData, width: int) -> RankingData:
    """Return a part with more features, which are 0: LETOR files omit them."""
    more = width - part.n_features
    if sparse.issparse(part.X):
        X = sparse.hstack([part.X, sparse.csr_array((len(part), more))], format="csr")
    else:
        X = np.hstack([part.X, np.zeros((len(part), more), part.X.dtype)])
    return RankingData(X, part.y, qid=part.qid)


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
    ids, weights = join_ids([one.qid for one in sets]), row_weights(sets)
    data = RankingData(X, y, qid=ids, sample_weight=weights, feature_names=part.feature_names)
    rows = data.groups.rows
    if (np.diff(rows) == 1).all():
        return data
    return RankingData(
        *(X[rows], y[rows]),
        qid=ids[rows],
        sample_weight=None if weights is None else weights[rows],
        feature_names=part.feature_names,
    )


def row_weights(parts: list[RankingData]) -> np.ndarray | None:
    """Return the weight of each row; in a piece of a query, equal weights of rows have become one of the query."""
    if all(part.weight is None and part.sample_weight is None for part in parts):
        return None
    out = []
    for part in parts:
        own = np.ones(len(part))
        if part.weight is not None:
            own[part.groups.rows] = np.repeat(part.weight, part.groups.sizes)
        out.append(own if part.sample_weight is None else own * part.sample_weight)
    return np.concatenate(out)


def rows_of(part: RankingData, rows: np.ndarray | None, single: bool) -> np.ndarray:
    """Return the features of some rows, or of all; in single precision if the engine bins them so."""
    X = dense(part.X if rows is None else part.X[rows])
    return X.astype(np.float32, copy=False) if single else X


def stacked(pieces: list[np.ndarray]) -> np.ndarray:
    """Return rows of several parts as one matrix."""
    return np.vstack(pieces)
