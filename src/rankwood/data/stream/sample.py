"""A random sample of rows that go by once, for the bins of all of them."""

import mmap
import os
import tempfile

import numpy as np

from rankwood._kernels.numeric.rng import generator
from rankwood._util.checks import InputError

#: Rows that decide the bins, as many as LightGBM draws itself.
SAMPLE = 200_000

_ROWS = 1 << 14  # rows that are copied at a time


class RowSample:
    """At most `size` of the rows: all of them, in order, if there are no more.

    Each row draws a number, and the rows with the smallest stay, so that the sample doesn't depend on blocks. The rows
    are kept in a temporary file, so that they take no memory while they aren't used.

    Parameters
    ----------
    size : int
        The most rows.
    fill_value : float
        The value of features that earlier blocks lack.
    """

    def __init__(self, size: int, fill_value: float = 0.0) -> None:
        self._size, self._fill_value = size, fill_value
        self._random = generator(0)
        self._X = np.empty((0, 0), np.float32)
        self._number = np.empty(0)
        self._used = 0

    def add(self, X: np.ndarray) -> None:
        """Look at the next rows."""
        if self._size == 0:
            return
        number: np.ndarray = self._random.random(X.shape[0])  # type: ignore[assignment]
        free = min(self._size - self._used, X.shape[0])
        self._make_room(self._used + free, X)
        self._X[self._used : self._used + free, : X.shape[1]] = X[:free]
        self._number[self._used : self._used + free] = number[:free]
        self._used += free
        if free < X.shape[0]:
            self._replace(X[free:], number[free:])
        put_aside(self._X)

    def rows(self) -> np.ndarray:
        """Return the sample."""
        return self._X[: self._used]

    def _replace(self, X: np.ndarray, number: np.ndarray) -> None:
        """Write new rows in the places of those that leave."""
        near = np.flatnonzero(number < self._number.max())
        order = np.argsort(np.concatenate([self._number, number[near]]), kind="stable")
        stay, leave = order[: self._size], np.sort(order[self._size :])
        new = near[np.sort(stay[stay >= self._size]) - self._size]
        old = leave[leave < self._size]  # as many as are new
        self._X[old, : X.shape[1]] = X[new]
        self._number[old] = number[new]

    def _make_room(self, rows: int, X: np.ndarray) -> None:
        """Grow to a number of rows, and to the width and the type of X."""
        capacity, width = self._X.shape
        if rows <= capacity and X.shape[1] <= width:
            return
        more = capacity if rows <= capacity else min(self._size, max(rows, 2 * capacity))
        wide = matrix_in_file(more, max(width, X.shape[1]), X.dtype)
        for row in range(0, self._used, _ROWS):
            end = min(row + _ROWS, self._used)
            wide[row:end, :width] = self._X[row:end]
            wide[row:end, width:] = self._fill_value
            put_aside(wide)
            put_aside(self._X)
        wide[self._used :] = self._fill_value
        self._X = wide
        self._number.resize(more, refcheck=False)


def matrix_in_file(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Return a matrix in a temporary file without a name: the system removes it when the matrix is gone."""
    size = rows * columns * dtype.itemsize
    if size == 0:
        return np.empty((rows, columns), dtype)
    try:
        with tempfile.TemporaryFile(prefix="rankwood-") as file:
            _fill(file.fileno(), size)
            mapped = mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise InputError(
            f"the sample of rows for the bins needs {size / 2**20:.0f} MiB in the temporary folder "
            f"({error.strerror or error}): make room, set TMPDIR to a folder with more, or give a smaller sample to "
            "stream_files."
        ) from None
    return np.frombuffer(mapped, dtype).reshape(rows, columns)


def _fill(number: int, size: int) -> None:
    """Take the space of a file now: to write to a mapped file when the disk is full would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(number, 0, size)
    else:
        os.ftruncate(number, size)


def put_aside(matrix: np.ndarray) -> None:
    """Leave a matrix in its file: its pages take no memory of this process until they are read again."""
    base = matrix
    while isinstance(base, np.ndarray):
        base = base.base  # type: ignore[assignment]
    mapped = base.obj if isinstance(base, memoryview) else base
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        mapped.madvise(mmap.MADV_DONTNEED)
