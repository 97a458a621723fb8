"""The memory that the matrix of a LETOR file needs: estimated from the file, then counted while it is read."""

import os
import threading
from stat import S_ISREG

from rankwood._util.checks import InputError
from rankwood._util.memory import available
from rankwood.data.letor.blocks import BlockInfo, BlockReader

_SHARE = 0.8  # of the free memory that reading may use
_SURE = 0.9  # of an estimate, so that a file is refused only if it certainly doesn't fit
_PLACES = 16  # places of a file at which lines are counted, besides the first block
_SIZE = 1 << 16  # bytes that are read at each


class MemoryBudget:
    """The shape of the matrix so far, and whether it fits in memory; all threads share it.

    `widest_line` is the line with the largest feature index, 0 if the caller gave the number of features.
    """

    def __init__(self, path: str, n_features: int | None, threads: int):
        self.path, self.threads = path, threads
        self.fixed_width = n_features is not None
        self.width = n_features or 0
        self.widest_line = 0
        self.rows = 0
        self._largest_block = 0  # in lines
        self._size = 0.0  # bytes that are needed, a lower bound
        self._free = available()
        self._limit = _SHARE * self._free
        self._lock = threading.Lock()

    def widen(self, width: int, line: int) -> None:
        """Make room for a feature index found in `line`."""
        with self._lock:
            if width > self.width:
                self.width, self.widest_line = width, line

    def check_estimate(self, rows: float) -> None:
        """Raise, before the rest is read, if `rows` rows of the width so far certainly don't fit in memory."""
        size = 4.0 * rows * self.width
        if _SURE * size > self._free:
            raise InputError(
                f"{self.path} doesn't fit in memory: it has about {rows:,.0f} documents of {self.width} features, a "
                f"matrix of {size / 2**30:.1f} GiB, and {self._free / 2**30:.1f} GiB are free; train without loading "
                f"it, with Ranker.fit([path], stream=True) or 'rankwood train --stream', or give more memory."
            )

    def add_rows(self, count: int) -> None:
        """Count the rows of a block that is parsed."""
        with self._lock:
            self.rows += count
        self.check(0, self.width)

    def check(self, lines: int, width: int) -> None:
        """Raise if the matrix, with `lines` rows more than there are now, would not fit in memory."""
        with self._lock:
            self._largest_block = max(self._largest_block, lines)
            rows = self.rows + lines
            # When blocks are joined, each thread holds one that is in the matrix already.
            copied = min(rows, self.threads * self._largest_block)
            size = 4.0 * width * (rows + copied + self.threads)  # each thread has a `last_row`
            self._size = max(self._size, size)
        if size > self._limit:
            limit = f"{self._limit / 2**30:.1f} GiB"
            raise self._error(size, f"expected at most {limit}, most of the memory that is free")

    def refused(self) -> InputError:
        """Return the error for memory that the system doesn't grant."""
        return self._error(self._size, "which the system doesn't grant")

    def _error(self, size: float, expected: str) -> InputError:
        need = (
            f"reading a dense matrix of that width takes about {size / 2**30:.1f} GiB, {expected}"
        )
        instead = "or train without loading it, with Ranker.fit([path], stream=True)"
        if self.fixed_width:
            return InputError(
                f"{self.path} can't be read with n_features={self.width}: {need}; give a smaller "
                f"n_features, or more memory, {instead}."
            )
        if not self.widest_line:
            return InputError(
                f"{self.path} can't be read: there is no memory for a block of its lines, expected some "
                "MiB; close other programs."
            )
        return InputError(
            f"{self.path}, line {self.widest_line}: the largest feature index is {self.width} and {need}; "
            f"correct the index, or give more memory, {instead}."
        )


def estimated_lines(blocks: BlockReader, first: BlockInfo) -> float:
    """Estimate the number of lines of a file (a lower bound for gzip); 0 if unknown, e.g. for a pipe.

    The text of a compressed file is at least as long as the file.
    """
    number = blocks.file.fileno()
    status = os.fstat(number)
    if not S_ISREG(status.st_mode) or not first.lines:
        return 0.0
    size, lines = first.size, first.lines
    if not blocks.packed and hasattr(os, "pread"):  # which leaves the reader's position unchanged
        for place in range(_PLACES):
            text = os.pread(number, _SIZE, status.st_size * place // _PLACES)
            size, lines = size + len(text), lines + text.count(b"\n")
    return status.st_size / (size / lines)
