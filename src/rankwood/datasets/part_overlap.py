"""Queries and documents that two parts of a data set share: signs of a leak."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import dense
from rankwood.data.tables.hashing import row_blocks


class Overlap(NamedTuple):
    """What two parts share.

    Attributes
    ----------
    first, second : str
        Names of the parts; counts are of the second.
    ids : int
        Queries with an id that the first part has, too.
    lists : int
        Queries with the very documents of a query of the first part, under any id.
    documents : int
        Documents with the features of one of the first part; documents whose features are all 0 or missing are omitted.
    doc_ids : int or None
        Documents whose comment names a document of the first part; None without comments.
    """

    first: str
    second: str
    ids: int
    lists: int
    documents: int
    doc_ids: int | None


class PartIdentity(NamedTuple):
    """What identifies the queries and documents of a part: ids and hashes."""

    name: str
    ids: set[Any]
    lists: np.ndarray
    documents: np.ndarray
    doc_ids: list[str] | None


def identify_part(name: str, data: RankingData, hashes: np.ndarray) -> PartIdentity:
    """Return what identifies queries and documents; `hashes` has the hash of each row."""
    groups = data.groups
    X = dense(data.X)
    not_empty = np.zeros(len(data), bool)
    for rows in row_blocks(X):
        not_empty[rows] = ((X[rows] != 0) & ~np.isnan(X[rows])).any(axis=1)
    lists = np.add.reduceat(hashes[groups.rows], groups.ptr[:-1])
    several = groups.sizes > 1  # one document alone is counted as a document
    doc_ids = None if data.comments is None else [text for text in data.comments.doc_ids if text]
    return PartIdentity(name, set(groups.ids.tolist()), lists[several], hashes[not_empty], doc_ids)


def part_overlap(first: PartIdentity, second: PartIdentity) -> Overlap:
    """Return how many queries and documents of the second part are in the first."""
    doc_ids = None
    if first.doc_ids and second.doc_ids:
        in_first = set(first.doc_ids)
        doc_ids = sum(text in in_first for text in second.doc_ids)
    return Overlap(
        first=first.name,
        second=second.name,
        ids=len(first.ids & second.ids),
        lists=int(np.isin(second.lists, first.lists).sum()),
        documents=int(np.isin(second.documents, first.documents).sum()),
        doc_ids=doc_ids,
    )
