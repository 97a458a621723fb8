"""Per-query tables in CSV files, read as evaluations."""

import csv
import math
import os
from typing import Any

import numpy as np

from rankwood._util.checks import InputError
from rankwood._util.csv_text import plain_text
from rankwood.data.tables.column_roles import is_label_name
from rankwood.metrics.evaluation import Evaluation

_LONGEST = 1 << 20  # bytes of a first line
_HEAD = 'expected a first line such as "qid,ndcg@10"'


def looks_like_evaluation(path: str | os.PathLike[str]) -> bool:
    """Return whether a file starts like one that `Evaluation.to_csv` wrote."""
    try:
        with open(path, "rb") as file:
            line = file.readline(_LONGEST).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        return False
    if not line.lstrip(b'"').startswith((b"qid,", b'qid"')):
        return False
    (names,) = csv.reader([line.decode("utf-8", "replace")])
    return not any(map(is_label_name, names))  # a table of documents has labels


def read_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """Read a table that `Evaluation.to_csv` or ``rankwood evaluate --per-query`` wrote.

    Parameters
    ----------
    path : path
        A CSV file with a column `qid`, followed by one column per metric. An empty cell or "nan" is a skipped query.

    Returns
    -------
    Evaluation
        Query ids are integers if all of them are written as such, else text. A table does not contain the rules that
        it was evaluated by, so the conventions are empty.

    Raises
    ------
    InputError
        If the file is not such a table; the message names the row.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.report import read_evaluation
    >>> rw.evaluate("dcg@1", [1, 0], [2, 1]).to_csv("queries.csv")
    >>> read_evaluation("queries.csv").mean()
    {'dcg@1': 1.0}
    """
    name = os.fspath(path)
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except UnicodeDecodeError:
        raise InputError(f"{name} is a binary file; {_HEAD}.") from None
    except csv.Error as error:
        raise InputError(f"{name} is not a CSV table ({error}); {_HEAD}.") from None
    if not rows or rows[0][0] != "qid" or len(rows[0]) < 2:
        raise InputError(f"{name} is not a table of queries; {_HEAD}.")
    metrics, body = [plain_text(name) for name in rows[0][1:]], rows[1:]
    if len(set(metrics)) < len(metrics):
        raise InputError(f"{name} has two columns of the same name; expected each metric once.")
    if not body:
        raise InputError(f"{name} has no queries; expected one row for each.")
    for number, row in enumerate(body, 2):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{name}, row {number}: expected {len(rows[0])} cells as in the first row, got {len(row)}."
            )
    columns = list(zip(*body, strict=True))
    values = {
        metric: np.array(
            [_value(text, f"{name}, row {number}", metric) for number, text in enumerate(column, 2)]
        )
        for metric, column in zip(metrics, columns[1:], strict=True)
    }
    return Evaluation(_ids(tuple(map(plain_text, columns[0]))), values, {})


def _value(text: str, place: str, metric: str) -> float:
    """Return the number of a cell, NaN if it is empty; raise if it is neither a number nor NaN."""
    if not text.strip():
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise InputError(f"{place}: expected a number as {metric!r}, got {text!r}.")
    return value


def _ids(texts: tuple[str, ...]) -> np.ndarray:
    """Return ids as integers if all are written as such, else as text; "007" stays text."""
    numbers: list[Any] = []
    for text in texts:
        digits = text.removeprefix("-")
        if not (digits.isdecimal() and digits.isascii() and text == str(int(text))):
            return np.array(texts)
        numbers.append(int(text))
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError:
        return np.array(texts)
