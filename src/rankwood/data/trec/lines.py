"""Lines of words, as TREC files have them: reading with errors that name the line, and writing."""

import gzip
import math
import os
from collections.abc import Iterable

import numpy as np

from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError
from rankwood._util.file_errors import GZIP, READ_ERRORS, Path, unreadable, unwritable


def is_number(word: str) -> bool:
    """Whether a word is a finite number, in digits of ASCII alone."""
    try:
        return is_plain(word) and math.isfinite(float(word))
    except ValueError:
        return False


def is_plain(text: str) -> bool:
    """Whether a text has no spelling of numbers that only Python reads: 1_0, １０."""
    return "_" not in text and text.isascii()


def read_rows(path: str, content: str, form: tuple[str, ...]) -> list[list[str]]:
    """Return the words of each line of a file; `form` names them. Blank lines at the end are ignored."""
    shape = " ".join(form)
    rows = [line.split() for line in _read_text(path, content).rstrip().splitlines()]
    if not rows:
        raise InputError(f"{path} is empty, expected {content}, lines of {shape!r}.")
    for i, row in enumerate(rows, 1):
        if len(row) != len(form):
            raise InputError(
                f"{path}, line {i}: expected {len(form)} words, {shape!r}, got {len(row)}."
            )
    return rows


def _read_text(path: str, content: str) -> str:
    """Return the text of a file, plain or compressed with gzip."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
        return (gzip.decompress(raw) if raw[:2] == GZIP else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, expected a file of {content}.") from None
    except READ_ERRORS as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is a binary file, expected {content} as text.") from None


def number_column(path: str, rows: list[list[str]], column: int, name: str) -> np.ndarray:
    """Return a column of words as finite numbers."""
    try:
        if not is_plain("".join(row[column] for row in rows)):
            raise ValueError
        values = [float(row[column]) for row in rows]
    except ValueError:
        values = [float(row[column]) if is_number(row[column]) else math.nan for row in rows]
    for i, value in enumerate(values, 1):
        if not math.isfinite(value):
            raise InputError(
                f"{path}, line {i}: expected a finite number as {name}, got {rows[i - 1][column]!r}."
            )
    return np.array(values)


def check_unique_lines(path: str, rows: list[list[str]], done: str) -> None:
    """Raise if a document of a query is on two lines; `done` says what happened to it, such as "judged"."""
    seen: dict[tuple[str, str], int] = {}
    for i, row in enumerate(rows, 1):
        before = seen.setdefault((row[0], row[2]), i)
        if before != i:
            raise InputError(
                f"{path}, line {i}: document {row[2]!r} of query {row[0]!r} is {done} on line {before} "
                "already, expected once; delete one of the lines."
            )


def check_unique_documents(qid: list[str], doc: list[str]) -> None:
    """Raise if a document of a query is at two rows."""
    seen: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(qid, doc, strict=True)):
        before = seen.setdefault(pair, row)
        if before != row:
            raise InputError(
                f"document {pair[1]!r} of query {pair[0]!r} is at row {before} and at row {row}, expected "
                "once; give each document of a query its own id."
            )


def single_words(texts: list[str]) -> list[str]:
    """Return ids if each of them is a single word."""
    for text in texts:
        if not text or text.split() != [text]:
            raise InputError(
                f"TREC files separate by blanks, so ids are single words, got {text!r}."
            )
    return texts


def save_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, compressed with gzip if the name ends in `.gz`."""
    name = os.fsdecode(path)
    raw = "".join(lines).encode("utf-8")
    try:
        with replacing(name) as file:
            # Without name and time, the same data give the same bytes.
            file.write(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
    except OSError as error:
        raise unwritable(name, error) from error
