"""Digests by which data is recognised."""

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from rankwood.data.frames import dense
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.streamed_data import StreamedData

_ROWS = 64  # rows whose features are part of a fingerprint


def fingerprint(data: RankingData) -> str:
    """Return a digest of the labels, the queries and the features of some rows, to recognise data by."""
    if isinstance(data, StreamedData):
        return data.digest
    return _digest(data, dense(data.X[rows_of_fingerprint(len(data))]))


def rows_of_fingerprint(count: int) -> np.ndarray:
    """Return the rows, of so many, whose features are part of a fingerprint."""
    return np.unique(np.linspace(0, count - 1, _ROWS).astype(np.int64))


def full_digest(data: RankingData) -> str:
    """Return a digest of all that data holds: labels, queries, weights, features with their shape and names."""
    if isinstance(data, StreamedData):
        return f"{data.digest}-{data.n_features}"
    X, unlisted = data.X, data.unlisted
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    others = () if unlisted is None else (unlisted.y, unlisted.ptr)
    weights = [weight is not None for weight in (data.weight, data.sample_weight)]
    shape = repr((X.shape, str(X.dtype), data.feature_names, weights)).encode()
    head = np.frombuffer(shape, np.uint8)
    return _digest(data, head, data.weight, data.sample_weight, *parts, *others)


def _digest(data: RankingData, *arrays: Any) -> str:
    """Return a digest of labels, queries and arrays, None apart."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (data.y, data.groups.ptr, data.groups.rows, *arrays):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
