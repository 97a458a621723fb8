"""Digests of data in memory."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rankwood._kernels import threads
from rankwood.data.tables.frames import dense

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData

_ROWS = 64  # rows whose features are part of a fingerprint
_BLOCK = 1 << 23  # bytes that are hashed at a time


def data_fingerprint(data: "RankingData") -> str:
    """Return a digest of the labels, the queries, the pairs and the features of some rows."""
    return _digest(data, dense(data.X[rows_of_fingerprint(len(data))]), *(data.pairs or ()))


def rows_of_fingerprint(count: int) -> np.ndarray:
    """Return the rows, of `count`, whose features are part of a fingerprint."""
    return np.unique(np.linspace(0, count - 1, _ROWS).astype(np.int64))


def data_digest(data: "RankingData") -> str:
    """Return a digest of all that data holds: labels, queries, weights, pairs, features with their shape and names."""
    X, unlisted = data.X, data.unlisted
    arrays = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    labels = () if unlisted is None else (unlisted.y, unlisted.ptr)
    weights = [weight is not None for weight in (data.weight, data.sample_weight)]
    shape = repr((X.shape, str(X.dtype), data.feature_names, data.categories, weights)).encode()
    head = np.frombuffer(shape, np.uint8)
    held = (*map(_hashes, arrays), *labels, *(data.pairs or ()))
    return _digest(data, head, data.weight, data.sample_weight, *held)


def _hashes(array: np.ndarray) -> np.ndarray:
    """Return digests of the blocks of a large array, made by several threads and without a copy of the whole."""
    step = max(_BLOCK // max(array[:1].nbytes, 1), 1)
    starts = range(0, array.shape[0], step)

    def hashed(start: int) -> bytes:
        block = np.ascontiguousarray(array[start : start + step])
        return hashlib.sha256(block.data.cast("B")).digest()

    with ThreadPoolExecutor(threads.threads(None)) as pool:
        return np.frombuffer(b"".join(pool.map(hashed, starts)), np.uint8)


def _digest(data: "RankingData", *arrays: Any) -> str:
    """Return a digest of labels, queries and arrays, None apart."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (data.y, data.groups.ptr, data.groups.rows, *arrays):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
