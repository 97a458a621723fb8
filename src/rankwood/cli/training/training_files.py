"""The files of ``rankwood train`` and ``rankwood tune``: read into memory or as a stream, checked, and written."""

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

from rankwood._util.atomic import written
from rankwood._util.checks import InputError
from rankwood._util.csv_text import csv_text
from rankwood._util.text import plural, printable
from rankwood.cli.shared import arguments, display, file_access, tables
from rankwood.cli.training import neural, two_stages
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.table_files import table_kind
from rankwood.fit.result import VALID

#: Names of files that people validate or test on.
_FOR_VALIDATION = r"(vali|dev|test)"


def add_training_files(parser: argparse.ArgumentParser) -> None:
    """Add the training files."""
    parser.add_argument(
        "train",
        metavar="TRAIN",
        nargs="+",
        help="one or several files to train on: LETOR or CSV, plain or gzipped, or Parquet",
    )


def add_stream(parser: argparse.ArgumentParser) -> None:
    """Add the option for files that don't fit in memory."""
    parser.add_argument(
        "--stream",
        action="store_true",
        help="read the features block by block, so that they are never all in memory: LETOR and Parquet files, engines "
        "lightgbm and xgboost",
    )


def list_training_files(args: argparse.Namespace) -> None:
    """Set `args.train_files`, a list, and `args.train`, their names as one text."""
    args.train_files = args.train
    args.train = ", ".join(args.train_files)
    repeated = next((f for i, f in enumerate(args.train_files) if f in args.train_files[:i]), None)
    if repeated is not None:
        raise InputError(f"{repeated} is given twice: give each file once.")
    for path in args.train_files[1:]:
        if re.match(_FOR_VALIDATION, Path(path).name, re.IGNORECASE):
            note = f"note: {path} is trained on, too; to validate on it, write --valid {path}."
            print(printable(note), file=sys.stderr)


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
    """Read the training files, as one set, and the validation files; LETOR files have the width of the widest one."""

    def load(path: str, n_features: int | None) -> RankingData:
        with display.status(f"Reading {path}", arguments.verbosity(args)):
            return tables.read_training(path, args, n_features)

    paths = [*args.train_files, *files.values()]
    sets = [load(path, args.features) for path in paths]
    unnamed = [i for i, data in enumerate(sets) if data.feature_names is None]
    width = max((sets[i].n_features for i in unnamed), default=0)
    for i in unnamed:
        if sets[i].n_features < width:
            sets[i] = load(paths[i], width)
    first = len(args.train_files)
    train = _joined(args.train_files, sets[:first])
    return train, dict(zip(files, sets[first:], strict=True))


def _joined(paths: list[str], parts: list[RankingData]) -> RankingData:
    """Return all training files as one set; raise, naming them, if they don't go together."""
    owner: dict[Any, str] = {}
    for path, data in zip(paths, parts, strict=True):
        for query in data.groups.ids.tolist():
            if query in owner:
                raise InputError(
                    f"query {str(query)!r} is in {owner[query]} and in {path}, expected each query in one file: join "
                    "the files if it is one query, or give the queries different ids."
                )
        owner |= dict.fromkeys(data.groups.ids.tolist(), path)
    if len(parts) == 1:
        return parts[0]
    with file_access.errors_naming(", ".join(paths)):
        return RankingData.concat(parts)


def check_streamable(ranker: Any) -> None:
    """Raise, before anything is read, unless a ranker trains on streams."""
    ranker._check_streamed()


def stream_sets(
    args: argparse.Namespace, files: dict[str, str]
) -> tuple[Source, dict[str, Source]]:
    """Read labels and queries of the training files and of the validation files."""
    from rankwood.data.stream import stream_files
    from rankwood.data.stream.sample import SAMPLE

    how = file_access.reading_options(args)
    options = {**how, "absent": float(how["absent"]), "n_jobs": args.threads}
    options |= {"n_features": args.features, "verbose": arguments.verbosity(args)}

    def scan(names: list[str], sample: int) -> Source:
        return stream_files(names, sample=sample, **_columns_to_stream(names, args), **options)

    train = scan(args.train_files, SAMPLE)
    return train, {name: scan([path], 0) for name, path in files.items()}


def _columns_to_stream(names: list[str], args: argparse.Namespace) -> dict[str, Any]:
    """Return the columns of labels and query ids of Parquet files; LETOR files need none."""
    kind = table_kind(names[0])
    if kind == "csv":
        raise InputError(
            f"{names[0]} is a CSV file, which can't be read block by block: write it as Parquet, or omit --stream."
        )
    if args.ignore or args.categorical:
        raise InputError(
            "--ignore and --categorical can't be combined with --stream: write files without the columns, with numbers "
            "for categories, and name those by --param categorical_feature=..."
        )
    return {} if kind is None else tables.label_and_query(names[0], args)


def save_model_and_record(ranker: Any, args: argparse.Namespace) -> None:
    """Write the model, and the record if it has a file of its own."""
    # Other files for this model are read in the same way as the training data.
    ranker._save_with(args.model, reading_of_training(args))
    if args.record_file is None:
        return
    rounds = range(1, 1 + max(map(len, ranker.record_.values()), default=0))
    columns = {"round": rounds, **ranker.record_}
    written(csv_text(list(columns), zip(*columns.values(), strict=True)), args.record_file)


def reading_of_training(args: argparse.Namespace) -> dict[str, Any]:
    """Return how the training files were read, which a model remembers."""
    return file_access.reading_options(args) | tables.remembered_columns(args.train_files[0], args)


def rescue(ranker: Any, args: argparse.Namespace) -> str:
    """Save the model of an interrupted run, and return a message about it."""
    unit = neural.round_name(two_stages.last_engine(args))
    if not (hasattr(ranker, "result_")):
        where = "" if args.second is None else " of the second stage"
        return f"interrupted before the first {unit}{where}; nothing was saved."
    save_model_and_record(ranker, args)
    rounds = plural(two_stages.last_stage(ranker).best_iteration_, unit)
    return f"interrupted; the model so far, {rounds}, is saved in {args.model}."
