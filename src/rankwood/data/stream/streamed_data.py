"""StreamedData: ranking data whose features stay in files."""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.data import arguments
from rankwood.data.groups import Groups
from rankwood.data.source import Source, T
from rankwood.data.stream.blocks import Block, Piece, join_ids, whole_queries
from rankwood.data.stream.files import File
from rankwood.data.stream.passes import first_pass, later_pass
from rankwood.data.stream.record import PassRecord
from rankwood.data.stream.sample import RowSample, matrix_in_file
from rankwood.data.tables.frames import dense

#: Methods of `RankingData` that need all features.
_IN_MEMORY = ("concat", "cut_to", "folds", "select", "split")
_ROWS = 1 << 14  # rows of a matrix in memory that are handed on at a time


class Reader(Protocol):
    """What reads files of one kind."""

    @property
    def files(self) -> list[File]:
        """The files, in order."""

    @property
    def place_name(self) -> str:
        """What the place of a row is called."""

    @property
    def fill_value(self) -> float:
        """The value of features that a row lacks."""

    @property
    def settings(self) -> tuple[Any, ...]:
        """What besides the files decides about the rows."""

    def names(self) -> list[str] | None:
        """Return the names of the features, None if they have none."""

    def compared(self, names: list[str] | None) -> Any:
        """Return which checksums of pieces a pass with these features has, as an index."""

    def pieces(
        self, width: int | None, names: list[str] | None = None, digest: Any = None
    ) -> Iterator[Piece]:
        """Yield all rows, with so many features, or with those of these names."""


class StreamedData(Source):
    """Ranking data whose features stay in files: `stream_files` makes it.

    Labels and queries are in memory, features are read block by block, as often as they are needed. What needs all
    features at once raises an error.

    Parameters
    ----------
    reader : Reader
        Reads the files.
    sample : int
        The most rows that decide the bins of features.
    verbose : bool, optional
        Show a progress bar for each pass over the files; by default on a terminal.

    Attributes
    ----------
    y, groups, feature_names
        As in `RankingData`.
    files : list of str
        The files, in order.
    sample : array
        The rows that decide the bins: all rows, in order, if there are no more.

    Examples
    --------
    >>> import os, tempfile
    >>> import rankwood as rw
    >>> name = os.path.join(tempfile.mkdtemp(), "train.txt")
    >>> rw.save_letor(rw.make_ranking(20, seed=1), name)
    >>> data = rw.stream_files(name)
    >>> isinstance(data, rw.StreamedData), data.groups.ids.size, data.sample.shape == (len(data), 20)
    (True, 20, True)
    """

    in_blocks: ClassVar[bool] = True

    def __init__(self, reader: Reader, sample: int, verbose: bool | None = None) -> None:
        self._verbose = verbose
        found = _scan(reader, sample, verbose)
        self._parts: list[_Part] = [_Files(reader, found.record)]
        self.files = [file.path for file in reader.files]
        self.y = arguments.read_only(found.y)
        self.groups = found.groups
        self.feature_names = reader.names()
        self.sample, self._digest = found.sample, found.digest
        self._n_features = found.width
        self.categories = {}

    def __repr__(self) -> str:
        return (
            f"StreamedData({plural(len(self), 'document')}, {plural(self.groups.ids.size, 'query')}, "
            f"{plural(self.n_features, 'feature')}, labels {self.y.min():g} to {self.y.max():g}, "
            f"{plural(len(self.files), 'file')})"
        )

    def matrix(self) -> Any:
        """Raise: the features are never all in memory."""
        raise checks.InputError(
            "the features of a stream are never all in memory, and this needs them: load the files, as with "
            "load_letor, or omit it."
        )

    @property
    def X(self) -> Any:
        """Not there: see `matrix`."""
        return self.matrix()

    def __getattr__(self, name: str) -> Any:
        if name in _IN_MEMORY:
            raise AttributeError(
                f"StreamedData has no {name}, as its features are never all in memory: load the files, as with "
                f"load_letor, and call {name} of that."
            )
        raise AttributeError(f"'StreamedData' object has no attribute {name!r}")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    def built(
        self, from_matrix: Callable[[Any], T], from_files: Callable[["StreamedData"], T]
    ) -> T:
        """Return what a function makes of the files; see `rankwood.data.source.Source`.

        Parameters
        ----------
        from_matrix, from_files : functions
            What to do with features in memory, and with those in files; the second is called.

        Returns
        -------
        object
            What it returns.
        """
        return from_files(self)

    def digest(self) -> str:
        """Return a digest of all that was read.

        Returns
        -------
        str
            Equal for equal files that are read alike.
        """
        return f"{self._digest}-{self.n_features}-{self.feature_names}"

    def fingerprint(self) -> str:
        """Return a digest of all that was read, whichever features are used.

        Returns
        -------
        str
            Equal for equal files that are read alike.
        """
        return self._digest

    def blocks(self) -> Iterator[np.ndarray]:
        """Read the features again, block by block: whole queries, in the order of the files.

        Returns
        -------
        iterator of arrays
            Matrices with the rows of some queries each.

        Raises
        ------
        InputError
            If a file was changed after it was first read.
        """
        return later_pass(self._blocks(), len(self), self._verbose)

    def _blocks(self) -> Iterator[np.ndarray]:
        for part in self._parts:
            yield from part.blocks(self._n_features, self.feature_names)

    def with_features(self, names: Sequence[str]) -> "StreamedData":
        """Return the same documents with some of the features.

        Parameters
        ----------
        names : sequence of str
            Names of features, in the order wanted; data without names is returned as it is.

        Returns
        -------
        StreamedData
        """
        known, names = self.feature_names, list(names)
        if known is None or known == names:
            return self
        missing = [name for name in names if name not in known]
        if missing:
            raise arguments.missing_column(missing[0], known)
        other = copy(self)
        other.feature_names, other._n_features = names, len(names)
        other.sample = matrix_in_file(len(self.sample), len(names), self.sample.dtype)
        for at, name in enumerate(names):
            other.sample[:, at] = self.sample[:, known.index(name)]
        return other

    def widened(self, n_features: int) -> "StreamedData":
        """Return the same documents with more features, which no line has.

        Parameters
        ----------
        n_features : int
            The number of features; data that has as many is returned as it is.

        Returns
        -------
        StreamedData
        """
        if self.feature_names is not None or n_features <= self._n_features:
            return self
        other = copy(self)
        other._n_features = n_features
        fill_value = self._parts[0].fill_value
        other.sample = matrix_in_file(len(self.sample), n_features, self.sample.dtype)
        other.sample[:, : self._n_features] = self.sample
        other.sample[:, self._n_features :] = fill_value
        return other


def joined(sets: Sequence[Source]) -> StreamedData:
    """Return several sets with the same features, one of them in files, as one; queries are numbered."""
    parts: list[list[_Part]] = [
        data.built(lambda X: [_Matrix(X)], lambda files: files._parts) for data in sets
    ]
    streams = [data for data in sets if data.in_blocks]
    out: StreamedData = copy(streams[0])  # type: ignore[assignment]
    out._parts = list(itertools.chain(*parts))
    out.y = arguments.read_only(np.concatenate([data.y for data in sets]))
    sizes = np.concatenate([data.groups.sizes for data in sets])
    starts = np.cumsum([0, *map(len, sets)])
    rows = [data.groups.rows + start for data, start in zip(sets, starts, strict=False)]
    out.groups = Groups(
        np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(rows), np.arange(sizes.size)
    )
    return out


class _Files(NamedTuple):
    """Features that a reader reads."""

    reader: Reader
    record: PassRecord

    @property
    def fill_value(self) -> float:
        return self.reader.fill_value

    def blocks(self, width: int, names: list[str] | None) -> Iterator[np.ndarray]:
        pieces = self.record.compared(self.reader.pieces(width, names), names)
        yield from (block.X for block in whole_queries(pieces, self.fill_value))


class _Matrix(NamedTuple):
    """Features in memory, of a set that is joined with others."""

    X: Any
    fill_value: float = 0.0

    def blocks(self, width: int, names: list[str] | None) -> Iterator[np.ndarray]:
        for row in range(0, self.X.shape[0], _ROWS):
            yield dense(self.X[row : row + _ROWS])


_Part = _Files | _Matrix


class _Scan(NamedTuple):
    """What the first pass over the files finds."""

    y: np.ndarray
    groups: Groups
    width: int
    sample: np.ndarray
    digest: str
    record: PassRecord


def _scan(reader: Reader, sample: int, verbose: bool | None) -> _Scan:
    """Read the files once."""
    digest = hashlib.blake2b(digest_size=16)
    rows = RowSample(sample, reader.fill_value)
    labels, sizes, queries, width = [], [], _Queries([], [], []), 0
    record = PassRecord(reader)
    pieces = record.noted(reader.pieces(None, None, digest))
    blocks = whole_queries(pieces, reader.fill_value)
    for block in first_pass(blocks, len(reader.files), verbose):
        labels.append(block.y)
        sizes.append(np.diff(np.append(block.starts, block.y.size)))
        queries.add(block)
        rows.add(block.X)
        width = max(width, block.X.shape[1])
    if width == 0:
        raise checks.InputError(f"{reader.files[0].path} has no features, expected at least one.")
    digest.update(repr((reader.settings, sample)).encode())
    y = checks.labels(np.concatenate(labels))
    ids = queries.checked(reader)
    ptr = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    groups = Groups(ptr, np.arange(y.size), ids)
    return _Scan(y, groups, width, rows.rows(), digest.hexdigest(), record)


class _Queries(NamedTuple):
    """Ids and places of queries, by block."""

    ids: list[np.ndarray]
    file: list[np.ndarray]
    place: list[np.ndarray]

    def add(self, block: Block) -> None:
        """Add those of a block."""
        for own, column in zip(self, (block.qid, block.file, block.place), strict=True):
            own.append(column[block.starts])

    def checked(self, reader: Reader) -> np.ndarray:
        """Return all ids; raise if one comes back after another query."""
        ids = join_ids(self.ids)
        order = np.argsort(ids, kind="stable")
        again = np.flatnonzero(ids[order][1:] == ids[order][:-1])
        if again.size:
            pair = order[[again[0], again[0] + 1]]
            places = [
                f"{reader.files[np.concatenate(self.file)[q]].path}, {reader.place_name} "
                f"{np.concatenate(self.place)[q]}"
                for q in pair
            ]
            raise checks.InputError(
                f"query {ids[pair[0]]!s} begins at {places[0]}, and again at {places[1]}, after other queries: a "
                "stream needs the rows of a query one after the other; sort the files by query, or give different "
                "queries different ids."
            )
        return ids
