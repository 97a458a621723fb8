"""Parquet files for the commands that predict and evaluate."""

import argparse
from typing import Any

from rankwood._util.checks import InputError
from rankwood.cli.shared import file_access
from rankwood.data.source import Source
from rankwood.data.stream.files import is_parquet

_COLUMNS = (("--y", "labels"), ("--qid", "query ids"))


def add_columns(group: Any, where: str = "in a Parquet file") -> None:
    """Add the options that name the columns of labels and query ids."""
    for option, content in _COLUMNS:
        group.add_argument(option, metavar="COLUMN", help=f"column of the {content} {where}")


def column_words(args: argparse.Namespace, path: str) -> list[str]:
    """Return the options that name the columns of a Parquet file; none for other files."""
    return ["--y", args.y, "--qid", args.qid] if is_parquet(path) else []


def read_letor_or_parquet(
    path: str, args: argparse.Namespace, n_features: int | None = None, ranker: Any = None
) -> Source:
    """Read a LETOR file, or a Parquet file if the command has the options for its columns."""
    if not hasattr(args, "y"):
        return file_access.read_data(path, args, n_features, ranker)
    if not is_parquet(path):
        if args.y is not None or args.qid is not None:
            raise InputError(
                f"--y and --qid name columns of a Parquet file, and {path} is another kind of file: omit them."
            )
        return file_access.read_data(path, args, n_features, ranker)
    if args.y is None or args.qid is None:
        raise InputError(
            f"{path} is a Parquet file: name its columns of labels and query ids, as in --y label --qid query."
        )
    if ranker is not None:
        _check_kind(path, ranker)
    from rankwood.data.stream import stream_files  # most runs do without

    # The command shows that it is at work, and two displays at a time would disturb each other.
    data = stream_files(path, y=args.y, qid=args.qid, sample=0, verbose=False)
    if ranker is not None and ranker._feature_names() is None:  # features have no names but numbers
        file_access.check_width(path, data.n_features, ranker, args)
    return data


def _check_kind(path: str, ranker: Any) -> None:
    """Raise unless a model scores each document alone, as blocks of a file need it."""
    if getattr(ranker, "_kind", "") == "Ranker" and not ranker.model_.needs_groups:
        return
    raise InputError(
        f"{path} is a Parquet file, which only models of trees read, not those of pairs, of two stages or neural "
        f"ones: write it as LETOR text with 'rankwood data convert', and give that."
    )
