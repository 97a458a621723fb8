"""Tiles: the values of some documents, feature by feature, as float64.

Everything about values is done tile by tile. A tile is small enough for a processor's second-level cache, and only the
loop that fills it depends on the type and the layout of the matrix.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import jit, uncounted
from rankwood._kernels.numeric.plain import bits_of, smaller
from rankwood._kernels.pointers import MemoryLayout

#: Documents of a tile, and of a feature's place in it: not a power of two, or all features would share cache sets.
ROWS = 512
STRIDE = ROWS + 8
_TOGETHER = 8  # rows that are read at once: they fill a cache line of a tile

SCAN = MemoryLayout(
    "scan",
    arrays={
        "tile": np.float64,
        "hashes": np.uint64,  # of the documents of the tile
        "missing": np.uint8,  # by feature: whether a value is missing
        "varies": np.uint8,  # by feature: whether it varies inside a query
        "continues": np.uint8,  # by document of the tile: 1 if it has the query of the document before it
    },
    integers=("size", "n_features"),
)
_open = SCAN.opened
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class MatrixPart(NamedTuple):
    """Documents `begin` to `begin + size` of a matrix, and features `first` to `end` of them."""

    begin: int
    size: int
    first: int
    end: int


@jit
def copy_part(X, rows, part, out):
    """Write a part of a matrix, feature by feature; `rows` has the rows of documents, unless they are in order."""
    for low in range(0, part.size, _TOGETHER):
        high = smaller(low + _TOGETHER, part.size)
        for f in range(part.first, part.end):
            for i in range(low, high):
                row = rows[part.begin + i] if rows.size else part.begin + i
                out[f - part.first, i] = X[row, f]


@jit
def scan_tile(table):
    """Note which features have missing values and which vary inside a query; hash each document."""
    scan = _open(table)
    for i in range(scan.size):
        scan.hashes[i] = np.uint64(0)
    for f in range(scan.n_features):
        values, missing = f * STRIDE, np.uint8(0)
        for i in range(scan.size):
            x = scan.tile[values + i]
            missing |= np.uint8(x != x)
            # A product keeps all bits of a document in play; its upper half is what counts.
            scan.hashes[i] = (scan.hashes[i] ^ np.uint64(bits_of(x))) * _FACTOR
        scan.missing[f] |= missing
        if not scan.varies[f]:
            scan.varies[f] = _varies(scan, values)


@uncounted
def _varies(scan, values):
    """Return 1 if a document has another value than the one before it, of the same query."""
    varies = np.uint8(0)
    for i in range(1, scan.size):
        other = bits_of(scan.tile[values + i]) != bits_of(scan.tile[values + i - 1])
        varies |= np.uint8(other) & scan.continues[i]
    return varies
