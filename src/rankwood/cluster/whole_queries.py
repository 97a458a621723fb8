"""Every query in one part: found out by hashes of the ids, and mended where rows must move."""

from typing import NamedTuple

import numpy as np

from rankwood.cluster.partitions import PartInfo


class Torn(NamedTuple):
    """A query with documents in two parts that aren't neighbours, or inside a part in pieces."""

    first: int
    second: int
    #: Its place among the queries of the second part.
    place: int


class QueryLayout(NamedTuple):
    """Which queries stay in their part, and which move to the part in which they begin.

    Attributes
    ----------
    keep : list of arrays
        For each part, the places of the queries that stay.
    moves : dict
        Places of queries, by part that they leave and part that they go to.
    sizes : list of int
        Rows of each part afterwards.
    queries : list of int
        Queries of each part afterwards.
    torn : Torn or None
        The first query that takes more than the mending of a seam.
    """

    keep: list[np.ndarray]
    moves: dict[tuple[int, int], np.ndarray]
    sizes: list[int]
    queries: list[int]
    torn: Torn | None


def layout_of(infos: list[PartInfo]) -> QueryLayout:
    """Return where the rows of each query come together: in the first part that has any."""
    counts = [info.hashes.size for info in infos]
    part = np.repeat(np.arange(len(infos)), counts)
    place = np.concatenate([np.arange(count) for count in counts])
    hashes = np.concatenate([info.hashes for info in infos])
    rows = np.concatenate([info.sizes for info in infos])
    _, first, code = np.unique(hashes, return_index=True, return_inverse=True)
    begins = first[code]
    home = part[begins]
    moved = np.flatnonzero(home != part)
    torn = next(
        (
            Torn(int(home[i]), int(part[i]), int(place[i]))
            for i in moved.tolist()
            if not _is_seam(
                int(home[i]), int(part[i]), int(place[i]), int(place[begins[i]]), counts
            )
        ),
        None,
    )
    keep = [place[(part == number) & (home == number)] for number in range(len(infos))]
    pairs = sorted({(int(part[i]), int(home[i])) for i in moved.tolist()})
    moves = {(a, b): place[moved[(part[moved] == a) & (home[moved] == b)]] for a, b in pairs}
    sizes = np.bincount(home, weights=rows, minlength=len(infos)).astype(np.int64).tolist()
    return QueryLayout(keep, moves, sizes, [one.size for one in keep], torn)


def _is_seam(home: int, part: int, place: int, begins: int, counts: list[int]) -> bool:
    """Return whether a query ends one part and begins the next; parts between have nothing else."""
    between = all(count == 1 for count in counts[home + 1 : part])
    return place == 0 and begins == counts[home] - 1 and between
