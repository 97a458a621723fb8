"""Columns in the memory of a team: a layout says where they are, and `team_columns` makes it a record of arrays."""

from collections import namedtuple
from typing import Any

import numpy as np

#: Columns of the kernel's precision, of indices, and of words to sort by; `at` counts the float32 columns before them.
RealColumn = namedtuple("RealColumn", "at")
IndexColumn = namedtuple("IndexColumn", "at")
WordColumn = namedtuple("WordColumn", "at")
LongWordColumn = namedtuple("LongWordColumn", "at")
#: A table of so many rows, each as long as a column.
RowsColumn = namedtuple("RowsColumn", "at rows")
#: One number of each thread's own: an array of one.
PrivateNumber = namedtuple("PrivateNumber", "at")

DTYPES: dict[type, Any] = {
    RealColumn: np.float32,
    IndexColumn: np.int32,
    WordColumn: np.uint32,
    LongWordColumn: np.uint64,
    RowsColumn: np.float32,
    PrivateNumber: np.float32,
}


def team_columns(layout: Any, memory: Any, stride: Any, n: Any) -> Any:
    """Return a layout as a record of columns of n numbers in `memory`, which lie `stride` numbers apart."""
    kind = type(layout)
    if kind not in DTYPES:
        if not isinstance(layout, tuple):
            return layout
        items = [team_columns(x, memory, stride, n) for x in layout]
        return kind(*items) if hasattr(layout, "_fields") else tuple(items)
    if kind is PrivateNumber:
        return np.empty(1, np.float32)
    start, dtype = layout.at * stride, np.dtype(DTYPES[kind])
    rows = layout.rows if kind is RowsColumn else 1
    words = memory[start : start + rows * stride * dtype.itemsize // 4].view(dtype)
    return words.reshape(rows, stride)[:, :n] if kind is RowsColumn else words[:n]
