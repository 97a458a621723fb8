"""Rankers of trees from the options of a command, with constraints, records, callbacks and checkpoints."""

import argparse
from typing import Any

from rankwood import objective
from rankwood._util.checks import InputError
from rankwood.cli.training.options import TUNING
from rankwood.fit.files.checkpoint import Checkpoint
from rankwood.fit.observers.recording import records_of


def tree_ranker(args: argparse.Namespace, metrics: list[str], **params: Any) -> Any:
    """Return an unfitted ranker with the parameters of the options, and `params`."""
    from rankwood.estimators.ranker import Ranker  # slow to import: --help need not wait for it

    return Ranker(
        args.objective,
        args.engine,
        **{name: getattr(args, name) for name in TUNING},
        eval_metric=metrics,
        early_stopping_rounds=args.early_stopping_rounds,
        random_state=args.seed,
        n_jobs=args.threads,
        **params,
        **dict(args.param),
    )


def curves_to_record(args: argparse.Namespace) -> Any:
    """Return what to record: --record, else, with --record-file, everything that the objective supports."""
    if args.record is None and args.record_file is not None:
        return records_of(objective(args.objective))
    return args.record


def constraints(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of Ranker for the options of constraints."""
    params: dict[str, Any] = {}
    if args.monotone:
        params["monotone"] = dict(args.monotone)
        if len(params["monotone"]) < len(args.monotone):
            raise InputError("--monotone names a feature twice, expected each once.")
    if args.interactions:
        params["interactions"] = args.interactions
    return params


def check_constraints(args: argparse.Namespace, n_features: int) -> None:
    """Raise if an option for constraints has a feature that the files lack; messages count from 1, as files do."""
    features_of = {
        "--monotone": [feature for feature, _ in args.monotone],
        "--interactions": [feature for group in args.interactions for feature in group],
    }
    for option, features in features_of.items():
        largest = max((feature for feature in features if isinstance(feature, int)), default=0)
        if largest >= n_features:
            raise InputError(
                f"{option}: {args.train} has features 1 to {n_features}, got {largest + 1}."
            )


def callbacks(args: argparse.Namespace) -> list[Any]:
    """Return the callbacks of the options."""
    if args.log_csv is None:
        return []
    from rankwood.callbacks import CSV  # slow to import: --help need not wait for it

    return [CSV(args.log_csv)]


def checkpoint(args: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint of the options; None without --checkpoint."""
    seconds = args.checkpoint_seconds
    if args.checkpoint is None:
        if seconds is not None:
            raise InputError("--checkpoint-seconds needs --checkpoint FILE.")
        return None
    options = {} if seconds is None else {"seconds": seconds}
    return Checkpoint(args.checkpoint, **options)
