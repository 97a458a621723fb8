"""Codes of documents: the bin of each value, joined by column, and written by column and by line.

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
from rankwood.engines.trees.growth.records import COLUMN, FEATURE, LANES, LINE, line_shift

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
        "room": np.uint8,  # [column of a line, document of the tile]
        "codes": np.uint8,  # [column, document]
        "lines": np.uint64,  # [line, document, word]
    },
    integers=(
        *("first_column", "n_columns", "n_rows"),
        *("begin", "size"),  # documents of the tile
        "with_codes",  # 1 if codes are written by column too
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
            out = behind(task.room, (c - first) * STRIDE)
            _write_column(task, task.first_column + c, out)
            if task.with_codes:
                codes = behind(task.codes, c * task.n_rows + task.begin)
                for i in range(_U(task.size)):
                    codes[i] = out[i]
        _write_line(task, first // LANES, (end - first) // LANES)


@uncounted
def _write_column(task, c, out):
    """Write the codes of a column."""
    column = task.columns[c]
    for i in range(_U(task.size)):
        out[i] = np.uint8(0)
    for k in range(column.first, column.first + column.features):
        number = task.listed[k]
        values, bounds = behind(task.tile, number * STRIDE), behind(task.bounds, number * PADDED)
        _add_codes(task, number, values, bounds, out)
    if column.aliases:
        # Documents of a frequent code take turns among the code and its aliases.
        for i in range(task.size):
            turn = (task.begin + i) & 7
            if out[i] == column.alias_of and turn < column.aliases:
                out[i] = column.codes + turn


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
        out[i] += np.uint8(code) * divisor


@uncounted
def _write_line(task, first, words):
    """Write a line, whose first word has the number `first`; its words are those of the room."""
    shift = line_shift(task.n_columns // LANES, first)
    out = behind(task.lines, first * task.n_rows + (task.begin << shift))
    for w in range(words):
        lanes = behind(task.room, w * LANES * STRIDE)
        for i in range(_U(task.size)):
            out[(i << _U(shift)) + _U(w)] = _word(lanes, i)


@uncounted_inline
def _word(lanes, i):
    """Return the codes of a document in eight columns as one word, the first of them lowest."""
    word = _U(0)
    for lane in range(LANES):
        word |= _U(lanes[_U(lane * STRIDE) + i]) << _U(LANES * lane)
    return word
