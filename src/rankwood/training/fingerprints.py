"""Digests by which data is recognised."""

import hashlib

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
    some = np.unique(np.linspace(0, len(data) - 1, _ROWS).astype(np.int64))
    digest = hashlib.blake2b(digest_size=16)
    for array in (data.y, data.groups.ptr, data.groups.rows, dense(data.X[some])):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def digest_of(data: RankingData) -> str:
    """Return a digest of all that data holds: labels, queries, weights, names and features."""
    if isinstance(data, StreamedData):
        return f"{data.digest}-{data.n_features}"
    X = data.X
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((X.shape, str(X.dtype), data.feature_names)).encode())
    for array in (
        data.y,
        data.groups.ptr,
        data.groups.rows,
        data.weight,
        data.sample_weight,
        *parts,
    ):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
        digest.update(b"|")
    if data.unlisted is not None:
        digest.update(data.unlisted.y.tobytes() + data.unlisted.ptr.tobytes())
    return digest.hexdigest()
