"""Place the input on workers: whole queries per partition, global row and query numbers, assignment."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.numeric.rng import generator_at
from rankwood._util.checks import InputError
from rankwood.cluster import partitions as parts
from rankwood.cluster.clients import gathered
from rankwood.cluster.partitions import PartInfo
from rankwood.cluster.sources import Wide, files_of, futures_of
from rankwood.cluster.whole_queries import QueryLayout, layout_of
from rankwood.cluster.worker import PartPlace
from rankwood.fit.arguments import FitArguments

#: Rows from which bins are made; if there are no more, the bins are those of a fit on one machine.
SAMPLE = 200_000
_UNEVEN = 1.15  # how far the rows of a worker may be above the mean before parts move


class PlacedData(NamedTuple):
    """Parts of whole queries on the workers, in order.

    Attributes
    ----------
    futures : list
        The parts.
    places : list of PartPlace
        Where each begins in the whole data.
    rows : list of int
        Rows of each.
    documents, queries, features : int
        Of all parts.
    names : list of str or None
        Names of the features.
    """

    futures: list[Any]
    places: list[PartPlace]
    rows: list[int]
    documents: int
    queries: int
    features: int
    names: list[str] | None

    def rows_in_parts(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return which rows of each part these are, given sorted numbers of rows of the whole."""
        cuts = np.split(rows, np.searchsorted(rows, np.cumsum(self.rows)[:-1]))
        return [some - start.row for some, start in zip(cuts, self.places, strict=True)]


def place(
    client: Any, given: FitArguments, pieces: int, shuffle: bool, like: PlacedData | None = None
) -> PlacedData:
    """Bring data to the workers, with each query in one part; raise if that takes a shuffle that wasn't wanted.

    Validation data has the features of the training data, `like`.
    """
    wide = None if like is None else Wide(like.features, like.names)
    futures = futures_of(client, given, pieces, wide)
    described = gathered(client, client.map(parts.describe, futures, pure=False))
    numbers = [number for number, info in enumerate(described) if info is not None]
    infos = [described[number] for number in numbers]
    futures = [futures[number] for number in numbers]
    if not infos:
        raise InputError("there are no rows: every partition is empty.")
    files = files_of(given.X)
    called = [f"partition {number}" if files is None else files[number] for number in numbers]
    _check_alike(infos, called)
    if like is not None and infos[0].features != like.features:
        raise InputError(
            f"there are {infos[0].features} features, and the training data has {like.features}; they must agree."
        )
    layout = layout_of(infos)
    if not shuffle:
        _check_whole(client, layout, infos, futures, called)
    futures = _mended(client, layout, infos, futures)
    kept = [number for number, queries in enumerate(layout.queries) if queries]
    rows = [layout.sizes[number] for number in kept]
    queries = [layout.queries[number] for number in kept]
    starts = zip(np.cumsum([0, *rows]).tolist(), np.cumsum([0, *queries]).tolist(), strict=True)
    places = [PartPlace(*start) for start in list(starts)[:-1]]
    first = infos[0]
    return PlacedData(
        *([futures[number] for number in kept], places, rows),
        *(sum(rows), sum(queries), first.features, first.names),
    )


def _check_alike(infos: list[PartInfo], called: list[str]) -> None:
    """Raise unless all parts have the same features, and ids of one kind."""
    first = infos[0]
    for name, info in zip(called, infos, strict=True):
        if info.features != first.features or info.names != first.names:
            raise InputError(
                f"{name} has {info.features} features, but {called[0]} has {first.features}, or they have other names: "
                "give all parts the same features."
            )
        if info.kind != first.kind:
            raise InputError(
                f"query ids are {first.kind} in {called[0]} and {info.kind} in {name}: give them one type."
            )


def _check_whole(
    client: Any, layout: QueryLayout, infos: list[PartInfo], futures: list[Any], called: list[str]
) -> None:
    """Raise if a query is in pieces, other than across the seam of two neighbouring parts."""
    ways = "sort the data by query, or pass shuffle_parts=True to bring its rows together"
    for part, info in zip(called, infos, strict=True):
        if info.torn:
            raise InputError(
                f"the rows of query {info.torn} are in several pieces of {part}: {ways}."
            )
    if layout.torn is not None:
        first, second, at = layout.torn
        name = client.submit(parts.id_of, futures[second], at, pure=False).result()
        raise InputError(f"query {name} is in {called[first]} and in {called[second]}: {ways}.")


def _mended(
    client: Any, layout: QueryLayout, infos: list[PartInfo], futures: list[Any]
) -> list[Any]:
    """Return parts whose queries are whole."""
    arriving: dict[int, list[Any]] = {}
    for (leaves, home), places in layout.moves.items():
        piece = client.submit(parts.queries_of, futures[leaves], places, pure=False)
        arriving.setdefault(home, []).append(piece)
    out = []
    for number, (future, info) in enumerate(zip(futures, infos, strict=True)):
        keep = layout.keep[number]
        if number in arriving or keep.size < info.hashes.size or info.torn:
            pieces = arriving.get(number, [])
            future = client.submit(parts.assemble, future, keep, pieces, pure=False)
        out.append(future)
    return out


def sample_of(client: Any, data: PlacedData, single: bool, size: int = SAMPLE) -> Any:
    """Return a future of the rows from which every worker makes its bins; in single precision, if the engine is."""
    if data.documents <= size:
        chosen: list[Any] = [None] * len(data.futures)
    else:
        drawn = np.sort(generator_at(0, 0, 4).choice(data.documents, size, replace=False))
        chosen = data.rows_in_parts(drawn)
    pieces = [
        client.submit(parts.rows_of, future, rows, single, pure=False)
        for future, rows in zip(data.futures, chosen, strict=True)
    ]
    return client.submit(parts.stacked, pieces, pure=False)


def deal(rows: list[int], at: list[str | None], workers: list[str]) -> list[str]:
    """Return the worker of each part: the one that has it, unless it has too many rows already."""
    mean = sum(rows) / len(workers)
    limit = max(mean * _UNEVEN, *rows)
    load = dict.fromkeys(workers, 0)
    out = [""] * len(rows)
    for i in sorted(range(len(rows)), key=lambda i: -rows[i]):
        own = at[i]
        least = min(workers, key=lambda worker: load[worker])
        fits = own in load and load[own] + rows[i] <= limit  # type: ignore[index]
        # A worker without any rows takes no part in training.
        chosen = own if fits and (load[least] or not load[own]) else least  # type: ignore[index]
        out[i] = chosen  # type: ignore[assignment]
        load[out[i]] += rows[i]
    return out


def holders(client: Any, futures: list[Any]) -> list[str | None]:
    """Return the worker that has each part."""
    found = client.who_has(futures)
    return [next(iter(sorted(found.get(future.key, ()))), None) for future in futures]
