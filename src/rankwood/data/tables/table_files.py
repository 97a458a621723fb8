"""CSV and Parquet files, read whole: a row per document, with columns of labels, query ids and features.

Arrow reads both. Its CSV reader is strict, as a table of numbers must be: a row with a cell too many or too few is an
error, where pandas would shift columns or fill them. Query ids are read as text, so that 7 and 007 stay two queries.
"""

import csv
import gzip
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._util.checks import InputError
from rankwood._util.csv_text import plain_text
from rankwood._util.file_errors import GZIP, PARQUET, READ_ERRORS, unreadable
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.column_roles import (
    ColumnNames,
    ColumnRoles,
    column_roles,
    is_label_name,
    no_column,
)
from rankwood.data.tables.query_columns import is_query_name

#: Words of a CSV file that mean a missing value, in columns of numbers and of categories.
MISSING = ("", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "None")
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_HEAD = 1 << 20  # bytes that the first line of a CSV file is looked for in
_DELIMITERS = ",\t;"


def table_kind(path: str | os.PathLike[str]) -> str | None:
    """Return "csv" or "parquet" if a file is such a table, by its name or its first line; else None."""
    name = os.fsdecode(path)
    if name.lower().endswith(_CSV):
        return "csv"
    if name.lower().endswith(".parquet") or _start(path) == PARQUET:
        return "parquet"
    return "csv" if _has_names(name) else None


def read_table(path: str, names: ColumnNames, needs: tuple[str, ...] = ("y", "qid")) -> RankingData:
    """Return the documents of a file; labels or query ids that aren't in `needs` may be absent.

    Without labels, they are 0; without query ids, all documents are one query.
    """
    read = _read_parquet if table_kind(path) == "parquet" else _read_csv
    table, roles = read(path, names)
    for role in needs:
        if getattr(roles, role) is None:
            raise no_column(path, role, table.column_names)
    if names.ignore_text:
        numbers = [name for name in roles.features if has_number_type(table[name].type)]
        roles = roles._replace(features=numbers)
    try:
        return _data_of(_with_categories(table, roles, names, path), roles)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(path) else f"{path}: {text}") from None


def column_names_of(path: str) -> list[str]:
    """Return the names of the columns of a file."""
    if table_kind(path) == "parquet":
        return list(_parquet_file(path).schema_arrow.names)
    return _head(path)[0]


def has_numbers_only(path: str, columns: Iterable[str]) -> bool:
    """Return whether columns of a Parquet file have numbers."""
    schema = _parquet_file(path).schema_arrow
    return all(has_number_type(schema.field(name).type) for name in columns)


def _data_of(table: Any, roles: ColumnRoles) -> RankingData:
    """Return the documents of a table whose text columns are categorical."""
    comments = None
    if roles.comment is not None:
        comments = ["" if text is None else str(text) for text in table[roles.comment].to_pylist()]
    y = np.zeros(table.num_rows) if roles.y is None else table[roles.y]
    qid = None if roles.qid is None else table[roles.qid]
    if table.num_rows == 0:
        raise InputError("the file has no rows, expected one per document.")
    X = table.select(roles.features) if roles.features else np.zeros((table.num_rows, 0))
    return RankingData(X, y, qid=qid, comments=comments)


def _with_categories(table: Any, roles: ColumnRoles, names: ColumnNames, path: str) -> Any:
    """Return a table whose categorical columns are dictionaries; raise if another feature is text."""
    import pyarrow as pa

    for at, name in enumerate(table.column_names):
        if name not in roles.features:
            continue
        column = table[name]
        if name in names.categorical and not pa.types.is_dictionary(column.type):
            table = table.set_column(at, name, column.dictionary_encode())
        elif not has_number_type(column.type) and not pa.types.is_dictionary(column.type):
            raise InputError(
                f"{path}: column {name!r} has {_kind(column.type)}, and features are numbers: leave it out by ignore "
                f"(--ignore {name}), or train on it as a categorical feature by categorical (--categorical {name})."
            )
    return table


def has_number_type(kind: Any) -> bool:
    """Return whether a type of Arrow has numbers."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return pa.types.is_null(kind) or any(test(kind) for test in tests)


def _kind(kind: Any) -> str:
    import pyarrow as pa

    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return "text" if text else f"values of type {kind}"


def _has_names(path: str) -> bool:
    """Return whether the first line of a file names a column of labels or of query ids."""
    if not os.path.isfile(path):  # a pipe can be read once only
        return False
    try:
        names = _head(path)[0]
    except InputError:
        return False
    return any(is_label_name(name) or is_query_name(name) for name in names)


def _start(path: str | os.PathLike[str]) -> bytes:
    if not os.path.isfile(path):  # a pipe can be read once only
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(len(PARQUET))
    except OSError:
        return b""


def _arrow(path: str) -> Any:
    """Return Arrow, or raise if it isn't installed, or if there is no such file."""
    try:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise InputError(
            f"{path} is a table, which needs the package pyarrow: pip install 'rankwood[parquet]'."
        ) from None
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory, expected a file: give the files in it.")
    if not os.path.exists(path):
        raise InputError(f"{path} does not exist, expected a file of documents.")
    return pa


def _parquet_file(path: str) -> Any:
    pa = _arrow(path)
    try:
        return pa.parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Parquet", error) from None


def _read_parquet(path: str, names: ColumnNames) -> tuple[Any, ColumnRoles]:
    """Return the columns of a Parquet file that are needed, and what they have."""
    file, pa = _parquet_file(path), _arrow(path)
    roles = column_roles(file.schema_arrow.names, names, path)
    wanted = [name for name in (roles.y, roles.qid, roles.comment) if name is not None]
    try:
        return file.read(columns=[*wanted, *roles.features]), roles
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Parquet", error) from None


def _read_csv(path: str, names: ColumnNames) -> tuple[Any, ColumnRoles]:
    """Return a CSV file as a table, and what its columns have."""
    pa = _arrow(path)
    columns, delimiter = _head(path)
    roles = column_roles(columns, names, path)
    texts = [name for name in (roles.qid, roles.comment) if name is not None]
    try:
        with open(path, "rb") as raw, _plain(raw) as file:
            table = pa.csv.read_csv(
                file,
                pa.csv.ReadOptions(skip_rows=0, column_names=columns, skip_rows_after_names=1),
                pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                pa.csv.ConvertOptions(
                    null_values=list(MISSING),
                    column_types=dict.fromkeys(texts, pa.string()),
                ),
            )
    except READ_ERRORS as error:
        raise unreadable(path, error) from None
    except pa.ArrowException as error:
        raise _broken(path, "CSV", error) from None
    return _cleaned(table, roles), roles


def _plain(raw: Any) -> Any:
    """Return a file without its compression."""
    packed = raw.read(len(GZIP)) == GZIP
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if packed else raw


def _head(path: str) -> tuple[list[str], str]:
    """Return the names of the columns, and what separates them."""
    try:
        with open(path, "rb") as raw, _plain(raw) as file:
            text = file.readline(_HEAD).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, expected a file of documents.") from None
    except READ_ERRORS as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text, expected a table as CSV.") from None
    delimiter = max(_DELIMITERS, key=text.count)
    (names,) = list(csv.reader([text], delimiter=delimiter)) or [[]]
    if len(names) < 2:
        raise InputError(
            f"{path} is not a table: its first line must name at least two columns, as in 'label,qid,f1', got "
            f"{text.strip()[:60]!r}."
        )
    return [plain_text(name.strip()) for name in names], delimiter


def _cleaned(table: Any, roles: ColumnRoles) -> Any:
    """Return a table as it was before it was written: ids that are numbers, text without marks of spreadsheets."""
    import pyarrow as pa

    for at, name in enumerate(table.column_names):
        if not pa.types.is_string(table[name].type):
            continue
        texts = [plain_text(text) for text in table[name].to_pylist()]
        if name == roles.qid:
            table = table.set_column(at, name, pa.chunked_array([_ids(texts, pa)]))
        elif name != roles.comment:
            kept = [None if text in MISSING else text for text in texts]
            table = table.set_column(at, name, pa.chunked_array([pa.array(kept, pa.string())]))
        else:
            table = table.set_column(at, name, pa.chunked_array([pa.array(texts, pa.string())]))
    return table


def _ids(texts: list[str], pa: Any) -> Any:
    """Return ids as integers if all are written as such, as those of LETOR files are; "007" stays text."""
    if all(text.removeprefix("-").isdecimal() and text.isascii() for text in texts):
        numbers = [int(text) for text in texts]
        plain = all(str(n) == text for n, text in zip(numbers, texts, strict=True))
        if plain and all(-(2**63) <= n < 2**63 for n in numbers):
            return pa.array(numbers, pa.int64())
    return pa.array([text or None for text in texts], pa.string())


def _broken(path: str, kind: str, error: Exception) -> InputError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(
        f"{path} can't be read as {kind} ({first.rstrip('.')}): check it, or write it again."
    )
