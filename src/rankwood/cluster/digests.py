"""Digests of data that is on the workers: the one of the model file, and the one of checkpoints."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import splitmix64
from rankwood.cluster.clients import gathered
from rankwood.cluster.placing import PlacedData
from rankwood.data.digests import rows_of_fingerprint
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.fit.files.run_file import CLUSTER

_AT_ONCE = 16  # parts whose labels are fetched together
_BLOCK = 1 << 16  # rows that are hashed together
_PRIME = np.uint64(0x9E3779B97F4A7C15)


class Excerpt(NamedTuple):
    """What the fingerprint needs of a part."""

    y: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray


def excerpt(part: RankingData, rows: np.ndarray) -> Excerpt:
    """Return the labels and the sizes of queries of a part, and the features of some rows."""
    return Excerpt(part.y, part.groups.sizes, dense(part.X[rows]))


def fingerprint(client: Any, data: PlacedData) -> str:
    """Return the digest that `RankingData.fingerprint` returns for the same data in one piece."""
    digest = hashlib.blake2b(digest_size=16)
    some = rows_of_fingerprint(data.documents)
    sizes, features = [], []
    pairs = list(zip(data.futures, data.rows_in_parts(some), strict=True))
    for first in range(0, len(pairs), _AT_ONCE):
        few = pairs[first : first + _AT_ONCE]
        tasks = [client.submit(excerpt, *pair, pure=False) for pair in few]
        for part in gathered(client, tasks):
            digest.update(np.ascontiguousarray(part.y).tobytes())
            sizes.append(part.sizes)
            features.append(part.rows)
    digest.update(np.cumsum(np.concatenate([[0], *sizes]).astype(np.int64)).tobytes())
    for first in range(0, data.documents, _BLOCK):  # the rows of each query are adjacent
        digest.update(np.arange(first, min(first + _BLOCK, data.documents)).tobytes())
    digest.update(np.ascontiguousarray(np.concatenate(features)).tobytes())
    return digest.hexdigest()


def full_digest(client: Any, data: PlacedData) -> str:
    """Return a digest of all that data holds; it doesn't depend on the borders of partitions, nor on the workers."""
    tasks = [
        client.submit(hashes_of, part, *place, pure=False)
        for part, place in zip(data.futures, data.places, strict=True)
    ]
    sums = np.array(gathered(client, tasks), np.uint64).sum(axis=0, dtype=np.uint64)
    shape = repr((data.documents, data.queries, data.features, data.names)).encode()
    head = hashlib.blake2b(shape, digest_size=8).hexdigest()
    return f"{CLUSTER}{head}-{int(sums[0]):016x}{int(sums[1]):016x}"


def hashes_of(part: RankingData, first_row: int, first_query: int) -> tuple[int, int]:
    """Return two sums of hashes of the rows: of features, label, weights, and the numbers of row and query in all."""
    queries = part.groups.per_row(np.arange(part.groups.ids.size)) + first_query
    weights = [part.y, part.sample_weight]
    weights.append(None if part.weight is None else part.groups.per_row(part.weight))
    sums = np.zeros(2, np.uint64)
    for first in range(0, len(part), _BLOCK):
        rows = slice(first, min(first + _BLOCK, len(part)))
        hashes = np.arange(rows.start, rows.stop).astype(np.uint64) + np.uint64(first_row)
        hashes = _mixed(hashes, queries[rows].astype(np.uint64))
        columns = [one[rows] for one in weights if one is not None]
        for column in [*columns, *dense(part.X[rows]).T]:
            bits = np.ascontiguousarray(column, np.float64).view(np.uint64)
            hashes = _mixed(hashes, bits)
        sums += [hashes.sum(dtype=np.uint64), splitmix64(hashes + _PRIME).sum(dtype=np.uint64)]
    return int(sums[0]), int(sums[1])


def _mixed(hashes: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return hashes that depend on one word more."""
    return splitmix64((hashes * _PRIME) ^ words)
