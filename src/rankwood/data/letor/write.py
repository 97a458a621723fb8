"""Write LETOR text: the shortest digits, from six on, that are read back as the same float32."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import inner, jit
from rankwood._util.checks import InputError
from rankwood.data.comments import Comments
from rankwood.data.groups import group_rows
from rankwood.data.letor.tokens import (
    COLON,
    MAX_POWER,
    MINUS,
    POINT,
    POWER_OF_TEN,
    SPACE,
    ZERO,
    to_float32,
)

_CELL_BYTES = 40  # as many bytes hold any index, value and the signs between them
_CHUNK_CELLS = 50_000  # about how many features are written at a time
_LINE_BREAKS = bytes.maketrans(b"\n\r\0", b"   ")
_A, _E, _N = b"aen"


class Texts(NamedTuple):
    """One text per row: row i has the bytes from `offsets[i]` to `offsets[i + 1]`."""

    data: np.ndarray
    offsets: np.ndarray


class Cells(NamedTuple):
    """Features that are written: row i has those from `offsets[i]` to `offsets[i + 1]`."""

    values: np.ndarray
    columns: np.ndarray
    offsets: np.ndarray


@inner
def shortest(value):
    """Return a short mantissa and an exponent of 10 from which a float32 above 0 is read back."""
    power = math.floor(math.log10(value))
    mantissa = 0
    shift = 4 - power
    for _ in range(5):  # nine digits always suffice; a tenth makes up for an inexact logarithm
        shift += 1
        mantissa = int(value * POWER_OF_TEN[shift + MAX_POWER] + 0.5)
        rounded = to_float32(mantissa, -shift)
        if rounded.certain and rounded.value == value:
            break
    while mantissa % 10 == 0:
        mantissa //= 10
        shift -= 1
    return mantissa, -shift


@inner
def write_digits(out, at, number):
    """Write a whole number at `at`; return where it ends."""
    size = 1
    rest = number // 10
    while rest > 0:
        size += 1
        rest //= 10
    for i in range(at + size - 1, at - 1, -1):
        out[i] = ZERO + number % 10
        number //= 10
    return at + size


@inner
def write_magnitude(out, at, value):
    """Write a float32 above 0 at `at`; return where it ends."""
    mantissa, exponent = shortest(value)
    stop = write_digits(out, at, mantissa)
    point = stop - at + exponent  # digits before the decimal point
    if exponent >= 0 and point <= 16:
        for i in range(exponent):
            out[stop + i] = ZERO
        return stop + exponent
    scientific = point > 16 or point < -4
    before = 1 if scientific else point if point > 0 else 0
    zeros = 1 - point if before == 0 else 0  # the one before the point, and those behind it
    if stop > at + before:
        for i in range(stop - 1, at + before - 1, -1):
            out[i + zeros + 1] = out[i]
        for i in range(zeros):
            out[at + i + (i > 0)] = ZERO
        out[at + (1 if zeros else before)] = POINT
        stop += zeros + 1
    if scientific:
        out[stop] = _E
        stop += 1
        if point < 1:
            out[stop] = MINUS
            stop += 1
        stop = write_digits(out, stop, abs(point - 1))
    return stop


@inner
def write_value(out, at, value, negative):
    """Write a float32 at `at`; return where it ends."""
    if value != value:
        out[at] = out[at + 2] = _N
        out[at + 1] = _A
        return at + 3
    if negative:
        out[at] = MINUS
        at += 1
    if value == 0:
        out[at] = ZERO
        return at + 1
    return write_magnitude(out, at, abs(float(value)))


@inner
def write_text(out, at, texts, row):
    """Copy the text of a row to `at`; return where it ends."""
    for i in range(texts.offsets[row], texts.offsets[row + 1]):
        out[at] = texts.data[i]
        at += 1
    return at


@jit
def write_rows(out: np.ndarray, heads: Texts, cells: Cells, bits: np.ndarray, tails: Texts) -> int:
    """Write rows: the text before the features, the features, the text behind; return the size.

    `bits` are the values as uint32, which have the sign of zeros and of NaN too.
    """
    at = heads.offsets[0]  # 0; a literal would have the functions compiled twice
    for row in range(cells.offsets.size - 1):
        at = write_text(out, at, heads, row)
        for j in range(cells.offsets[row], cells.offsets[row + 1]):
            out[at] = SPACE
            at = write_digits(out, at + 1, cells.columns[j] + 1)
            out[at] = COLON
            at = write_value(out, at + 1, cells.values[j], bits[j] >> 31)
        at = write_text(out, at, tails, row)
    return at


def chunks(data: Any, sparse: bool) -> Iterator[bytes]:
    """Return the text of a data set, a few rows at a time."""
    X = data.X
    dense = isinstance(X, np.ndarray)
    if not dense:
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    head, comments = _heads(data), data.comments
    step = max(1, _CHUNK_CELLS // max(1, X.shape[1] if dense else X.nnz // max(1, X.shape[0])))
    write = _write_float32 if X.dtype == np.float32 else _write_float64
    for start in range(0, X.shape[0], step):
        rows = range(start, min(start + step, X.shape[0]))
        cells = (_dense_cells if dense else _stored_cells)(X, rows, sparse)
        _check_finite(start, cells)
        yield write([head(i) for i in rows], cells, [_tail(comments, i) for i in rows])


def _dense_cells(X: np.ndarray, rows: range, sparse: bool) -> Cells:
    part = X[rows.start : rows.stop]
    if not sparse:
        columns = np.tile(np.arange(X.shape[1]), len(rows))
        return Cells(part.ravel(), columns, np.arange(len(rows) + 1) * X.shape[1])
    written = part != 0  # true of NaN
    offsets = np.concatenate([[0], np.cumsum(written.sum(axis=1))])
    return Cells(part[written], np.nonzero(written)[1], offsets)


def _stored_cells(X: Any, rows: range, sparse: bool) -> Cells:
    offsets = X.indptr[rows.start : rows.stop + 1].astype(np.int64)
    values, columns = (a[offsets[0] : offsets[-1]] for a in (X.data, X.indices))
    offsets -= offsets[0]
    if sparse:
        written = values != 0
        offsets = np.concatenate([[0], np.cumsum(written)])[offsets]
        values, columns = values[written], columns[written]
    return Cells(values, columns.astype(np.int64), offsets)


def _check_finite(start: int, cells: Cells) -> None:
    infinite = np.flatnonzero(np.isinf(cells.values))
    if infinite.size:
        first = infinite[0]
        row = start + int(np.searchsorted(cells.offsets, first, side="right")) - 1
        raise InputError(
            f"X holds {cells.values[first]} at row {row}, feature {cells.columns[first] + 1}, expected "
            "finite numbers, or NaN for a value that is missing."
        )


def _write_float32(heads: list[bytes], cells: Cells, tails: list[bytes]) -> bytes:
    before, behind = _joined(heads), _joined(tails)
    out = np.empty(
        before.data.size + behind.data.size + _CELL_BYTES * cells.values.size + 1, np.uint8
    )
    cells = cells._replace(values=np.ascontiguousarray(cells.values))
    size = write_rows(out, before, cells, cells.values.view(np.uint32), behind)
    return out[:size].tobytes()


def _joined(texts: list[bytes]) -> Texts:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Texts(np.frombuffer(bytearray().join(texts), np.uint8), offsets)


def _write_float64(heads: list[bytes], cells: Cells, tails: list[bytes]) -> bytes:
    values, columns, offsets = (array.tolist() for array in cells)
    shown = [f" {c + 1}:{v!r}".encode() for c, v in zip(columns, values, strict=True)]
    lines = (
        head + b"".join(shown[start:stop]) + tail
        for head, tail, start, stop in zip(heads, tails, offsets[:-1], offsets[1:], strict=True)
    )
    return b"".join(lines)


def _heads(data: Any) -> Callable[[int], bytes]:
    """Return a function that gives `label qid:Q` of a row; every label and every id is checked once."""
    labels, label_of_row = np.unique(np.asarray(data.y, np.float64), return_inverse=True)
    groups = data.groups if hasattr(data, "groups") else group_rows(len(data.y), data.qid)
    query_of_row = groups.per_row(np.arange(groups.ids.size))
    bad = labels[~(np.isfinite(labels) & (labels >= 0))]
    if bad.size:
        raise InputError(f"y holds {bad[0]}, expected finite numbers of at least 0.")
    shown = [repr(int(v) if v.is_integer() else v).encode() for v in labels.tolist()]
    ids = _encode_ids(groups.ids.tolist())
    return lambda i: shown[label_of_row[i]] + ids[query_of_row[i]]


def _encode_ids(ids: list[Any]) -> list[bytes]:
    """Return ` qid:Q` of each id; different ids must not become one query in the file."""
    id_of_name: dict[bytes, Any] = {}
    for value in ids:
        name = _encode_id(value)
        if name in id_of_name:
            raise InputError(
                f"the query ids {id_of_name[name]!r} and {value!r} would be written the same, expected ids "
                "that differ as text: rename one of them."
            )
        id_of_name[name] = value
    return list(id_of_name)


def _encode_id(value: Any) -> bytes:
    name = str(value)
    if not name or "#" in name or "\0" in name or any(c.isspace() for c in name):
        raise InputError(
            f"the query id {name!r} can't be written, expected text without blanks and without '#'."
        )
    return f" qid:{name}".encode()


def _tail(comments: Comments | None, row: int) -> bytes:
    text = comments[row].encode("utf-8", "replace") if comments else b""
    text = text.translate(_LINE_BREAKS).strip()
    return b" # " + text + b"\n" if text else b"\n"
