"""The lines of a file, plain or gzip, in blocks that several threads read in turn."""

import contextlib
import gzip
import os
import threading
from collections.abc import Iterator
from stat import S_ISREG
from typing import BinaryIO, NamedTuple

from rankwood._util.checks import InputError
from rankwood._util.file_errors import GZIP, PARQUET, READ_ERRORS, unreadable

BLOCK = (
    2 << 20
)  # bytes: large enough that calls cost little, small enough for the processor's cache
LONGEST_LINE = 256 << 20  # bytes: a line with more is not one of a matrix that fits in memory
_BOM = b"\xef\xbb\xbf"


class BlockInfo(NamedTuple):
    """Whole lines in a buffer."""

    number: int  # which block of the file it is
    line: int  # the number of its first line
    size: int  # in bytes
    lines: int


class BlockReader:
    """Reads a file block by block for several threads, and collects the errors they find."""

    def __init__(self, file: BinaryIO, path: str, packed: bool = False):
        self.file, self.path, self.packed = file, path, packed
        self.lock = threading.Lock()
        self.tail = b""
        self.number, self.line = 0, 1
        self.done = False
        self.errors: dict[int, InputError] = {}

    def fill(self, buf: bytearray) -> BlockInfo | None:
        """Read the next block into `buf`, which grows if a line needs it; None at the end."""
        with self.lock:
            if self.done:
                return None
            try:
                size = self._read(buf)
            except InputError as error:
                self.fail(self.number, error)
                return None
            block = BlockInfo(self.number, self.line, size, buf.count(b"\n", 0, size))
            self.number += 1
            self.line += block.lines
            return block if size else None

    def estimated_count(self) -> int:
        """Return the approximate number of blocks; compressed text may have more."""
        return 1 + os.fstat(self.file.fileno()).st_size // BLOCK

    def fail(self, number: int, error: InputError) -> None:
        """Record the error of a block, and start no further ones."""
        self.errors[number] = error
        self.done = True

    def _read(self, buf: bytearray) -> int:
        """Read whole lines; where a block ends depends on the text alone."""
        size = len(self.tail)
        limit = BLOCK
        buf[:size] = self.tail
        stop = 0
        while stop == 0 and not self.done:
            while limit <= size:
                limit *= 2
            if len(buf) <= limit:
                buf.extend(bytes(limit + 1 - len(buf)))
            old, size = size, self._more(buf, size, limit)
            self._check(buf, old, size)
            if size == limit:
                stop = buf.rfind(b"\n", 0, size) + 1
                continue
            self.done = True
            if size and buf[size - 1] != 10:
                buf[size] = 10
                size += 1
            stop = size
        self.tail = bytes(buf[stop:size])
        if self.number == 0 and buf.startswith(_BOM):
            buf[:3] = b"   "
        return stop

    def _check(self, buf: bytearray, old: int, size: int) -> None:
        """Raise, before more is read, if there is a zero byte, or a line so long that it is hardly text."""
        zero = buf.find(0, old, size)
        if zero >= 0:
            line = self.line + buf.count(b"\n", 0, zero)
            raise InputError(
                f"{self.path}, line {line}: there is a zero byte, so this looks like a binary "
                "file, expected LETOR text, plain or compressed with gzip."
            )
        if size >= LONGEST_LINE and buf.find(b"\n", 0, size) < 0:
            raise InputError(
                f"{self.path}, line {self.line}: the line has no end within {LONGEST_LINE >> 20} MiB, expected "
                "LETOR text with one document a line."
            )

    def _more(self, buf: bytearray, size: int, limit: int) -> int:
        with memoryview(buf) as view:
            try:
                while size < limit:
                    with view[size:limit] as rest:
                        got = self.file.readinto(rest)  # type: ignore[attr-defined]
                    if not got:
                        break
                    size += got
            except READ_ERRORS as error:
                raise unreadable(self.path, error) from None
        return size


@contextlib.contextmanager
def opened(path: str) -> Iterator[BlockReader]:
    """Open a file for reading in blocks; raise at the end if it has changed meanwhile."""
    try:
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, expected a LETOR file.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, expected a LETOR file.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    with file:
        stat = os.fstat(file.fileno())
        start = file.peek(len(PARQUET))
        if start.startswith(PARQUET):
            raise InputError(
                f"{path} is a Parquet file, expected LETOR text: train on it with fit(files, y=COLUMN, qid=COLUMN, "
                "stream=True) or 'rankwood train --stream --y COLUMN --qid COLUMN', and read it with stream_files."
            )
        packed = start.startswith(GZIP)
        source: BinaryIO = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]
        yield BlockReader(source, path, packed)
        # The time of a pipe changes whenever something is written into it.
        at_rest = not S_ISREG(stat.st_mode) or stamp(os.fstat(file.fileno())) == stamp(stat)
        if not at_rest:
            raise InputError(
                f"{path} was changed while it was read, expected a file at rest: load it again."
            )


class Stamp(NamedTuple):
    """What identifies a version of a file; `cp -p` can restore `mtime_ns`, but not `ctime_ns`."""

    size: int
    mtime_ns: int
    ctime_ns: int


def stamp(stat: os.stat_result) -> Stamp:
    """Return the size of a file, and the times of the last change of its content and of anything else."""
    return Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
