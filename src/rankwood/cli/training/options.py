"""Options of ``rankwood train``, most of them also of ``rankwood tune``: validation files, learning, recording."""

import argparse
from collections.abc import Mapping
from typing import Any

from rankwood._util import literals
from rankwood._util.checks import InputError
from rankwood.cli.shared import arguments
from rankwood.engines import base

#: Parameters of Ranker that have an option of their own: type, default and help.
TUNING: dict[str, tuple[Any, Any, str]] = {
    "n_estimators": (
        arguments.integer_at_least(1),
        None,
        "largest number of trees (default: 500 with --valid and early stopping, else 100), or of epochs of a network "
        "(default: 100)",
    ),
    "learning_rate": (
        float,
        None,
        "weight of each tree (default: 0.05, but 0.01 for objectives bi-NAME)",
    ),
    "num_leaves": (arguments.integer_at_least(2), 31, "largest number of leaves of a tree"),
    "min_child_samples": (
        arguments.integer_at_least(0),
        20,
        "smallest number of documents in a leaf",
    ),
}
# Parameters that other options set, so that `--param` refuses them.
_OTHER_OPTIONS = {
    "objective": "--objective",
    "engine": "--engine",
    "eval_metric": "--eval-metric",
    "early_stopping_rounds": "--early-stopping-rounds",
    "random_state": "--seed",
    "record": "--record",
    "n_jobs": "--threads",
    "verbose": "--verbose or --quiet",
    "monotone": "--monotone",
    "interactions": "--interactions",
    **{name: "--" + name.replace("_", "-") for name in TUNING},
}


def add_valid(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add the option for validation files; `purpose` is what the first one decides."""
    parser.add_argument(
        "--valid",
        action="append",
        metavar="[NAME=]FILE",
        help=f"LETOR, CSV or Parquet file {purpose}; may be repeated: all are evaluated, the first one decides",
    )


def add_learning(group: Any) -> None:
    """Add the options for the objective, the engine and the trees."""
    group.add_argument(
        "--objective",
        default="lambdarank-ndcg@10",
        metavar="NAME",
        help="objective to train with, see rankwood objectives (default: lambdarank-ndcg@10)",
    )
    group.add_argument(
        "--engine",
        metavar="NAME",
        help="engine that grows the trees: rankwood, lightgbm, xgboost, catboost, or pairtree for objectives "
        "bi-NAME; or neural for a network (default: pairtree for objectives bi-NAME, else lightgbm)",
    )
    for name, (kind, default, text) in TUNING.items():
        option = "--" + name.replace("_", "-")
        text = text if default is None else f"{text} (default: {default})"
        group.add_argument(option, type=kind, default=default, metavar="N", help=text)


def add_stopping(group: Any) -> None:
    """Add the options for the metrics of validation data, and for early stopping."""
    arguments.add_names(
        group,
        "--eval-metric",
        "metric to compute on the validation file after each round, see rankwood metrics; may be repeated, the "
        "first one decides when to stop (default: ndcg@10)",
    )
    add_patience(group)


def add_patience(group: Any) -> None:
    """Add the option for early stopping."""
    group.add_argument(
        "--early-stopping-rounds",
        type=lambda text: None if text == "none" else arguments.integer_at_least(1)(text),
        default=50,
        metavar="N",
        help="stop after N rounds without a better value of the first metric, or none to train all trees (default: 50)",
    )


def add_other_parameters(group: Any) -> None:
    """Add the options for the seed and for parameters without an option of their own."""
    arguments.add_seed(group, "random seed")
    group.add_argument(
        "--param",
        type=tree_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of Ranker or of the engine; may be repeated",
    )


def add_constraints(group: Any) -> None:
    """Add the options for constraints on features."""
    group.add_argument(
        "--monotone",
        type=_direction,
        action="append",
        default=[],
        metavar="FEATURE=1|-1",
        help="let scores rise (1) or fall (-1) with a feature, by its name or its number in the file, from 1; may be "
        "repeated",
    )
    group.add_argument(
        "--interactions",
        type=_group,
        action="append",
        default=[],
        metavar="FEATURE,...",
        help="features, by their names or their numbers in the file, from 1, that may share a branch of a tree; may be "
        "repeated, and the features that are left are a group too",
    )


def _feature(text: str) -> int | str:
    """Return a feature: its name, or its number from 0; files count from 1."""
    is_number = text.lstrip("+-").isdecimal()
    return arguments.integer_at_least(1)(text) - 1 if is_number else text


def _direction(text: str) -> tuple[int | str, int]:
    feature, _, direction = text.rpartition("=")
    if direction not in ("1", "+1", "-1"):
        raise argparse.ArgumentTypeError(f"expected FEATURE=1 or FEATURE=-1, got {text!r}")
    return _feature(feature), int(direction)


def _group(text: str) -> list[int | str]:
    return [_feature(word) for word in text.split(",")]


def add_recording(group: Any) -> None:
    """Add the options for what is written during training: rounds, checkpoints, records."""
    group.add_argument(
        "--log-csv",
        metavar="FILE",
        help="CSV file that has a row after each round, with the metrics so far",
    )
    group.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="file from which a killed run resumes, if it exists; the model is then bit-identical",
    )
    group.add_argument(
        "--checkpoint-seconds",
        type=float,
        metavar="N",
        help="time between two writes of the checkpoint; 0 writes after every round (default: 60)",
    )
    text = (
        "record this for each round: effective_pairs, coherency, coherency@K(definition=paper) or seconds; may be "
        "repeated"
    )
    arguments.add_names(group, "--record", text)
    group.add_argument(
        "--record-file",
        metavar="FILE",
        help="CSV file to write the record to, one line per round; the model contains the record in any case. Without "
        "--record, everything that the objective supports is recorded",
    )


def tree_parameter(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE; the value may be a number, true, false, none, a list or text."""
    return parse_parameter(text, _OTHER_OPTIONS)


def parse_parameter(text: str, taken: Mapping[str, str]) -> tuple[str, Any]:
    """Parse NAME=VALUE; the value may be a number, true, false, none, a list or text.

    `taken` has the options of parameters that must be set by them.
    """
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    if name in taken:
        raise argparse.ArgumentTypeError(f"{name} has an option of its own: {taken[name]}")
    words = {"true": True, "false": False, "none": "none" if name in base.NONE_IS_A_WORD else None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, literals.read_literal(value)
    except InputError:
        return name, value
