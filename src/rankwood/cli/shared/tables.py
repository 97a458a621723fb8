"""Files of documents for commands: LETOR text, CSV and Parquet."""

import argparse
from collections.abc import Iterable
from typing import Any

from rankwood._util.checks import InputError
from rankwood.cli.shared import file_access
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.column_roles import ColumnNames, column_roles, no_column
from rankwood.data.tables.table_files import (
    column_names_of,
    has_numbers_only,
    read_table,
    table_kind,
)

#: Kinds of files in the help of commands.
KINDS = "LETOR, CSV or Parquet file"


def add_columns(parser: argparse.ArgumentParser, training: bool = False) -> None:
    """Add the options that say what columns of a table have."""
    group = parser.add_argument_group("columns of CSV and Parquet files")
    as_trained = "" if training else "that of the model's training data, else "
    for option, content, usual in (
        ("--y", "labels", "label, relevance, grade or the like"),
        ("--qid", "query ids", "qid, query_id, query or the like"),
    ):
        text = f"column of the {content} (default: {as_trained}the one called {usual})"
        group.add_argument(option, metavar="COLUMN", help=text)
    text = "column that isn't a feature, such as a title; may be repeated"
    group.add_argument("--ignore", action="append", metavar="COLUMN", help=text)
    if training:
        text = "column that is a categorical feature; may be repeated"
        group.add_argument("--categorical", action="append", metavar="COLUMN", help=text)


def check_column_options(args: argparse.Namespace, paths: Iterable[str | None]) -> None:
    """Raise if options name columns, and none of the files is a table."""
    files = [path for path in paths if path is not None]
    given = [name for name in ("y", "qid", "ignore", "categorical") if getattr(args, name, None)]
    if given and files and not any(table_kind(path) for path in files):
        raise InputError(
            f"--{given[0]} names a column of a CSV or Parquet file, and {files[0]} is another kind of file: omit it."
        )


def columns_by_role(path: str, args: argparse.Namespace, ranker: Any = None) -> ColumnNames:
    """Return the columns of a table by the arguments, else as in the training data of a model."""
    known, remembered = column_names_of(path), getattr(ranker, "letor_", {})
    y, qid = (
        getattr(args, name) or next(iter(_present([remembered.get(name)], known)), None)
        for name in ("y", "qid")
    )
    ignore = args.ignore or _present(remembered.get("ignore", ()), known)
    categorical = getattr(args, "categorical", None) or _present(_categories(ranker), known)
    names = None if ranker is None else ranker._feature_names()
    features = None if names is None else tuple(names)
    return ColumnNames(y, qid, tuple(ignore), tuple(categorical), features)


def _present(names: Iterable[Any], columns: list[str]) -> list[str]:
    return [name for name in names if name in columns]


def remembered_columns(path: str, args: argparse.Namespace) -> dict[str, Any]:
    """Return what a model keeps of the columns of its training data: labels, query ids, and those it ignored."""
    if table_kind(path) is None:
        return {}
    return {**label_and_query(path, args), "ignore": list(args.ignore or ())}


def label_and_query(path: str, args: argparse.Namespace) -> dict[str, str]:
    """Return the columns of labels and of query ids of a table; raise if there is none."""
    columns = column_names_of(path)
    roles = column_roles(columns, columns_by_role(path, args), path)
    if roles.y is None or roles.qid is None:
        raise no_column(path, "y" if roles.y is None else "qid", columns)
    return {"y": roles.y, "qid": roles.qid}


def read_training(path: str, args: argparse.Namespace, n_features: int | None) -> RankingData:
    """Read a file to train on."""
    if table_kind(path) is None:
        return file_access.read_data(path, args, n_features)
    return read_table(path, columns_by_role(path, args))


def read_documents(
    path: str,
    args: argparse.Namespace,
    n_features: int | None = None,
    ranker: Any = None,
    needs: tuple[str, ...] = ("y", "qid"),
) -> RankingData:
    """Read a file of documents by the arguments, else as a model's training data were read.

    Without a model, only labels and query ids are needed, and columns of text don't matter.
    """
    if table_kind(path) is None:
        return file_access.read_data(path, args, n_features, ranker)
    columns = columns_by_role(path, args, ranker)._replace(ignore_text=ranker is None)
    data = read_table(path, columns, needs)
    if ranker is not None and ranker._feature_names() is None:  # features have numbers only
        file_access.check_width(path, data.n_features, ranker, args)
        absent = float(file_access.reading_options(args, ranker)["absent"])
        data = file_access.with_absent_features(data, ranker.n_features_in_, absent)
    return data


def read_or_stream(
    path: str,
    args: argparse.Namespace,
    n_features: int | None = None,
    ranker: Any = None,
    needs: tuple[str, ...] = ("y", "qid"),
) -> Source:
    """Do as `read_documents` does, but leave a Parquet file that may be large on disk if the model needs no lists."""
    if table_kind(path) != "parquet" or not _scores_blocks(ranker):
        return read_documents(path, args, n_features, ranker, needs)
    columns = column_names_of(path)
    roles = column_roles(columns, columns_by_role(path, args, ranker), path)
    whole = roles.y is not None and len(columns) == len(roles.features) + 2
    if not whole or not has_numbers_only(path, roles.features):
        return read_documents(path, args, n_features, ranker, needs)
    from rankwood.data.stream import stream_files  # most runs do without

    # The command shows that it is at work, and two displays at a time would disturb each other.
    data = stream_files(path, y=roles.y, qid=roles.qid, sample=0, verbose=False)
    if ranker is not None and ranker._feature_names() is None:
        file_access.check_width(path, data.n_features, ranker, args)
    return data


def _categories(ranker: Any) -> list[str]:
    return list(getattr(ranker, "categories_", {}))


def _scores_blocks(ranker: Any) -> bool:
    """Return whether a model scores each document alone, of numbers; without a model, labels are all that is needed."""
    if ranker is None:
        return True
    is_trees = getattr(ranker, "_kind", "") == "Ranker" and not ranker.model_.needs_groups
    return is_trees and not _categories(ranker)
