"""Pieces of LETOR files, parsed by several threads and returned in order."""

import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankwood._kernels.threads import threads
from rankwood._util.checks import InputError
from rankwood.data.letor.blocks import BlockInfo, BlockReader, opened
from rankwood.data.letor.memory_budget import MemoryBudget
from rankwood.data.letor.options import LetorOptions
from rankwood.data.letor.read import MAX_THREADS, Parser, ParseScratch, TextBlock
from rankwood.data.stream.blocks import Piece
from rankwood.data.stream.files import File


@dataclass(frozen=True)
class LetorReader:
    """Reads LETOR files; `width` is the number of features, None while it isn't known."""

    files: list[File]
    options: LetorOptions
    n_jobs: int | None

    #: The place of a row in a message.
    place_name: ClassVar[str] = "line"

    @property
    def fill_value(self) -> float:
        """The value of features that a line omits."""
        return self.options.fill_value

    @property
    def settings(self) -> tuple[Any, ...]:
        """How the text is read."""
        return tuple(self.options)

    def names(self) -> None:
        """Features of LETOR files have no names."""
        return None

    def compared(self, names: list[str] | None) -> slice:
        """Return which checksums of pieces a pass has: that of the text."""
        return slice(None)

    def pieces(
        self, width: int | None, names: list[str] | None = None, digest: Any = None
    ) -> Iterator[Piece]:
        """Yield the rows of all files; `digest`, a hash, gets their text."""
        options = self.options if width is None else self.options._replace(n_features=width)
        for number, file in enumerate(self.files):
            file.check()
            rows = 0
            for piece in _pieces(file.path, number, options, self.n_jobs, digest):
                rows += piece.y.size
                if piece.y.size:
                    yield piece
            if rows == 0:
                raise InputError(
                    f"{file.path} holds no documents, expected lines such as '0 qid:1 1:0.5'."
                )
            file.check()


class _BlockBudget(MemoryBudget):
    """Memory of single blocks: earlier rows are gone, and later ones come when these are."""

    def foresee(self, rows: float) -> None:
        """Expect nothing."""

    def add_rows(self, count: int) -> None:
        """Count nothing."""


class _Slot(NamedTuple):
    """Memory for one block of text."""

    buf: bytearray
    scratch: ParseScratch


def _pieces(
    path: str, number: int, options: LetorOptions, n_jobs: int | None, digest: Any
) -> Iterator[Piece]:
    """Yield the rows of one file: some blocks are parsed ahead."""
    n_threads = min(threads(n_jobs), MAX_THREADS)
    with opened(path) as blocks, ThreadPoolExecutor(n_threads) as pool:
        parser = _parser(blocks, options, n_threads)
        free = [_Slot(bytearray(), ParseScratch()) for _ in range(n_threads + 1)]
        pending: deque[tuple[_Slot, Future[Piece]]] = deque()
        while free or pending:
            while free:
                slot = free.pop()
                block = blocks.fill(slot.buf)
                if block is None:
                    continue
                if digest is not None:
                    digest.update(memoryview(slot.buf)[: block.size])
                pending.append((slot, pool.submit(_parse, parser, block, slot, number)))
            if pending:
                slot, done = pending.popleft()
                piece = done.result()
                del done
                free.append(slot)
                yield piece
        if blocks.errors:
            raise blocks.errors[min(blocks.errors)]


def _parser(blocks: BlockReader, options: LetorOptions, n_threads: int) -> Parser:
    parser = Parser(blocks, options, n_threads)
    parser.budget = _BlockBudget(blocks.path, options.n_features, n_threads)
    return parser


def _parse(parser: Parser, block: BlockInfo, slot: _Slot, number: int) -> Piece:
    """Parse one block."""
    text = TextBlock(block, np.frombuffer(slot.buf, np.uint8))
    part = parser.parse(text, slot.scratch)
    place = _lines(text, part.y.size)
    checksum = zlib.crc32(memoryview(slot.buf)[: block.size])
    return Piece(
        part.X, part.y, part.qid, place, number, block.size, np.array([checksum], np.uint32)
    )


def _lines(text: TextBlock, rows: int) -> np.ndarray:
    """Return the numbers of the lines that are documents."""
    block = text.block
    if rows == block.lines:
        return block.line + np.arange(rows)
    lines = text.buf[: block.size].tobytes().split(b"\n")
    used = [
        i for i, line in enumerate(lines) if not line.strip().startswith((b"#",)) and line.strip()
    ]
    return block.line + np.array(used[:rows], np.int64)
