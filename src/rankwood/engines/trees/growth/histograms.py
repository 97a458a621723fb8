"""Histograms of a node: sums of gradients and Hessians by code, for each column.

Gradient and Hessian of a document are one number of 64 bits, the gradient in the upper half. An update of a histogram
is one addition in the first-level cache. Halves hold sums of as many rows as `JOB.flush_rows` says; then these *packed*
sums are flushed to *wide* ones, two numbers of 64 bits. A node of at most so many rows stays packed. All sums are
integers: exact, in any order.

Histograms and the memory of each thread are places in one array of integers, `sums`, so that one compiled function adds
to either of them.
"""

from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import uncounted, uncounted_inline
from rankwood._kernels.numeric.intrinsics import prefetch, prefetch_later
from rankwood._kernels.numeric.plain import larger, smaller
from rankwood.engines.trees.growth.records import CODES, LANES, WORDS

_U = np.uint64
# Kernels index by unsigned numbers, whose arithmetic must be all unsigned (numba-notes: unsigned indices).
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (_U(i) for i in range(9))
_CODES = _U(CODES)
_BYTE = _U(255)
_HALF = 32
#: Packed sums of the eight columns of a word, one column after the other.
WORD_SUMS = LANES * CODES
_WORD_SUMS = _U(WORD_SUMS)
_TILE = _U(1024)  # rows whose words are copied at once
_AHEAD = _U(32)  # rows that are prefetched before they are needed
#: Of a word in a tile: not a power of two, or all words would share a set of the first-level cache.
_STRIDE = _TILE + _8
# A thread's room: packed sums of the words of a line, a tile, and the packed numbers of the rows of the tile.
_TILE_AT = _U(WORDS * WORD_SUMS)
_NUMBERS_AT = _TILE_AT + _8 * _STRIDE
HISTOGRAM_ROOM = int(_NUMBERS_AT + _STRIDE)


class InOrder(NamedTuple):
    """All rows in order: their packed gradients and Hessians, and the codes of four columns, `stride` apart."""

    numbers: np.ndarray
    codes: np.ndarray
    stride: Any


class Gathered(NamedTuple):
    """Rows in any order: their numbers, their packed gradients and Hessians, and lines of `2 ** shift` words by row."""

    rows: np.ndarray
    numbers: np.ndarray
    lines: np.ndarray
    shift: Any


class WordRange(NamedTuple):
    """Words `first` to `end` of a line."""

    first: Any
    end: Any


class SumTarget(NamedTuple):
    """Where packed sums are added up: from `at` on; and the room of the thread."""

    sums: np.ndarray
    at: Any
    room: Any


@uncounted
def hessian_half(packed: Any) -> Any:
    """Return the Hessian of a packed number."""
    return np.int64(np.int32(packed))


@uncounted
def gradient_half(packed: Any) -> Any:
    """Return the gradient of a packed number."""
    return (packed - np.int64(np.int32(packed))) >> _HALF


@uncounted_inline
def _add_to_lanes(word, number, sums, at):
    """Add a row's packed number to its code in eight columns, which lie one after the other from `at` on."""
    sums[at + (word & _BYTE)] += number
    sums[at + _U(CODES) + ((word >> _U(8)) & _BYTE)] += number
    sums[at + _U(2 * CODES) + ((word >> _U(16)) & _BYTE)] += number
    sums[at + _U(3 * CODES) + ((word >> _U(24)) & _BYTE)] += number
    sums[at + _U(4 * CODES) + ((word >> _U(32)) & _BYTE)] += number
    sums[at + _U(5 * CODES) + ((word >> _U(40)) & _BYTE)] += number
    sums[at + _U(6 * CODES) + ((word >> _U(48)) & _BYTE)] += number
    sums[at + _U(7 * CODES) + (word >> _U(56))] += number


@uncounted
def add_in_order(source, begin, end, target):
    """Add rows `begin` to `end` of four columns to packed sums."""
    numbers, codes, sums, at = source.numbers, source.codes, target.sums, target.at
    one, two, three = source.stride, _2 * source.stride, _3 * source.stride
    for i in range(_U(begin), _U(end)):
        number = numbers[i]
        sums[at + _U(codes[i])] += number
        sums[at + _U(CODES) + _U(codes[i + one])] += number
        sums[at + _U(2 * CODES) + _U(codes[i + two])] += number
        sums[at + _U(3 * CODES) + _U(codes[i + three])] += number


@uncounted
def add_half_word(source, word, shift, begin, end, target):
    """Add rows number `begin` to `end` of `source` to packed sums of four columns, from bit `shift` of a word on."""
    begin, end, sums, at = _U(begin), _U(end), target.sums, target.at
    numbers, lines, rows = source.numbers, source.lines, source.rows
    for k in range(begin, end):
        ahead = _U(rows[smaller(k + _AHEAD, end - _1)])
        prefetch(lines, (ahead << source.shift) + word)
        prefetch(numbers, ahead)
        row = _U(rows[k])
        lanes, number = lines[(row << source.shift) + word] >> shift, numbers[row]
        sums[at + (lanes & _BYTE)] += number
        sums[at + _U(CODES) + ((lanes >> _U(8)) & _BYTE)] += number
        sums[at + _U(2 * CODES) + ((lanes >> _U(16)) & _BYTE)] += number
        sums[at + _U(3 * CODES) + ((lanes >> _U(24)) & _BYTE)] += number


@uncounted
def add_words(source, words, begin, end, target):
    """Add rows number `begin` to `end` of `source` to packed sums, word by word.

    The lines of a tile are copied first; then the sums of one word are all that the first-level cache must hold. The
    lines of the next tile are prefetched during the additions, so that memory is never idle.
    """
    begin, end, sums, n_words = _U(begin), _U(end), target.sums, words.end - words.first
    numbers = target.room + _NUMBERS_AT
    for k in range(begin, smaller(begin + _TILE, end)):
        _prefetch_row(source, k, words.first)
    while begin < end:
        size = smaller(_TILE, end - begin)
        _copy_tile(source, words, begin, size, target)
        begin += size
        ahead, stop, eights = begin, smaller(begin + _TILE, end), size >> _3
        each = (stop - ahead) // larger(n_words * eights, _1) + _1
        for word in range(words.first, words.end):
            tile = target.room + _TILE_AT + word * _STRIDE
            at = target.at + (word - words.first) * _WORD_SUMS
            for k in range(eights):
                until = smaller(ahead + each, stop)
                while ahead < until:
                    _prefetch_row(source, ahead, words.first)
                    ahead += _1
                for i in range(k << _3, (k << _3) + _8):
                    _add_to_lanes(_U(sums[tile + i]), sums[numbers + i], sums, at)
            for i in range(eights << _3, size):
                _add_to_lanes(_U(sums[tile + i]), sums[numbers + i], sums, at)


@uncounted_inline
def _prefetch_row(source, k, word):
    """Prefetch the line of a row, and its packed number."""
    row = _U(source.rows[k])
    prefetch_later(source.lines, (row << source.shift) + word)
    prefetch_later(source.numbers, row)


@uncounted
def _copy_tile(source, words, begin, size, target):
    """Copy the words of some rows to a tile."""
    lines, numbers, rows = source.lines, source.numbers, source.rows
    sums, tile, to_numbers = target.sums, target.room + _TILE_AT, target.room + _NUMBERS_AT
    if words.end - words.first < _8:
        for k in range(size):
            row = _U(rows[begin + k])
            sums[to_numbers + k] = numbers[row]
            for word in range(words.first, words.end):
                sums[tile + word * _STRIDE + k] = np.int64(lines[(row << source.shift) + word])
        return
    for k in range(size):
        row = _U(rows[begin + k])
        sums[to_numbers + k] = numbers[row]
        line, to = row << _3, tile + k
        sums[to] = np.int64(lines[line])
        sums[to + _STRIDE] = np.int64(lines[line + _1])
        sums[to + _2 * _STRIDE] = np.int64(lines[line + _2])
        sums[to + _3 * _STRIDE] = np.int64(lines[line + _3])
        sums[to + _4 * _STRIDE] = np.int64(lines[line + _4])
        sums[to + _5 * _STRIDE] = np.int64(lines[line + _5])
        sums[to + _6 * _STRIDE] = np.int64(lines[line + _6])
        sums[to + _7 * _STRIDE] = np.int64(lines[line + _7])


# Loops of one store each, over unsigned numbers: these vectorise.


@uncounted
def clear_sums(sums, at, size):
    """Set sums to 0."""
    for k in range(size):
        sums[at + k] = 0


@uncounted
def flush(sums, packed, wide, codes, add):
    """Move the packed sums of a column to wide ones, or add them to these, and clear them."""
    keep = np.int64(add)
    for k in range(codes):
        sums[wide + k] = keep * sums[wide + k] + gradient_half(sums[packed + k])
    for k in range(codes):
        sums[wide + _CODES + k] = keep * sums[wide + _CODES + k] + hessian_half(sums[packed + k])
    clear_sums(sums, packed, codes)


@uncounted
def subtract(sums, target, source, codes):
    """Subtract sums from others of the same kind."""
    for k in range(codes):
        sums[target + k] -= sums[source + k]


@uncounted
def subtract_packed(sums, target, source, codes):
    """Subtract the packed sums of a column from wide ones."""
    for k in range(codes):
        sums[target + k] -= gradient_half(sums[source + k])
    for k in range(codes):
        sums[target + _CODES + k] -= hessian_half(sums[source + k])
