"""The compiled parser of LETOR text: one pass over a block of whole lines.

A block always ends in a newline, so loops over bytes need no bound. Each value is rounded only once: a
float64 that is off by a few units in the last place is nudged both ways and cast to float32, and where the
two casts differ, the value is *uncertain*: its position is noted and Python rounds it exactly.

Three named records pass between the functions: `ParseRules` says how text is understood, `ParsedColumns` receives what
lines hold, and `State` carries what the parser keeps from line to line and reports at the end.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inline, jit
from rankwood.data.letor.tokens import (
    COLON,
    HASH,
    MINUS,
    NAN,
    NEWLINE,
    NINE,
    NUMBER,
    ZERO,
    DecimalNumber,
    Rounded,
    blank,
    end_of_line,
    ends_token,
    is_marker,
    missing_word_end,
    read_number,
    skip_blanks,
    to_float32,
)

# Why the parser stopped; 0 means that it reached the end of the block.
BAD_LABEL, NEGATIVE_LABEL, NO_QID, EMPTY_QID, BAD_INDEX, BAD_VALUE, REPEATED, TOO_WIDE, FULL = (
    range(1, 10)
)
_FAILED = -1  # in place of the position where a token ends

LABEL = -1  # the "column" of a label in the list of uncertain numbers
LARGEST_INDEX = 2**31
_MAX_QID_DIGITS = 18  # as many always fit into an int64
_D, _I, _Q = ord("d"), ord("i"), ord("q")


class ParseRules(NamedTuple):
    """How text is understood."""

    fixed_width: bool  # a feature index above the width of the matrix is an error
    missing_marker: bool  # values of at least 1.797e308 are missing
    fill_value: np.float32  # the value of a feature that a line omits
    missing_words: np.ndarray  # those for a missing value, in lower case, a newline after each


class ParsedColumns(NamedTuple):
    """What a block holds: features, the rest of each line, and the bytes of all comments."""

    X: np.ndarray
    lines: np.recarray  # records of LINE
    comments: np.ndarray


class State(NamedTuple):
    """What the parser keeps from line to line, and its report."""

    last_row: np.ndarray  # of each feature, the last row that has it
    uncertain: np.recarray  # numbers that Python must round, as records of UNCERTAIN
    report: np.recarray  # one record of REPORT


#: What a line holds beside features. The label is digits * 10**power.
LINE = np.dtype(
    [
        ("digits", np.float64),
        ("power", np.int64),
        ("qid", np.int64),  # the query id, if all of them are integers
        ("qid_start", np.int64),  # its text is buf[qid_start:qid_stop]
        ("qid_stop", np.int64),
        ("comment_size", np.int64),
    ]
)
#: Where a number is that Python must round, and where it belongs.
UNCERTAIN = np.dtype([(name, np.int64) for name in ("start", "stop", "row", "column")])
_REPORT_FIELDS = (
    "error",  # why the parser stopped
    "at",  # the position of the token that it read last
    "rows",
    "width",  # the largest feature index
    "widest_at",  # the position of the line with that index
    "uncertain",  # how many numbers Python must round
    "comment_bytes",
    "integer_qids",  # whether all query ids are integers
)
REPORT = np.dtype([(name, np.int64) for name in _REPORT_FIELDS])


@jit
def parse_lines(
    buf: np.ndarray, size: int, rules: ParseRules, columns: ParsedColumns, state: State
) -> None:
    """Read the lines in `buf[:size]` into `columns`, and report in `state`."""
    X, report = columns.X, state.report[0]
    i = report.rows  # 0; a literal would have the functions below compiled twice
    while i < size:
        i = skip_blanks(buf, i)
        if buf[i] != NEWLINE and buf[i] != HASH:
            row = report.rows
            line = columns.lines[row]
            for column in range(X.shape[1]):
                X[row, column] = rules.fill_value
            i = read_label(buf, i, line, state)
            if i != _FAILED:
                i = read_qid(buf, i, line, report)
            if i != _FAILED:
                i = read_features(buf, i, rules, columns, state)
            if i == _FAILED:
                return
            i = read_comment(buf, i, line, columns.comments, report)
            report.rows += 1
        i = end_of_line(buf, i) + 1


@inline
def read_label(buf, i, line, state):
    """Read the label at `i`; return where it ends."""
    report = state.report[0]
    report.at = i
    number = read_number(buf, i)
    if number.kind == 0 or number.kind == NAN or not ends_token(buf[number.stop]):
        report.error = BAD_LABEL
        return _FAILED
    if number.negative and number.mantissa > 0:
        report.error = NEGATIVE_LABEL
        return _FAILED
    line.digits = number.mantissa
    line.power = 0
    if number.mantissa > 0:
        # Both factors are float64 without rounding, so that their product is rounded only once.
        exact = number.kind == NUMBER and number.mantissa <= 2**53 and abs(number.exponent) <= 22
        if exact:
            line.power = number.exponent  # applied to whole blocks, by NumPy
        elif not defer(state, i, number.stop, np.int64(LABEL)):
            report.error = FULL
            return _FAILED
    return number.stop


@inline
def read_qid(buf, i, line, report):
    """Read the query id that follows the label; return where it ends."""
    i = skip_blanks(buf, i)
    if not (buf[i] == _Q and buf[i + 1] == _I and buf[i + 2] == _D and buf[i + 3] == COLON):
        report.at = i
        report.error = NO_QID
        return _FAILED
    start = i + 4
    first_digit = start + (buf[start] == MINUS)
    i = first_digit
    value = 0
    while ZERO <= buf[i] <= NINE:
        value = value * 10 + int(buf[i]) - ZERO
        i += 1
    # An id is an integer only if it is printed the same: "007" and "-0" stay text.
    is_integer = 0 < i - first_digit <= _MAX_QID_DIGITS and ends_token(buf[i])
    if is_integer and buf[first_digit] == ZERO and i - start > 1:
        is_integer = False
    while not ends_token(buf[i]):
        i += 1
    if i == start:
        report.error = EMPTY_QID
        return _FAILED
    report.integer_qids &= is_integer
    line.qid = 0 if not is_integer else value if first_digit == start else -value
    line.qid_start = start
    line.qid_stop = i
    return i


@inline
def read_features(buf, i, rules, columns, state):
    """Read the `index:value` tokens of a line from `i` on; return where they end."""
    X = columns.X
    last_row, report = state.last_row, state.report[0]
    begin = i
    row, width = report.rows, X.shape[1]
    while True:
        i = skip_blanks(buf, i)
        if buf[i] == NEWLINE or buf[i] == HASH:
            return i
        report.at = i
        start = i
        index = 0
        while ZERO <= buf[i] <= NINE:
            index = index * 10 + int(buf[i]) - ZERO if index <= LARGEST_INDEX else index
            i += 1
        if i == start or buf[i] != COLON or index == 0 or index > LARGEST_INDEX:
            report.error = BAD_INDEX
            return _FAILED
        number = read_number(buf, i + 1)
        if number.kind == 0 or not ends_token(buf[number.stop]):
            stop = missing_word_end(buf, i + 1, rules.missing_words)
            if stop == 0:
                report.error = BAD_VALUE
                return _FAILED
            number = DecimalNumber(NAN, stop, 0, 0, number.negative)
        if index > report.width:
            report.width = index
            report.widest_at = begin
        if index > width:
            if rules.fixed_width:
                report.error = TOO_WIDE
                return _FAILED
        elif last_row[index - 1] == row:
            report.error = REPEATED
            return _FAILED
        else:
            last_row[index - 1] = row
            rounded = feature_value(number, rules)
            if rounded.certain:
                X[row, index - 1] = rounded.value
            elif not defer(state, i + 1, number.stop, index - 1):
                report.error = FULL
                return _FAILED
        i = number.stop


@inline
def feature_value(number, rules):
    """Return the value of a feature as float32."""
    if number.kind == NAN or (rules.missing_marker and is_marker(number.mantissa, number.exponent)):
        return Rounded(True, np.float32(np.nan))
    rounded = to_float32(number.mantissa, number.exponent)
    return Rounded(rounded.certain, -rounded.value if number.negative else rounded.value)


@inline
def read_comment(buf, i, line, comments, report):
    """Copy the comment at `i`, if there is one, without the blanks around it; return where the line ends."""
    first = i + 1
    line_end = end_of_line(buf, i)
    last = line_end
    while first < last and blank(buf[first]):
        first += 1
    while first < last and blank(buf[last - 1]):
        last -= 1
    line.comment_size = last - first if last > first else 0
    size = report.comment_bytes
    for j in range(first, last):
        comments[size] = buf[j]
        size += 1
    report.comment_bytes = size
    return line_end


@inline
def defer(state, start, stop, column):
    """Add a number to the list that Python rounds; return whether there was space."""
    report = state.report[0]
    if report.uncertain == state.uncertain.size:
        return False
    item = state.uncertain[report.uncertain]
    item.start = start
    item.stop = stop
    item.row = report.rows
    item.column = column
    report.uncertain += 1
    return True
