"""The compiled side of LETOR text: one pass over a block of whole lines, and the way back.

A block always ends in a newline, so no loop over bytes needs a bound. Values are rounded once: a
float64 that is off by a few units in the last place is cast after being nudged both ways, and where
the two casts differ the value goes to a short list of hard ones that Python settles exactly.
"""

from typing import Any

import numpy as np

from rankwood._core.jit import jit

# What a kernel stops at; 0 means it went through.
BAD_LABEL, NEGATIVE_LABEL, NO_QID, EMPTY_QID, BAD_INDEX, BAD_VALUE, TWICE, TOO_WIDE, FULL = range(
    1, 10
)
# Fields of the array `out` that `parse` reports in.
CODE, AT, ROWS, WIDTH, WIDEST, HARD, TEXT, PLAIN = range(8)
LABEL = -1  # stands for a column in the list of hard numbers
LARGEST = 2**31  # no feature index may be above
NUMBER, LONG, NAN = 1, 2, 3  # kinds of number; 0 is none at all

_DIGITS = 18  # that always fit in an int64
_FULL = 10**17  # the least number of that many digits
TENS = 64
TEN = np.array([float(f"1e{k}") for k in range(-TENS, TENS + 1)])
_DOWN, _UP = 1 - 2.0**-49, 1 + 2.0**-49  # eight times what the arithmetic of `single` can be off
_MARKER = 1.7971  # times 1e308: surely a marker; what lies closer to 1.797e308 is left to Python


@jit
def single(mantissa: int, exponent: int) -> tuple[bool, np.float32]:
    """Return whether the rounding of mantissa * 10**exponent to float32 is certain, and the result."""
    if mantissa == 0:
        return True, np.float32(0.0)
    if exponent < -TENS or exponent > TENS:
        return False, np.float32(0.0)
    value = mantissa * TEN[exponent + TENS]
    if value > 3.4e38:
        return False, np.float32(0.0)
    low = np.float32(value * _DOWN)
    return low == np.float32(value * _UP), low


@jit
def number(buf: np.ndarray, i: int) -> tuple[int, int, int, int, bool]:
    """Read a decimal number at `i`: its kind, where it ends, mantissa, exponent of 10, and sign.

    A LONG number may have more digits than the mantissa holds.
    """
    negative = buf[i] == 45
    if negative or buf[i] == 43:
        i += 1
    start = i
    mantissa = 0
    exponent = 0
    digit = int(buf[i]) - 48
    while 0 <= digit <= 9:
        if mantissa < _FULL:
            mantissa = mantissa * 10 + digit
        else:
            exponent += 1
        i += 1
        digit = int(buf[i]) - 48
    count = i - start
    if digit == -2:  # the point
        i += 1
        first = i
        digit = int(buf[i]) - 48
        while 0 <= digit <= 9:
            if mantissa < _FULL:
                mantissa = mantissa * 10 + digit
                exponent -= 1
            i += 1
            digit = int(buf[i]) - 48
        count += i - first
    if count == 0:
        if buf[i] | 32 == 110 and buf[i + 1] | 32 == 97 and buf[i + 2] | 32 == 110 and i == start:
            return NAN, i + 3, 0, 0, negative
        return 0, i, 0, 0, negative
    if digit == 21 or digit == 53:  # E, e
        i += 1
        down = buf[i] == 45
        if down or buf[i] == 43:
            i += 1
        start = i
        power = 0
        digit = int(buf[i]) - 48
        while 0 <= digit <= 9:
            power = power * 10 + digit if power < 10**8 else power
            i += 1
            digit = int(buf[i]) - 48
        if i == start:
            return 0, i, 0, 0, negative
        exponent += -power if down else power
    return LONG if mantissa >= _FULL else NUMBER, i, mantissa, exponent, negative


@jit
def blank(c: int) -> bool:
    """Whether a byte separates tokens within a line."""
    return c == 32 or c == 9 or c == 13


@jit
def ends(c: int) -> bool:
    """Whether a byte ends a token: a blank, a newline or the start of a comment."""
    return c == 32 or c == 10 or c == 35 or c == 9 or c == 13


@jit
def head(
    buf: np.ndarray,
    i: int,
    row: int,
    y: np.ndarray,
    power: np.ndarray,
    qid: np.ndarray,
    span: np.ndarray,
    hard: np.ndarray,
    out: np.ndarray,
) -> int:
    """Read label and query id of the line at `i`; return where they end, or -1 after an error."""
    out[AT] = i
    kind, stop, mantissa, exponent, negative = number(buf, i)
    if kind == 0 or kind == NAN or not ends(buf[stop]):
        out[CODE] = BAD_LABEL
        return -1
    if negative and mantissa > 0:
        out[CODE] = NEGATIVE_LABEL
        return -1
    y[row] = mantissa
    power[row] = 0
    if mantissa > 0 and (kind == LONG or mantissa > 2**53 or exponent < -22 or exponent > 22):
        if out[HARD] == hard.shape[0]:
            out[CODE] = FULL
            return -1
        note(hard, out, i, stop, row, np.int64(LABEL))
    elif mantissa > 0:
        power[row] = exponent  # applied in NumPy, where a division is a division
    i = stop
    while blank(buf[i]):
        i += 1
    if not (buf[i] == 113 and buf[i + 1] == 105 and buf[i + 2] == 100 and buf[i + 3] == 58):
        out[CODE] = NO_QID
        out[AT] = i
        return -1
    start = i + 4
    i = start
    if buf[i] == 45:
        i += 1
    first = i
    value = 0
    while 48 <= buf[i] <= 57:
        value = value * 10 + int(buf[i]) - 48
        i += 1
    # Only what prints back the same is a number: "007" and "-0" stay text.
    plain = 0 < i - first <= _DIGITS and ends(buf[i])
    if plain and buf[first] == 48 and i - start > 1:
        plain = False
    while not ends(buf[i]):
        i += 1
    if i == start:
        out[CODE] = EMPTY_QID
        return -1
    out[PLAIN] &= plain
    qid[row] = 0 if not plain else value if first == start else -value
    span[row, 0] = start
    span[row, 1] = i
    return i


@jit
def note(hard: np.ndarray, out: np.ndarray, start: int, stop: int, row: int, column: Any) -> None:
    """Put a number on the list of those that Python settles; there must be room."""
    k = out[HARD]
    hard[k, 0] = start
    hard[k, 1] = stop
    hard[k, 2] = row
    hard[k, 3] = column
    out[HARD] = k + 1


@jit
def pairs(
    buf: np.ndarray,
    i: int,
    row: int,
    X: np.ndarray,
    bits: np.ndarray,
    seen: np.ndarray,
    forced: bool,
    marker: bool,
    hard: np.ndarray,
    out: np.ndarray,
) -> int:
    """Read the `index:value` pairs of a line from `i` on; return where they end, or -1 after an error."""
    begin = i
    width = X.shape[1]
    while True:
        while blank(buf[i]):
            i += 1
        if buf[i] == 10 or buf[i] == 35:
            return i
        out[AT] = i
        start = i
        index = 0
        while 48 <= buf[i] <= 57:
            index = index * 10 + int(buf[i]) - 48 if index <= LARGEST else index
            i += 1
        if i == start or buf[i] != 58 or index == 0 or index > LARGEST:
            out[CODE] = BAD_INDEX
            return -1
        kind, stop, mantissa, exponent, negative = number(buf, i + 1)
        if kind == 0 or not ends(buf[stop]):
            out[CODE] = BAD_VALUE
            return -1
        if index > out[WIDTH]:
            out[WIDTH] = index
            out[WIDEST] = begin
        if index > width:
            if forced:
                out[CODE] = TOO_WIDE
                return -1
            i = stop
            continue  # the caller comes back with a wider matrix
        if seen[index - 1] == row:
            out[CODE] = TWICE
            return -1
        seen[index - 1] = row
        certain, value = single(mantissa, exponent)
        if kind == NAN or (marker and is_marker(mantissa, exponent)):
            X[row, index - 1] = np.nan
        elif not certain:
            if out[HARD] == hard.shape[0]:
                out[CODE] = FULL
                return -1
            note(hard, out, i + 1, stop, row, index - 1)
        elif negative and value == 0:
            bits[row, index - 1] = 0x80000000  # compiled arithmetic here may forget a zero's sign
        else:
            X[row, index - 1] = -value if negative else value
        i = stop


@jit
def is_marker(mantissa: int, exponent: int) -> bool:
    """Whether mantissa * 10**exponent is surely at least 1.797e308."""
    power = exponent - 308
    return power >= -TENS and power <= TENS and mantissa * TEN[power + TENS] > _MARKER


@jit
def parse(
    buf: np.ndarray,
    stop: int,
    X: np.ndarray,
    bits: np.ndarray,
    rows: tuple,
    text: np.ndarray,
    seen: np.ndarray,
    absent: np.float32,
    forced: bool,
    marker: bool,
    hard: np.ndarray,
    out: np.ndarray,
) -> None:
    """Read the lines in `buf[:stop]` into the matrix and the columns of `rows`; `out` says how it went."""
    y, power, qid, span, length = rows
    row = i = out[ROWS]  # 0; a literal would have everything below compiled twice
    while i < stop:
        while blank(buf[i]):
            i += 1
        if buf[i] != 10 and buf[i] != 35:
            for column in range(X.shape[1]):
                X[row, column] = absent
            i = head(buf, i, row, y, power, qid, span, hard, out)
            if i >= 0:
                i = pairs(buf, i, row, X, bits, seen, forced, marker, hard, out)
            if i < 0:
                return
            first = i + 1
            while buf[i] != 10:
                i += 1
            last = i
            while first < last and blank(buf[first]):
                first += 1
            while first < last and blank(buf[last - 1]):
                last -= 1
            length[row] = last - first if last > first else 0
            while first < last:
                text[out[TEXT]] = buf[first]
                out[TEXT] += 1
                first += 1
            row += 1
            out[ROWS] = row
        while buf[i] != 10:
            i += 1
        i += 1
