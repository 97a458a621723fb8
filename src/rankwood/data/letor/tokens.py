"""Compiled reading of characters and decimal numbers, and their fast rounding to float32.

All functions are inlined: calls that pass arrays would count their references.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inline

TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = b"\t\n\r #+-.09:"
_A, _E, _N = b"aen"
_UPPER_A, _UPPER_Z = b"AZ"
_LOWER = 32  # the bit that makes a letter lower case

NUMBER, LONG, NAN = 1, 2, 3  # kinds of number; 0 is text that is not a number
MAX_POWER = 64
#: Powers of ten: 10**k is at k + MAX_POWER.
POWER_OF_TEN = np.array([float(f"1e{k}") for k in range(-MAX_POWER, MAX_POWER + 1)])

_MANTISSA_FULL = 10**17  # with another digit, the mantissa still fits into an int64
_LARGEST_EXPONENT = 10**8  # digits are ignored from there on
# Eight times the relative error that the arithmetic of `to_float32` can have.
_DOWN, _UP = 1 - 2.0**-49, 1 + 2.0**-49
_MARKER = 1.7971  # times 1e308: certainly a marker; closer to 1.797e308 the exact rounding decides


class DecimalNumber(NamedTuple):
    """A decimal number, ±mantissa * 10**exponent; the mantissa of a LONG one may lack digits."""

    kind: int
    stop: int  # where its text ends
    mantissa: int
    exponent: int
    negative: bool


class Rounded(NamedTuple):
    """A float32, and whether it is certainly the nearest one."""

    certain: bool
    value: np.float32


@inline
def read_number(buf, i):
    """Read the decimal number, or NaN, at `i`."""
    negative, i = read_sign(buf, i)
    start = i
    mantissa = 0
    exponent = 0
    digit = int(buf[i]) - ZERO
    while 0 <= digit <= 9:
        if mantissa < _MANTISSA_FULL:
            mantissa = mantissa * 10 + digit
        else:
            exponent += 1
        i += 1
        digit = int(buf[i]) - ZERO
    digits = i - start
    if buf[i] == POINT:
        i += 1
        first = i
        digit = int(buf[i]) - ZERO
        while 0 <= digit <= 9:
            if mantissa < _MANTISSA_FULL:
                mantissa = mantissa * 10 + digit
                exponent -= 1
            i += 1
            digit = int(buf[i]) - ZERO
        digits += i - first
    if digits == 0:
        if i == start and spells_nan(buf, i):
            return DecimalNumber(NAN, i + 3, 0, 0, negative)
        return DecimalNumber(0, i, 0, 0, negative)
    kind = LONG if mantissa >= _MANTISSA_FULL else NUMBER
    if buf[i] | _LOWER == _E:
        first, i, power = read_exponent(buf, i + 1)
        exponent += power
        kind = kind if i > first else 0
    return DecimalNumber(kind, i, mantissa, exponent, negative)


@inline
def read_sign(buf, i):
    """Read the sign at `i`, if there is one; return whether it is a minus, and the position behind it."""
    negative = buf[i] == MINUS
    return negative, (i + 1 if negative or buf[i] == PLUS else i)


@inline
def read_exponent(buf, i):
    """Read the exponent at `i`; return where its digits start, where they end, and the exponent."""
    negative, first = read_sign(buf, i)
    i = first
    power = 0
    while ZERO <= buf[i] <= NINE:
        power = power * 10 + int(buf[i]) - ZERO if power < _LARGEST_EXPONENT else power
        i += 1
    return first, i, -power if negative else power


@inline
def spells_nan(buf, i):
    """Whether the text at `i` starts with "nan", in upper or lower case."""
    return buf[i] | _LOWER == _N and buf[i + 1] | _LOWER == _A and buf[i + 2] | _LOWER == _N


@inline
def missing_word_end(buf, i, words):
    """Return where the word at `i` ends if it is one of `words`, in upper or lower case; otherwise 0."""
    at, same, stop = i, True, 0
    for k in range(words.size):
        if words[k] == NEWLINE:
            stop = at if same and stop == 0 and ends_token(buf[at]) else stop
            at, same = i, True
        elif same:
            char = int(buf[at])
            char = char + _LOWER if _UPPER_A <= char <= _UPPER_Z else char
            same = char == words[k]
            at += 1
    return stop


@inline
def to_float32(mantissa, exponent):
    """Round mantissa * 10**exponent, which isn't negative, to float32."""
    if mantissa == 0:
        return Rounded(True, np.float32(0.0))
    if exponent < -MAX_POWER or exponent > MAX_POWER:
        return Rounded(False, np.float32(0.0))
    value = mantissa * POWER_OF_TEN[exponent + MAX_POWER]
    if value > 3.4e38:
        return Rounded(False, np.float32(0.0))
    low = np.float32(value * _DOWN)
    return Rounded(low == np.float32(value * _UP), low)


@inline
def is_marker(mantissa, exponent):
    """Whether mantissa * 10**exponent is certainly at least 1.797e308."""
    power = exponent - 308
    in_range = power >= -MAX_POWER and power <= MAX_POWER
    return in_range and mantissa * POWER_OF_TEN[power + MAX_POWER] > _MARKER


@inline
def blank(char: int) -> bool:
    """Whether a byte separates tokens within a line."""
    return char == SPACE or char == TAB or char == RETURN  # faster than `in`


@inline
def ends_token(char: int) -> bool:
    """Whether a byte ends a token: a blank, a newline or the start of a comment."""
    return (
        char == SPACE
        or char == NEWLINE
        or char == HASH
        or char == TAB  # faster than `in`
        or char == RETURN
    )


@inline
def skip_blanks(buf, i):
    """Return the first position from `i` on that isn't blank."""
    while blank(buf[i]):
        i += 1
    return i


@inline
def end_of_line(buf, i):
    """Return the position of the first newline from `i` on."""
    while buf[i] != NEWLINE:
        i += 1
    return i
