"""Which columns of a file have labels, query ids and remarks: those that were named, else those with usual names."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rankwood._util.checks import InputError, nearest
from rankwood.data.arguments import missing_column
from rankwood.data.tables.query_columns import is_query_name

#: Usual names, letters only, in lower case: "relevance_label" is "relevancelabel".
_LABELS = frozenset(
    [
        "label",
        "labels",
        "relevance",
        "relevancelabel",
        "rel",
        "grade",
        "rating",
        "target",
        "y",
        "judgment",
        "judgement",
    ]
)
_DOCUMENTS = frozenset(["comment", "comments", "docid", "docno", "documentid", "doc"])
#: What pandas adds to a Parquet file for the index of a table.
_INDEX = re.compile(r"__index_level_\d+__")


class ColumnNames(NamedTuple):
    """What somebody says about the columns of a file; None means the column with a usual name."""

    y: str | None = None
    qid: str | None = None
    #: Columns that aren't features.
    ignore: tuple[str, ...] = ()
    #: Columns that are categorical features.
    categorical: tuple[str, ...] = ()
    #: The features that a model was trained on; None means every other column.
    features: tuple[str, ...] | None = None
    #: Whether columns of text are left out, as where only labels and query ids matter.
    ignore_text: bool = False


class ColumnRoles(NamedTuple):
    """Columns by what they have; None if a file has no such column."""

    y: str | None
    qid: str | None
    comment: str | None
    features: list[str]


def is_label_name(name: str) -> bool:
    """Return whether a column of this name has labels, as a rule."""
    return _letters(name) in _LABELS


def column_roles(columns: Sequence[str], names: ColumnNames, path: str) -> ColumnRoles:
    """Return what each column of a file has; raise if a name is wrong, or if several columns may have the labels."""
    twice = next((name for i, name in enumerate(columns) if name in columns[:i]), None)
    if twice is not None:
        raise InputError(f"{path} has two columns {twice!r}: rename or remove one of them.")
    for option, given in (("y", names.y), ("qid", names.qid)):
        _check_there(option, given, columns, path)
    for option in ("ignore", "categorical"):
        for given in getattr(names, option):
            _check_there(option, given, columns, path)
    if names.y is not None and names.y == names.qid:
        raise InputError(f"y and qid are both {names.y!r}: labels and query ids are two columns.")
    left = [name for name in columns if name not in names.ignore and not _INDEX.fullmatch(name)]
    named = {names.y, names.qid, *names.categorical, *(names.features or ())}
    free = [name for name in left if name not in named]
    y = names.y or _only([name for name in free if is_label_name(name)], "labels", "y", path)
    qid = names.qid or _only(
        [name for name in free if is_query_name(name)], "query ids", "qid", path
    )
    comment = next((name for name in free if _letters(name) in _DOCUMENTS), None)
    if names.features is not None:
        lacking = next((name for name in names.features if name not in columns), None)
        if lacking is not None:
            raise missing_column(lacking, list(columns), path)
        return ColumnRoles(y, qid, comment, list(names.features))
    others = [name for name in left if name not in (y, qid, comment)]
    return ColumnRoles(y, qid, comment, others)


def no_column(path: str, role: str, columns: Sequence[str]) -> InputError:
    """Return the error for a file without a column of labels or of query ids."""
    what, usual = {"y": ("labels", "label"), "qid": ("query ids", "qid")}[role]
    return InputError(
        f"{path} has no column of {what} with a usual name, such as {usual!r}: name it by {role} (--{role} COLUMN)"
        f"{nearest(usual, columns)}"
    )


def _only(found: list[str], what: str, role: str, path: str) -> str | None:
    if len(found) > 1:
        raise InputError(
            f"{path} has {' and '.join(map(repr, found))}, and each may be the column of {what}: name the right one by "
            f"{role} (--{role} {found[0]}), and leave the others out by ignore (--ignore COLUMN)."
        )
    return found[0] if found else None


def _check_there(option: str, name: str | None, columns: Sequence[str], path: str) -> None:
    if name is not None and name not in columns:
        raise InputError(
            f"{path} has no column {name!r}, which {option} names{nearest(name, columns)}"
        )


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
