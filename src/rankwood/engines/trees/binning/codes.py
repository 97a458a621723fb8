"""Codes of documents: the bin of each value, joined by column, and written by word and by line.

The code of a value is the number of bounds below it. Equal cells between the first and the last bound tell most of it:
a table has the number of bounds in earlier cells, and a few steps of a search tell the rest. Products and differences
of floats are monotone, so a bound in an earlier cell is below the value.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import jit, uncounted, uncounted_inline
from rankwood._kernels.numeric.plain import larger, smaller
from rankwood._kernels.pointers import MemoryLayout, behind
from rankwood.engines.trees.binning.bins import FeatureBins
from rankwood.engines.trees.binning.tiles import STRIDE
from rankwood.engines.trees.growth.records import COLUMN, FEATURE, LANES, LINE, WORDS

CELLS = 4096
#: Bounds of a feature, filled up with infinity, so that a search may look beyond the last one.
PADDED = 272
_STEPS = 8  # of a search among all bounds
_FEWEST_STEPS = 4  # with more of them, cells gain nothing
_U = np.uint64
_1 = _U(1)

#: How values of a feature become codes: what cells are counted from and their scale, steps of the search, and the code
#: of missing values.
CODING = np.dtype(
    [("low", np.float64), ("scale", np.float64), ("steps", np.int64), ("missing", np.int64)]
)

CODES = MemoryLayout(
    "codes",
    arrays={
        "tile": np.float64,
        "bounds": np.float64,  # [feature]
        "cells": np.uint8,  # [feature]
        "codings": CODING,
        "columns": COLUMN,
        "listed": np.int64,
        "features": FEATURE,
        "bytes": np.uint8,  # [document of the tile, column of a line]: room
        "words": np.uint64,
        "lines": np.uint64,
    },
    integers=(
        *("first_column", "n_columns", "n_rows"),
        *("begin", "size"),  # documents of the tile
        "with_words",
    ),
)
_open = CODES.opened


class CodingTables(NamedTuple):
    """How values become codes, by feature."""

    bounds: np.ndarray
    cells: np.ndarray
    codings: np.ndarray


def coding_tables(bins: Sequence[FeatureBins]) -> CodingTables:
    """Return the tables of all features."""
    bounds = np.full((len(bins), PADDED), np.inf)
    cells = np.zeros((len(bins), CELLS), np.uint8)
    codings = np.zeros(len(bins), CODING)
    for f, feature in enumerate(bins):
        own = feature.code_bounds()
        bounds[f, : own.size] = own
        prepare_cells(bounds[f], own.size, cells[f], codings[f : f + 1])
        codings[f]["missing"] = feature.missing_code()
    return CodingTables(bounds, cells, codings)


@jit
def prepare_cells(bounds, size, cells, coding):
    """Write the table of cells of a feature with so many bounds, and how many steps a search takes after it."""
    record = coding[0]
    record.low, record.scale, record.steps = 0.0, 0.0, _STEPS
    if size < 2:
        return
    span = bounds[size - 1] - bounds[0]
    if not (1e-300 < span < 1e300):
        return
    record.low, record.scale = bounds[0], (CELLS - 2) / span
    most, k = 0, 0
    for cell in range(CELLS):
        cells[cell] = k
        first = k
        while k < size and _cell_of(bounds[k], record.low, record.scale) == _U(cell):
            k += 1
        most = larger(most, k - first)
    steps = 0
    while (1 << steps) - 1 < most:
        steps += 1
    if steps <= _FEWEST_STEPS:
        record.steps = steps


@uncounted_inline
def _cell_of(x, low, scale):
    """Return the cell of a value; missing values have the first one."""
    place = (x - low) * scale
    return _U(smaller(larger(place, 0.0), CELLS - 1.0))


@jit
def write_codes(table):
    """Write the codes of a tile."""
    task = _open(table)
    for first in range(0, task.n_columns, LINE):
        end = smaller(first + LINE, task.n_columns)
        for c in range(first, end):
            _write_column(task, task.first_column + c, c - first)
        _write_line(task, first // LINE, end - first)
        if task.with_words:
            for word in range(first // LANES, (end + LANES - 1) // LANES):
                _write_word(task, word)


@uncounted
def _write_column(task, c, place):
    """Write the codes of a column to its place in the bytes of a line."""
    column = task.columns[c]
    out = behind(task.bytes, place)
    for i in range(_U(task.size)):
        out[i * _U(LINE)] = 0
    for k in range(column.first, column.first + column.features):
        number = task.listed[k]
        values, bounds = behind(task.tile, number * STRIDE), behind(task.bounds, number * PADDED)
        _add_codes(task, number, values, bounds, out)
    if column.aliases:
        # Documents of a frequent code take turns among the code and its aliases.
        for i in range(task.size):
            turn = (task.begin + i) & 7
            if out[i * LINE] == column.alias_of and turn < column.aliases:
                out[i * LINE] = column.codes + turn


@uncounted
def _add_codes(task, number, values, bounds, out):
    """Add the codes of a feature, times its divisor, to those of its column."""
    coding, divisor = task.codings[number], np.uint8(task.features[number].divisor)
    cells, low, scale = behind(task.cells, number * CELLS), coding.low, coding.scale
    missing, half = _U(coding.missing), _1 << _U(coding.steps) >> _1
    if coding.steps == _STEPS:  # cells are of no use
        scale = 0.0
    for i in range(_U(task.size)):
        x, k = values[i], _U(0)
        if scale != 0.0:
            k = _U(cells[_cell_of(x, low, scale)])
        step = half
        while step > _U(0):
            k += step if bounds[k + step - _1] < x else _U(0)
            step >>= _1
        code = k if x == x else missing
        out[i * _U(LINE)] += np.uint8(code) * divisor


@uncounted
def _write_line(task, line, columns):
    """Write the bytes of a line, in which places without a column are 0."""
    words = (columns + LANES - 1) // LANES
    out = behind(task.lines, (line * task.n_rows + task.begin) * WORDS)
    for i in range(task.size):
        for w in range(words):
            out[i * WORDS + w] = _word(task.bytes, i * LINE + w * LANES)


@uncounted_inline
def _word(bytes, at):
    """Return eight bytes as one word, the first of them lowest."""
    word = _U(0)
    for lane in range(LANES):
        word |= _U(bytes[at + lane]) << _U(LANES * lane)
    return word


@uncounted
def _write_word(task, word):
    """Write one word of all documents of the tile."""
    out, place = behind(task.words, word * task.n_rows + task.begin), word % WORDS * LANES
    for i in range(task.size):
        out[i] = _word(task.bytes, i * LINE + place)
