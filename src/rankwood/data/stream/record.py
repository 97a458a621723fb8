"""What the first pass over files has read, so that a later one notices files that were replaced."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from rankwood.data.stream.blocks import Piece
from rankwood.data.stream.files import File


class _Reader(Protocol):
    @property
    def files(self) -> list[File]:
        """The files, in order."""

    def compared(self, names: list[str] | None) -> Any:
        """Return which checksums of pieces a pass with these features has, as an index."""


class PassRecord:
    """Rows and checksums of the pieces of a pass.

    Size and time of a file don't tell: `cp -p`, `rsync` and archives restore both.

    Parameters
    ----------
    reader : Reader
        Reads the files.
    """

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._rows: list[int] = []
        self._checksums: list[np.ndarray] = []
        self._files: list[int] = []

    def noted(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield the pieces of the first pass, and note them."""
        for piece in pieces:
            self._rows.append(piece.y.size)
            self._checksums.append(piece.checksums)
            self._files.append(piece.file)
            yield piece

    def compared(self, pieces: Iterable[Piece], names: list[str] | None) -> Iterator[Piece]:
        """Yield the pieces of a later pass; raise if one isn't what it was, before it is used."""
        used, done = self._reader.compared(names), 0
        for piece in pieces:
            if not self._same(piece, done, used):
                raise self._reader.files[piece.file].changed()
            yield piece
            done += 1
        if done < len(self._rows):
            raise self._reader.files[self._files[done]].changed()

    def _same(self, piece: Piece, number: int, used: Any) -> bool:
        return (
            number < len(self._rows)
            and piece.y.size == self._rows[number]
            and np.array_equal(piece.checksums, self._checksums[number][used])
        )
