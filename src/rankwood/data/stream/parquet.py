"""Pieces of Parquet files."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwood._util.checks import InputError, nearest, numbers
from rankwood.data.groups import id_array
from rankwood.data.stream.blocks import Piece
from rankwood.data.stream.files import File
from rankwood.data.tables.frames import features

_ROWS = 1 << 14  # rows that are decoded at a time
_BUFFER = (
    1 << 16
)  # bytes of a column that are read at a time: a row group may be larger than memory


@dataclass(frozen=True)
class ParquetReader:
    """Reads Parquet files with a column of labels and a column of query ids; the others are features."""

    files: list[File]
    y: str
    qid: str

    #: The place of a row in a message.
    place_name: ClassVar[str] = "row"
    fill_value: ClassVar[float] = float("nan")

    @property
    def settings(self) -> tuple[Any, ...]:
        """The columns of labels and query ids, and those of features."""
        return (self.y, self.qid, self.names())

    def names(self) -> list[str]:
        """Return the names of the features; raise unless all files have the same columns."""
        first: list[str] = []
        for file in self.files:
            columns = list(_opened(file).schema_arrow.names)
            for name, role in ((self.y, "y"), (self.qid, "qid")):
                if name not in columns:
                    raise InputError(
                        f"{file.path} has no column {name!r}, which {role} names{nearest(name, columns)}"
                    )
            own = [name for name in columns if name not in (self.y, self.qid)]
            if not own:
                raise InputError(f"{file.path} has no features: its only columns are y and qid.")
            first = first or own
            other = sorted(set(first) ^ set(own))
            if other:
                where = self.files[0].path if other[0] in own else file.path
                raise InputError(
                    f"{where} has no column {other[0]!r}, and another of the files has it: give files of the same "
                    "columns."
                )
        return first

    def compared(self, names: list[str] | None) -> list[int]:
        """Return which checksums of pieces a pass with these features has: labels and ids come first."""
        known = self.names()
        return [0, *(1 + known.index(name) for name in names or known)]

    def pieces(
        self, width: int | None, names: list[str] | None = None, digest: Any = None
    ) -> Iterator[Piece]:
        """Yield the rows of all files, with the features `names`; `digest`, a hash, gets their values."""
        names = names or self.names()
        for file in self.files:
            file.check()
        real = _real(self.files, names)
        for number, file in enumerate(self.files):
            file.check()
            row = 0
            for batch in _batches(file, [*names, self.y, self.qid]):
                piece = self._piece(batch, names, real, file, number, row)
                row += piece.y.size
                if digest is not None:
                    for array in (piece.X, piece.y):
                        digest.update(np.ascontiguousarray(array).data)
                    digest.update(repr(piece.qid.tolist()).encode())
                if piece.y.size:
                    yield piece
            if row == 0:
                raise InputError(f"{file.path} holds no documents, expected at least one row.")
            file.check()

    def _piece(
        self, batch: Any, names: list[str], real: type, file: File, number: int, row: int
    ) -> Piece:
        """Return the rows of a batch; messages begin with the name of the file."""
        import pyarrow as pa

        table = pa.table(batch)
        try:
            X = _matrix(table, names, real)
            y = numbers(table[self.y].to_numpy(), f"column {self.y!r}", keep=(np.float64,))
            if np.isnan(y).any():
                raise InputError(f"column {self.y!r} must not be missing, and it is.")
            if (y < 0).any():
                raise InputError(f"column {self.y!r} must not be negative, got {y.min():g}.")
            qid = id_array(table[self.qid].to_numpy())
        except InputError as error:
            raise InputError(
                f"{file.path}, rows {row} to {row + len(table) - 1}: {error}"
            ) from None
        if qid.dtype.kind == "O" and all(isinstance(one, str) for one in qid.tolist()):
            qid = qid.astype(np.str_)
        place = np.arange(row, row + y.size)
        checksums = _checksums(X, y, qid)
        return Piece(X, y.astype(np.float64), qid, place, number, X.nbytes, checksums)


def _checksums(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Return a checksum of labels and ids, and one of each feature: a later pass may have some of them only."""
    head = zlib.crc32(repr(qid.tolist()).encode(), zlib.crc32(np.ascontiguousarray(y).data))
    return np.array(
        [head, *(zlib.crc32(column.data) for column in np.ascontiguousarray(X.T))], np.uint32
    )


def _matrix(table: Any, names: list[str], real: type) -> np.ndarray:
    """Return columns as a matrix."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    if {str(columns[name].type) for name in names} <= {
        "float",
        "double",
    }:  # nearly always, and many times as fast
        X: np.ndarray = np.empty((len(table), len(names)), real)
        for at, name in enumerate(names):
            X[:, at] = columns[name].to_numpy()
        return X
    found = features(table, only=names)
    if found.categories:
        raise InputError(
            f"column {next(iter(found.categories))!r} is categorical, and a stream can't number categories "
            "before it has seen all: store numbers, and name the column in categorical_feature."
        )
    return np.ascontiguousarray(found.X, dtype=real)


def _real(files: list[File], names: list[str]) -> type:
    """Return float32 if all features have it in all files, else float64, as for a table in memory."""
    types = set()
    for file in files:
        schema = _opened(file).schema_arrow
        if not set(names) <= set(schema.names):
            raise file.changed()
        types |= {str(schema.field(name).type) for name in names}
    return np.float32 if types == {"float"} else np.float64


def _batches(file: File, columns: list[str]) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from _opened(file).iter_batches(_ROWS, columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from None


def _opened(file: File) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(
            f"{file.path} is a Parquet file, which needs the package pyarrow: pip install 'rankwood[parquet]'."
        ) from None
    try:
        return pq.ParquetFile(file.path, memory_map=False, pre_buffer=False, buffer_size=_BUFFER)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: File, error: Exception) -> InputError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{file.path} can't be read as Parquet ({first}): write or copy it again.")
