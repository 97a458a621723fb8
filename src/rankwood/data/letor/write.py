"""Write LETOR text: the shortest digits, from six on, that are read back as the same float32."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankwood._core.checks import InputError
from rankwood._core.jit import jit
from rankwood.data.comments import Comments
from rankwood.data.groups import group_rows
from rankwood.data.letor.parse import TEN, TENS, single

_CELL = 40  # bytes that hold any index, value and the signs between them
_CELLS = 50_000  # about how many are written at a time
_BREAKS = bytes.maketrans(b"\n\r\0", b"   ")


@jit
def shortest(value: float) -> tuple[int, int]:
    """Return a short mantissa and an exponent of 10 that a float32 above 0 is read back from."""
    power = math.floor(math.log10(value))
    mantissa = 0
    shift = 4 - power
    for _ in range(5):  # nine digits always do, a tenth makes up for a logarithm that is off
        shift += 1
        mantissa = int(value * TEN[shift + TENS] + 0.5)
        certain, back = single(mantissa, -shift)
        if certain and back == value:
            break
    while mantissa % 10 == 0:
        mantissa //= 10
        shift -= 1
    return mantissa, -shift


@jit
def put_digits(out: np.ndarray, k: int, number: int) -> int:
    """Write a whole number at `k`; return where it ends."""
    size = 1
    rest = number // 10
    while rest > 0:
        size += 1
        rest //= 10
    for i in range(k + size - 1, k - 1, -1):
        out[i] = 48 + number % 10
        number //= 10
    return k + size


@jit
def put_value(out: np.ndarray, k: int, value: float) -> int:
    """Write a float32 above 0 at `k`; return where it ends."""
    mantissa, exponent = shortest(value)
    stop = put_digits(out, k, mantissa)
    point = stop - k + exponent  # digits before the point
    if exponent >= 0 and point <= 16:
        for i in range(exponent):
            out[stop + i] = 48
        return stop + exponent
    scientific = point > 16 or point < -4
    before = 1 if scientific else point if point > 0 else 0
    zeros = 1 - point if before == 0 else 0  # the one before the point, and those behind it
    if stop > k + before:
        for i in range(stop - 1, k + before - 1, -1):
            out[i + zeros + 1] = out[i]
        for i in range(zeros):
            out[k + i + (i > 0)] = 48
        out[k + (1 if zeros else before)] = 46
        stop += zeros + 1
    if scientific:
        out[stop] = 101
        stop += 1
        if point < 1:
            out[stop] = 45
            stop += 1
        stop = put_digits(out, stop, abs(point - 1))
    return stop


@jit
def put_text(out: np.ndarray, k: int, text: np.ndarray, start: int, stop: int) -> int:
    """Copy bytes to `k`; return where they end."""
    for i in range(start, stop):
        out[k] = text[i]
        k += 1
    return k


@jit
def put_rows(
    out: np.ndarray,
    heads: np.ndarray,
    head_at: np.ndarray,
    tails: np.ndarray,
    tail_at: np.ndarray,
    values: np.ndarray,
    bits: np.ndarray,
    columns: np.ndarray,
    edges: np.ndarray,
) -> int:
    """Write rows: what stands before the features, the features, what stands behind; return the size."""
    k = head_at[0]  # 0
    for row in range(edges.size - 1):
        k = put_text(out, k, heads, head_at[row], head_at[row + 1])
        for j in range(edges[row], edges[row + 1]):
            out[k] = 32
            k = put_digits(out, k + 1, columns[j] + 1)
            out[k] = 58
            k += 1
            value = values[j]
            if value != value:
                out[k] = out[k + 2] = 110
                out[k + 1] = 97
                k += 3
                continue
            if bits[j] >> 31:
                out[k] = 45
                k += 1
            if value == 0:
                out[k] = 48
                k += 1
            else:
                k = put_value(out, k, abs(float(value)))
        k = put_text(out, k, tails, tail_at[row], tail_at[row + 1])
    return k


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
    step = max(1, _CELLS // max(1, X.shape[1] if dense else X.nnz // max(1, X.shape[0])))
    for start in range(0, X.shape[0], step):
        rows = range(start, min(start + step, X.shape[0]))
        cells = (_dense if dense else _stored)(X, rows, sparse)
        _refuse_infinity(start, *cells)
        write = _fast if X.dtype == np.float32 else _slow
        yield write([head(i) for i in rows], [_tail(comments, i) for i in rows], *cells)


def _dense(X: np.ndarray, rows: range, sparse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    part = X[rows.start : rows.stop]
    if not sparse:
        columns = np.tile(np.arange(X.shape[1]), len(rows))
        return part.ravel(), columns, np.arange(len(rows) + 1) * X.shape[1]
    there = part != 0  # so is NaN
    edges = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return part[there], np.nonzero(there)[1], edges


def _stored(X: Any, rows: range, sparse: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    edges = X.indptr[rows.start : rows.stop + 1].astype(np.int64)
    values, columns = (a[edges[0] : edges[-1]] for a in (X.data, X.indices))
    edges -= edges[0]
    if sparse:
        there = values != 0
        edges = np.concatenate([[0], np.cumsum(there)])[edges]
        values, columns = values[there], columns[there]
    return values, columns.astype(np.int64), edges


def _refuse_infinity(
    start: int, values: np.ndarray, columns: np.ndarray, edges: np.ndarray
) -> None:
    bad = np.flatnonzero(np.isinf(values))
    if bad.size:
        row = start + int(np.searchsorted(edges, bad[0], side="right")) - 1
        raise InputError(
            f"X holds {values[bad[0]]} at row {row}, feature {columns[bad[0]] + 1}, expected finite "
            "numbers, or NaN for a value that is missing."
        )


def _fast(heads: list[bytes], tails: list[bytes], *cells: np.ndarray) -> bytes:
    values, columns, edges = cells
    before, behind = _joined(heads), _joined(tails)
    out = np.empty(before[0].size + behind[0].size + _CELL * values.size + 1, np.uint8)
    values = np.ascontiguousarray(values)
    size = put_rows(out, *before, *behind, values, values.view(np.uint32), columns, edges)
    return out[:size].tobytes()


def _joined(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    at = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=at[1:])
    return np.frombuffer(bytearray().join(texts), np.uint8), at


def _slow(heads: list[bytes], tails: list[bytes], *cells: np.ndarray) -> bytes:
    values, columns, edges = (a.tolist() for a in cells)
    shown = [f" {c + 1}:{v!r}".encode() for c, v in zip(columns, values, strict=True)]
    lines = (
        head + b"".join(shown[start:stop]) + tail
        for head, tail, start, stop in zip(heads, tails, edges[:-1], edges[1:], strict=True)
    )
    return b"".join(lines)


def _heads(data: Any) -> Callable[[int], bytes]:
    """Return what gives `label qid:Q` of a row; every label and every id is checked once."""
    labels, which_label = np.unique(np.asarray(data.y, np.float64), return_inverse=True)
    groups = data.groups if hasattr(data, "groups") else group_rows(len(data.y), data.qid)
    which_id = groups.per_row(np.arange(groups.ids.size))
    bad = labels[~(np.isfinite(labels) & (labels >= 0))]
    if bad.size:
        raise InputError(f"y holds {bad[0]}, expected finite numbers of at least 0.")
    shown = [repr(int(v) if v.is_integer() else v).encode() for v in labels.tolist()]
    names = _names(groups.ids.tolist())
    return lambda i: shown[which_label[i]] + names[which_id[i]]


def _names(ids: list[Any]) -> list[bytes]:
    """Return ` qid:Q` of each id; different ids must not become one query in the file."""
    known: dict[bytes, Any] = {}
    for value in ids:
        name = _name(value)
        if name in known:
            raise InputError(
                f"the query ids {known[name]!r} and {value!r} would be written the same, expected ids "
                "that differ as text: rename one of them."
            )
        known[name] = value
    return list(known)


def _name(value: Any) -> bytes:
    name = str(value)
    if not name or "#" in name or "\0" in name or any(c.isspace() for c in name):
        raise InputError(
            f"the query id {name!r} can't be written, expected text without blanks and without '#'."
        )
    return f" qid:{name}".encode()


def _tail(comments: Comments | None, row: int) -> bytes:
    text = comments[row].encode("utf-8", "replace").translate(_BREAKS).strip() if comments else b""
    return b" # " + text + b"\n" if text else b"\n"
