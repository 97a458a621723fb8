"""``rankwood train``."""

import argparse
from time import perf_counter
from typing import Any, NamedTuple

from rankwood import metric, objective
from rankwood._core.parts import check_labels
from rankwood.cli import (
    _args,
    _files,
    _neural,
    _parameters,
    _parquet,
    _stream,
    _train_files,
    _train_options,
    _two_stages,
)
from rankwood.cli._train_summary import next_commands, show
from rankwood.data.ranking_data import RankingData
from rankwood.engines import base
from rankwood.training.monitoring import named_records, records_of

_EXAMPLE = """
rankwood train train.txt --valid vali.txt --objective lambdarank-ndcg@10 --model m.json
rankwood train train.txt --model m.json --n-estimators 500 --param reg_lambda=1
rankwood train train.txt --model m.json --objective yetirank --engine catboost
rankwood train train.txt --model m.json --engine neural --architecture attn-din
rankwood train train.txt --valid vali.txt --model m.json --second bi-lambdarank-ndcg@5 --top 20
rankwood train train.txt --model m.json --record effective_pairs --record-file rounds.csv
rankwood train train.txt --valid vali.txt --valid later=new.txt --model m.json --monotone 5=-1 --log-csv rounds.csv
rankwood train a.txt b.txt --stream --valid vali.txt --model m.json --engine xgboost
"""
#: Parameters of Ranker that have an option of their own: type, default and help.
TUNING: dict[str, tuple[Any, Any, str]] = {
    "n_estimators": (
        _args.integer_at_least(1),
        None,
        "largest number of trees (default: 500 with --valid and early stopping, else 100), or of epochs of a network "
        "(default: 100)",
    ),
    "learning_rate": (
        float,
        None,
        "weight of each tree (default: 0.05, but 0.01 for objectives bi-NAME)",
    ),
    "num_leaves": (_args.integer_at_least(2), 31, "largest number of leaves of a tree"),
    "min_child_samples": (_args.integer_at_least(0), 20, "smallest number of documents in a leaf"),
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


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Train a model on a LETOR file."
    parser = _args.command(commands, "train", about, _EXAMPLE, run, show)
    _stream.add(parser)
    parser.add_argument("--model", required=True, metavar="FILE", help="file to write the model to")
    _train_options.add_valid(parser, "for early stopping")
    _args.add_verbosity(parser)
    group = parser.add_argument_group("learning")
    add_learning(group)
    _neural.add(group)
    _train_options.add_constraints(group)
    _add_stopping(group)
    add_other_parameters(group)
    _two_stages.add(parser.add_argument_group("two stages"))
    _add_recording(parser.add_argument_group("recording"))
    _args.add_reading(parser, training=True)
    return parser


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
        default="lightgbm",
        metavar="NAME",
        help="engine that grows the trees: lightgbm, xgboost, catboost, or pairtree for objectives "
        "bi-NAME; or neural for a network (default: lightgbm)",
    )
    for name, (kind, default, text) in TUNING.items():
        option = "--" + name.replace("_", "-")
        text = text if default is None else f"{text} (default: {default})"
        group.add_argument(option, type=kind, default=default, metavar="N", help=text)


def _add_stopping(group: Any) -> None:
    _args.add_names(
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
        type=lambda text: None if text == "none" else _args.integer_at_least(1)(text),
        default=50,
        metavar="N",
        help="stop after N rounds without a better value of the first metric, or none to train all trees (default: 50)",
    )


def add_other_parameters(group: Any) -> None:
    """Add the options for the seed and for parameters without an option of their own."""
    _args.add_seed(group, "random seed")
    group.add_argument(
        "--param",
        type=parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of Ranker or of the engine; may be repeated",
    )


def _add_recording(group: Any) -> None:
    _train_options.add_log(group)
    group.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="file from which a killed run goes on with the same bits; if it exists, the run goes on from it",
    )
    group.add_argument(
        "--checkpoint-seconds",
        type=float,
        metavar="N",
        help="time between two writes of the checkpoint; 0 writes after every round (default: 60)",
    )
    text = "record this for each round: effective_pairs, coherency, coherency@K or seconds; may be repeated"
    _args.add_names(group, "--record", text)
    group.add_argument(
        "--record-file",
        metavar="FILE",
        help="CSV file to write the record to, one line per round; the model contains the record in any case. Without "
        "--record, everything that the objective supports is recorded",
    )


def parameter(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE; the value may be a number, true, false, none, a list or text."""
    return _parameters.parse(text, _OTHER_OPTIONS)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Train and save a model, and return a summary."""
    start = perf_counter()
    _stream.settle(args)
    metrics = args.eval_metric or ["ndcg@10"]
    parts = _checked_parts(args, metrics)
    trees = {name: default for name, (_, default, _) in TUNING.items()}
    ranker = _two_stages.make(args, lambda given: _ranker(given, metrics), trees)
    files = _train_options.valid_files(args.valid)
    _train_options.check_outputs(args, files)
    checkpoint = _train_options.checkpoint(args)
    if args.stream:
        _stream.check(ranker)
    began_reading = perf_counter()
    read = _stream.read_sets if args.stream else _train_options.read_sets
    train, valid = read(args, files)
    _train_options.check_constraints(args, train.n_features)
    _check_labels(args.train, train, parts.objectives)
    for name, data in valid.items():
        _check_labels(files[name], data, parts.metrics)
    reading = perf_counter() - began_reading
    called = _train_options.callbacks(args)
    try:
        ranker.fit(train, valid=valid or None, callbacks=called, checkpoint=checkpoint)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_train_files.rescue(ranker, args)) from None
    _train_files.save(ranker, args)
    last = _two_stages.last_stage(ranker)
    seconds = {"reading": reading, **ranker.seconds_}
    total = perf_counter() - start
    sizes = {name: _files.sizes(files[name], data) for name, data in valid.items()}
    return {
        **_outcome(last),
        "model": args.model,
        "objective": args.objective,
        "engine": args.engine,
        "composition": repr(parts.objectives[0]),
        "second": _two_stages.outcome(args, ranker),
        "train": _files.sizes(args.train, train),
        "valid": next(iter(sizes.values()), None),
        "valid_sets": sizes,
        "n_estimators": _largest(last),
        "resumed_after": getattr(last, "resumed_after_", 0),
        "chosen": getattr(last, "chosen_", {}),
        "record": last.record_,
        "record_file": args.record_file,
        "seconds": {**seconds, "other": total - sum(seconds.values()), "total": total},
        "next": next_commands(args.model, metrics, _parquet.columns(args, args.train_files[0])),
    }


class Parts(NamedTuple):
    """The objectives of the stages, and the metrics."""

    objectives: list[Any]
    metrics: list[Any]


def _checked_parts(args: argparse.Namespace, metrics: list[str]) -> Parts:
    """Return the objectives and the metrics; raise if a name is wrong, before anything is read."""
    trained = objective(args.objective)
    _neural.check_options(args)
    if args.engine != _neural.ENGINE:
        base.check(args.engine, trained)
    measures = [metric(name) for name in metrics]
    named_records(args.record)
    return Parts([trained, *_two_stages.check_options(args)], measures)


def _outcome(ranker: Any) -> dict[str, Any]:
    """Return the number of rounds, the best one, and its metrics."""
    curves = ranker.history_
    return {
        "rounds": max(map(len, curves.values()), default=ranker.best_iteration_),
        "best_iteration": ranker.best_iteration_,
        "valid_metrics": {
            name: curve[ranker.best_iteration_ - 1] for name, curve in curves.items()
        },
    }


def _largest(ranker: Any) -> int:
    """Return the largest number of rounds: given, or chosen by training."""
    given = ranker.get_params()
    wanted = given["epochs"] if "epochs" in given else given["n_estimators"]
    return ranker.chosen_["n_estimators"] if wanted is None else wanted


def _ranker(args: argparse.Namespace, metrics: list[str]) -> Any:
    """Return the ranker of the arguments, of trees or a network."""
    if args.engine == _neural.ENGINE:
        return _neural.make_ranker(args, metrics, TUNING)
    own = _train_options.constraints(args)
    return make_ranker(args, metrics, record=_record(args), verbose=_args.verbosity(args), **own)


def _record(args: argparse.Namespace) -> Any:
    """Return what to record: with a file for it and no choice, everything that the objective supports."""
    if args.record is None and args.record_file is not None:
        return records_of(objective(args.objective))
    return args.record


def make_ranker(args: argparse.Namespace, metrics: list[str], **others: Any) -> Any:
    """Return an unfitted ranker with the parameters that the options have, and others."""
    from rankwood.training.ranker import Ranker  # slow to import: --help need not wait for it

    return Ranker(
        args.objective,
        args.engine,
        **{name: getattr(args, name) for name in TUNING},
        eval_metric=metrics,
        early_stopping_rounds=args.early_stopping_rounds,
        random_state=args.seed,
        n_jobs=args.threads,
        **others,
        **dict(args.param),
    )


def _check_labels(path: str, data: RankingData | None, parts: list[Any]) -> None:
    """Raise, naming the file, if an objective or a metric can't use its labels."""
    if data is None:
        return
    for part in parts:
        with _files.errors_naming(path):
            check_labels(part, data.y)
