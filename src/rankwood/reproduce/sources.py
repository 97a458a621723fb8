"""The data behind the roles of an item: folders that the user gives, read fold by fold."""

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rankwood._util import checks
from rankwood.datasets import catalogue, load_splits
from rankwood.datasets.split_files import SECTIONS, find_layout

_BLOCK = 1 << 16  # rows that are digested at a time
_PARTS = ("train", "valid", "test")


class DataRef(NamedTuple):
    """Where the data of a cell is: a folder, the role it fills, the fold from 0, and how many queries to keep.

    `missing` tells whether features that a line omits are missing, not 0.
    """

    folder: str
    role: str
    fold: int
    queries: int | None
    missing: bool = False


@dataclass(frozen=True)
class FoldFiles:
    """The data set that fills a role.

    Attributes
    ----------
    role, folder, name : str
        The role, the folder, and its last part, by which pages call the data.
    published : bool
        Whether the data is that of the role, by its numbers of queries and features.
    folds : tuple of str
        A digest of the data of each fold that is used.
    all_folds : int
        How many folds the data has.
    missing : bool
        Whether features that a line omits are missing, not 0.
    """

    role: str
    folder: str
    name: str
    published: bool
    folds: tuple[str, ...]
    all_folds: int
    missing: bool = False


def omitted_is_missing(role: str, absent: float | None) -> bool:
    """Tell whether features that a line omits are missing: as a paper says, else as the catalogue says of a role."""
    if absent is None:
        known = catalogue().get(role)
        absent = 0.0 if known is None else known.absent
    return math.isnan(absent)


def open_source(
    role: str,
    folder: Any,
    queries: int | None,
    folds: int | None,
    usual_folds: int,
    missing: bool = False,
) -> FoldFiles:
    """Read the data of a role once, to see what it is.

    `folds` is how many folds the user wants; by default `usual_folds` if the data is that of the role, else all.
    `missing` tells whether features that a line omits are missing; in other data they are 0.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise checks.InputError(
            f"the data of {role} can't be read: there is no folder {folder}; give one with LETOR files."
        )
    total = _count_folds(path, role)
    published = _is_published(role, read_split(DataRef(str(path), role, 0, None, missing)))
    missing = missing and published
    used = min(total, folds or (usual_folds if published else total))
    refs = [DataRef(str(path), role, i, queries, missing) for i in range(used)]
    digests = tuple(digest_of(read_split(ref)) for ref in refs)
    return FoldFiles(role, str(path), path.resolve().name, published, digests, total, missing)


@lru_cache(maxsize=5)  # cells are sorted by fold, so few are needed at a time
def read_split(ref: DataRef) -> Any:
    """Return the data of a fold, an object with `train`, `valid` and `test`."""
    name = ref.role if ref.role in catalogue() else None
    absent = math.nan if ref.missing else 0.0
    return load_splits(ref.folder, name, queries=ref.queries, folds=[ref.fold + 1], absent=absent)[
        0
    ]


def _count_folds(folder: Path, role: str) -> int:
    """Return how many folds a folder has, by the names of its files."""
    layout = find_layout(folder, catalogue().get(role))
    return SECTIONS if layout.whole is not None else len(layout.folds)


def digest_of(split: Any) -> str:
    """Return a digest of all bits of labels, queries and features."""
    digest = hashlib.sha256()
    for part in _PARTS:
        data = getattr(split, part)
        X = data.X.tocsr() if sparse.issparse(data.X) else data.X
        digest.update(f"{part}{X.shape}{X.dtype}".encode())
        arrays = [data.y, data.groups.ptr, data.groups.rows]
        arrays += [X.data, X.indices, X.indptr] if sparse.issparse(X) else []
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        if not sparse.issparse(X):
            for start in range(0, X.shape[0], _BLOCK):
                digest.update(np.ascontiguousarray(X[start : start + _BLOCK]).tobytes())
    return digest.hexdigest()


def _is_published(role: str, split: Any) -> bool:
    """Tell whether data has the numbers of features, queries and documents that are published for a role."""
    known = catalogue().get(role)
    if known is None or split.train.n_features not in known.feature_counts:
        return False
    found = {part: [getattr(split, part)] for part in _PARTS}
    found["all"] = [getattr(split, part) for part in _PARTS]
    for part, counts in known.counts.items():
        queries = sum(data.groups.ids.size for data in found[part])
        documents = sum(len(data) for data in found[part])
        if counts.queries not in (None, queries) or counts.documents not in (None, documents):
            return False
    return True
