"""Options of ``rankwood train`` for files that don't fit in memory."""

import argparse
from typing import Any

from rankwood._core.checks import InputError
from rankwood.cli import _args, _files, _parquet
from rankwood.data.ranking_data import RankingData


def add(parser: argparse.ArgumentParser) -> None:
    """Add the training files and the options that go with several of them."""
    parser.add_argument(
        "train",
        metavar="TRAIN",
        nargs="+",
        help="LETOR file to train on, plain or gzipped; with --stream, one or several, LETOR or Parquet",
    )
    group = parser.add_argument_group("files that don't fit in memory")
    group.add_argument(
        "--stream",
        action="store_true",
        help="read the features block by block, so that they are never all in memory (engines lightgbm and xgboost)",
    )
    _parquet.add_columns(group, "in Parquet files, with --stream")


def settle(args: argparse.Namespace) -> None:
    """Set `args.train_files`, a list, and `args.train`, their names as one text."""
    args.train_files = args.train
    args.train = ", ".join(args.train_files)
    if not args.stream and len(args.train_files) > 1:
        raise InputError(
            f"there are {len(args.train_files)} training files: give --stream to train on all of them, or --valid FILE "
            "for the one to validate on."
        )
    if not args.stream and (args.y is not None or args.qid is not None):
        raise InputError("--y and --qid name columns of Parquet files: give --stream with them.")


def check(ranker: Any) -> None:
    """Raise, before anything is read, unless a ranker trains on streams."""
    from rankwood.training.streaming import check_can_stream  # slow to import

    check_can_stream(ranker)


def read_sets(
    args: argparse.Namespace, files: dict[str, str]
) -> tuple[RankingData, dict[str, RankingData]]:
    """Read labels and queries of the training files and of the validation files."""
    from rankwood.data.stream import stream_files
    from rankwood.data.stream.files import is_parquet
    from rankwood.data.stream.sample import SAMPLE

    how = _files.reading_options(args)
    options = {**how, "absent": float(how["absent"]), "n_jobs": args.threads}
    options |= {"n_features": args.features, "verbose": _args.verbosity(args)}
    in_parquet = any(is_parquet(name) for name in (*args.train_files, *files.values()))

    def scan(names: list[str], sample: int) -> RankingData:
        # A file of either kind may validate a model; without any Parquet file, the columns are a mistake.
        own = in_parquet and not is_parquet(names[0])
        columns = {} if own else {"y": args.y, "qid": args.qid}
        return stream_files(names, sample=sample, **columns, **options)

    train = scan(args.train_files, SAMPLE)
    return train, {name: scan([path], 0) for name, path in files.items()}
