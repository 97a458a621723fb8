"""The files of ``rankwood train`` and ``rankwood tune``: read into memory or as a stream, checked, and written."""

import argparse
import os
from pathlib import Path
from typing import Any

from rankwood._util.atomic import written
from rankwood._util.checks import InputError
from rankwood._util.csv_text import csv_text
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, file_access, parquet
from rankwood.cli.training import neural, two_stages
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.fit.result import VALID


def add_training_files(parser: argparse.ArgumentParser) -> None:
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
    parquet.add_columns(group, "in Parquet files, with --stream")


def list_training_files(args: argparse.Namespace) -> None:
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


def valid_files(texts: list[str] | None) -> dict[str, str]:
    """Return the validation files by name: from NAME=FILE, else the name of the file; a single file needs no name."""
    files: dict[str, str] = {}
    for text in texts or ():
        name, equals, path = text.partition("=")
        if not equals or os.path.exists(text):
            name, path = Path(text).stem if len(texts or ()) > 1 else VALID, text
        if not name or not path:
            raise InputError(f"--valid must be NAME=FILE or FILE, got {text!r}.")
        if name in files:
            raise InputError(f"--valid has two files of the name {name!r}: write NAME=FILE.")
        files[name] = path
    return files


def check_outputs(args: argparse.Namespace, files: dict[str, str]) -> None:
    """Raise if the model, a record or a checkpoint can't be written, before anything is read."""
    inputs = [*args.train_files, *files.values()]
    taken = {os.path.abspath(args.model): "the model"}
    file_access.check_output(args.model, inputs)
    outputs = {
        "the record": args.record_file,
        "the rounds": args.log_csv,
        "the checkpoint": args.checkpoint,
    }
    for purpose, path in outputs.items():
        if path is None:
            continue
        file_access.check_output(path, [*inputs, args.model])
        other = taken.setdefault(os.path.abspath(path), purpose)
        if other != purpose:
            raise InputError(f"{path} is given for both {other} and {purpose}: give two names.")


def read_sets(
    args: argparse.Namespace, files: dict[str, str]
) -> tuple[RankingData, dict[str, RankingData]]:
    """Read the training file and the validation files with the number of features of the widest one."""

    def load(path: str, n_features: int | None) -> RankingData:
        with display.status(f"Reading {path}", arguments.verbosity(args)):
            return file_access.read_data(path, args, n_features)

    paths = [args.train, *files.values()]
    sets = [load(path, args.features) for path in paths]
    width = max(data.n_features for data in sets)
    for i, path in enumerate(paths):
        if sets[i].n_features < width:
            sets[i] = load(path, width)
    return sets[0], dict(zip(files, sets[1:], strict=True))


def check_streamable(ranker: Any) -> None:
    """Raise, before anything is read, unless a ranker trains on streams."""
    ranker._check_streamed()


def stream_sets(
    args: argparse.Namespace, files: dict[str, str]
) -> tuple[Source, dict[str, Source]]:
    """Read labels and queries of the training files and of the validation files."""
    from rankwood.data.stream import stream_files
    from rankwood.data.stream.files import is_parquet
    from rankwood.data.stream.sample import SAMPLE

    how = file_access.reading_options(args)
    options = {**how, "absent": float(how["absent"]), "n_jobs": args.threads}
    options |= {"n_features": args.features, "verbose": arguments.verbosity(args)}
    in_parquet = any(is_parquet(name) for name in (*args.train_files, *files.values()))

    def scan(names: list[str], sample: int) -> Source:
        # A file of either kind may validate a model; without any Parquet file, the columns are a mistake.
        is_letor = in_parquet and not is_parquet(names[0])
        columns = {} if is_letor else {"y": args.y, "qid": args.qid}
        return stream_files(names, sample=sample, **columns, **options)

    train = scan(args.train_files, SAMPLE)
    return train, {name: scan([path], 0) for name, path in files.items()}


def save_model_and_record(ranker: Any, args: argparse.Namespace) -> None:
    """Write the model, and the record if it has a file of its own."""
    # Other files for this model are read in the same way as the training data.
    ranker._save_with(args.model, file_access.reading_options(args))
    if args.record_file is None:
        return
    rounds = range(1, 1 + max(map(len, ranker.record_.values()), default=0))
    columns = {"round": rounds, **ranker.record_}
    written(csv_text(list(columns), zip(*columns.values(), strict=True)), args.record_file)


def rescue(ranker: Any, args: argparse.Namespace) -> str:
    """Save the model of an interrupted run, and return a message about it."""
    unit = neural.round_name(two_stages.last_engine(args))
    if not (hasattr(ranker, "result_")):
        where = "" if args.second is None else " of the second stage"
        return f"interrupted before the first {unit}{where}; nothing was saved."
    save_model_and_record(ranker, args)
    rounds = plural(two_stages.last_stage(ranker).best_iteration_, unit)
    return f"interrupted; the model so far, {rounds}, is saved in {args.model}."
