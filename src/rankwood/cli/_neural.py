"""``rankwood train --engine neural``: a network in the place of trees."""

import argparse
from typing import Any

from rankwood._core.checks import InputError, nearest
from rankwood.cli import _args

ENGINE = "neural"
_OF_TREES = ("num_leaves", "min_child_samples")


def round_name(engine: str) -> str:
    """Return what a round of training is called."""
    return "epoch" if engine == ENGINE else "tree"


def add(group: Any) -> None:
    """Add the options that only networks have."""
    group.add_argument(
        "--architecture",
        metavar="NAME",
        help="network of --engine neural: dnn, gsf, attn-din or setrank (default: dnn)",
    )


def check_options(args: argparse.Namespace) -> None:
    """Raise if an option of networks is given for trees."""
    for name in ("monotone", "interactions"):
        if args.engine == ENGINE and getattr(args, name):
            raise InputError(f"--{name} is of trees: leave it out with --engine neural.")
    if args.engine != ENGINE and args.architecture is not None:
        raise InputError(
            "--architecture is of networks: give --engine neural too, or leave it out."
        )


def make_ranker(args: argparse.Namespace, metrics: list[str], options: dict[str, Any]) -> Any:
    """Return the ranker of the arguments; `options` have the defaults of those that only trees have."""
    from rankwood.neural.ranker import NeuralRanker  # slow to import: --help need not wait for it

    if args.record or args.record_file:
        raise InputError("networks have no record: leave out --record and --record-file.")
    for name in _OF_TREES:
        if getattr(args, name) != options[name][1]:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} is of trees: leave it out with --engine neural.")
    params = dict(args.param)
    if type(params.get("hidden")) is int:  # a shell has no way to write a tuple of one
        params["hidden"] = (params["hidden"],)
    known = NeuralRanker._defaults()
    for name in params:
        if name not in known:
            raise InputError(f"a network has no parameter {name!r}{nearest(name, known)}")
    shared = {
        "objective": args.objective,
        "learning_rate": args.learning_rate,
        "eval_metric": metrics,
        "early_stopping_rounds": args.early_stopping_rounds,
        "random_state": args.seed,
        "n_jobs": args.threads,
        "verbose": _args.verbosity(args),
    }
    if args.n_estimators is not None:
        shared["epochs"] = args.n_estimators
    if args.architecture is not None:
        shared["architecture"] = args.architecture
    ranker = NeuralRanker(**{**shared, **params})
    ranker._check(False)
    return ranker
