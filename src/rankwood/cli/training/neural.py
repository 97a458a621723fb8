"""``rankwood train --engine neural``: a network instead of trees."""

import argparse
from typing import Any

from rankwood._util.checks import InputError, nearest
from rankwood.cli.shared import arguments

ENGINE = "neural"
_OF_TREES = ("num_leaves", "min_child_samples")


def round_name(engine: str) -> str:
    """Return what a round of training is called."""
    return "epoch" if engine == ENGINE else "tree"


def add_neural_options(group: Any) -> None:
    """Add the options that only networks have."""
    group.add_argument(
        "--architecture",
        metavar="NAME",
        help="network of --engine neural: dnn, gsf, attn-din or setrank (default: dnn)",
    )


def check_neural_options(args: argparse.Namespace) -> None:
    """Raise if options of trees and of networks are combined."""
    for name in ("monotone", "interactions"):
        if args.engine == ENGINE and getattr(args, name):
            raise InputError(
                f"--{name} applies to trees and can't be combined with --engine neural."
            )
    if args.engine != ENGINE and args.architecture is not None:
        raise InputError("--architecture needs --engine neural.")


def neural_ranker(args: argparse.Namespace, metrics: list[str], options: dict[str, Any]) -> Any:
    """Return the network of the arguments; `options` has the defaults of the options that apply to trees only."""
    from rankwood.estimators.neural_ranker import (
        NeuralRanker,  # slow to import: --help need not wait for it
    )

    if args.record or args.record_file:
        raise InputError("networks have no record: omit --record and --record-file.")
    for name in _OF_TREES:
        if getattr(args, name) != options[name][1]:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} applies to trees and can't be combined with --engine neural."
            )
    params = dict(args.param)
    if type(params.get("hidden")) is int:  # a shell has no way to write a tuple of one
        params["hidden"] = (params["hidden"],)
    defaults = NeuralRanker._defaults()
    for name in params:
        if name not in defaults:
            raise InputError(f"a network has no parameter {name!r}{nearest(name, defaults)}")
    shared = {
        "objective": args.objective,
        "learning_rate": args.learning_rate,
        "eval_metric": metrics,
        "early_stopping_rounds": args.early_stopping_rounds,
        "random_state": args.seed,
        "n_jobs": args.threads,
        "verbose": arguments.verbosity(args),
    }
    if args.n_estimators is not None:
        shared["epochs"] = args.n_estimators
    if args.architecture is not None:
        shared["architecture"] = args.architecture
    ranker = NeuralRanker(**{**shared, **params})
    ranker._check(False)
    return ranker
