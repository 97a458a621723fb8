"""Options of ``rankwood train`` for validation files (also of ``rankwood tune``), constraints and rows per round."""

import argparse
import os
from pathlib import Path
from typing import Any

from rankwood._core.checks import InputError
from rankwood.cli import _args, _files, _show
from rankwood.data.ranking_data import RankingData
from rankwood.training.checkpoint import Checkpoint
from rankwood.training.inputs import VALID


def add_valid(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add the option for validation files; `purpose` is what the first one decides."""
    parser.add_argument(
        "--valid",
        action="append",
        metavar="[NAME=]FILE",
        help=f"LETOR file {purpose}; may be repeated: all are evaluated, the first one decides",
    )


def add_constraints(group: Any) -> None:
    """Add the options for constraints on features."""
    group.add_argument(
        "--monotone",
        type=_direction,
        action="append",
        default=[],
        metavar="FEATURE=1|-1",
        help="let scores rise (1) or fall (-1) with a feature, by its number in the file; may be repeated",
    )
    group.add_argument(
        "--interactions",
        type=_group,
        action="append",
        default=[],
        metavar="FEATURE,...",
        help="features, by their numbers in the file, that may share a branch of a tree; may be repeated, and the "
        "features that are left are a group too",
    )


def add_log(group: Any) -> None:
    """Add the option for a row per round."""
    group.add_argument(
        "--log-csv",
        metavar="FILE",
        help="CSV file that has a row after each round, with the metrics so far",
    )


def _feature(text: str) -> int:
    """Return the number of a feature from 0; files count from 1."""
    return _args.integer_at_least(1)(text) - 1


def _direction(text: str) -> tuple[int, int]:
    feature, _, direction = text.partition("=")
    if direction not in ("1", "+1", "-1"):
        raise argparse.ArgumentTypeError(f"expected FEATURE=1 or FEATURE=-1, got {text!r}")
    return _feature(feature), int(direction)


def _group(text: str) -> list[int]:
    return [_feature(word) for word in text.split(",")]


def constraints(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of Ranker that the options for constraints have."""
    found: dict[str, Any] = {}
    if args.monotone:
        found["monotone"] = dict(args.monotone)
        if len(found["monotone"]) < len(args.monotone):
            raise InputError("--monotone names a feature twice, expected each once.")
    if args.interactions:
        found["interactions"] = args.interactions
    return found


def check_constraints(args: argparse.Namespace, n_features: int) -> None:
    """Raise if an option for constraints has a feature that the files lack; sentences count from 1, as files do."""
    given = {
        "--monotone": [feature for feature, _ in args.monotone],
        "--interactions": [feature for group in args.interactions for feature in group],
    }
    for option, features in given.items():
        if features and max(features) >= n_features:
            raise InputError(
                f"{option}: {args.train} has features 1 to {n_features}, got {max(features) + 1}."
            )


def callbacks(args: argparse.Namespace) -> list[Any]:
    """Return the callbacks of the options."""
    if args.log_csv is None:
        return []
    from rankwood.callbacks import CSV  # slow to import: --help need not wait for it

    return [CSV(args.log_csv)]


def valid_files(given: list[str] | None) -> dict[str, str]:
    """Return the validation files by name: the given one, else that of the file; one file alone needs none."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, path = text.partition("=")
        if not equals or os.path.exists(text):
            name, path = Path(text).stem if len(given or ()) > 1 else VALID, text
        if not name or not path:
            raise InputError(f"--valid must be NAME=FILE or FILE, got {text!r}.")
        if name in found:
            raise InputError(f"--valid has two files of the name {name!r}: write NAME=FILE.")
        found[name] = path
    return found


def read_sets(
    args: argparse.Namespace, files: dict[str, str]
) -> tuple[RankingData, dict[str, RankingData]]:
    """Read the training file and the validation files with the number of features of the widest one."""

    def load(path: str, n_features: int | None) -> RankingData:
        with _show.status(f"Reading {path}", _args.verbosity(args)):
            return _files.read_data(path, args, n_features)

    paths = [args.train, *files.values()]
    sets = [load(path, args.features) for path in paths]
    width = max(data.n_features for data in sets)
    for i, path in enumerate(paths):
        if sets[i].n_features < width:
            sets[i] = load(path, width)
    return sets[0], dict(zip(files, sets[1:], strict=True))


def check_outputs(args: argparse.Namespace, files: dict[str, str]) -> None:
    """Raise if the model, a record or a checkpoint can't be written, before anything is read."""
    inputs = [*args.train_files, *files.values()]
    taken = {os.path.abspath(args.model): "the model"}
    _files.check_output(args.model, inputs)
    others = {
        "the record": args.record_file,
        "the rounds": args.log_csv,
        "the checkpoint": args.checkpoint,
    }
    for what, path in others.items():
        if path is None:
            continue
        _files.check_output(path, [*inputs, args.model])
        other = taken.setdefault(os.path.abspath(path), what)
        if other != what:
            raise InputError(f"{path} is given for both {other} and {what}: give two names.")


def checkpoint(args: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint that the options name, None if they name none."""
    seconds = args.checkpoint_seconds
    if args.checkpoint is None:
        if seconds is not None:
            raise InputError("--checkpoint-seconds needs --checkpoint FILE.")
        return None
    return Checkpoint(args.checkpoint, *(() if seconds is None else (seconds,)))
