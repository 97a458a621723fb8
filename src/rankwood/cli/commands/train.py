"""``rankwood train``: a model from a LETOR file, or from a stream of files."""

import argparse
from time import perf_counter
from typing import Any, NamedTuple

from rankwood import metric, objective
from rankwood._kernels.parts import check_labels
from rankwood.cli.shared import arguments, file_access, tables
from rankwood.cli.training import neural, options, training_files, tree_rankers, two_stages
from rankwood.cli.training.summary import next_commands, show_summary
from rankwood.data.source import Source
from rankwood.engines import base
from rankwood.fit.observers.recording import named_records

_EXAMPLE = """
rankwood train train.txt --valid vali.txt --objective lambdarank-ndcg@10 --model m.json
rankwood train train.txt --model m.json --n-estimators 500 --param reg_lambda=1
rankwood train train.txt --model m.json --objective yetirank --engine catboost
rankwood train train.txt --model m.json --engine neural --architecture attn-din
rankwood train train.txt --valid vali.txt --model m.json --second bi-lambdarank-ndcg@5 --top 20
rankwood train train.txt --model m.json --record effective_pairs --record-file rounds.csv
rankwood train train.txt --valid vali.txt --valid later=new.txt --model m.json --monotone 5=-1 --log-csv rounds.csv
rankwood train a.csv b.csv --y grade --qid query --categorical shop --valid late.csv --model m.json
rankwood train a.txt b.txt --stream --valid vali.txt --model m.json --engine xgboost
"""


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Train a model on LETOR, CSV or Parquet files."
    parser = arguments.command(commands, "train", about, _EXAMPLE, run, show_summary)
    training_files.add_training_files(parser)
    training_files.add_stream(parser)
    parser.add_argument("--model", required=True, metavar="FILE", help="file to write the model to")
    options.add_valid(parser, "for early stopping")
    arguments.add_verbosity(parser)
    group = parser.add_argument_group("learning")
    options.add_learning(group)
    neural.add_neural_options(group)
    options.add_constraints(group)
    options.add_stopping(group)
    options.add_other_parameters(group)
    stages = parser.add_argument_group("two stages")
    two_stages.add_two_stage_options(stages, "--eval-metric", "--folds")
    options.add_recording(parser.add_argument_group("recording"))
    arguments.add_reading(parser, training=True)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Train and save a model, and return a summary."""
    start = perf_counter()
    training_files.list_training_files(args)
    metrics = args.eval_metric or ["ndcg@10"]
    parts = _checked_parts(args, metrics)
    trees = {name: default for name, (_, default, _) in options.TUNING.items()}
    ranker = two_stages.staged_ranker(args, lambda stage: _ranker(stage, metrics), trees)
    files = training_files.valid_files(args.valid)
    tables.check_column_options(args, [*args.train_files, *files.values()])
    training_files.check_outputs(args, files)
    checkpoint = tree_rankers.checkpoint(args)
    if args.stream:
        training_files.check_streamable(ranker)
    began_reading = perf_counter()
    read = training_files.stream_sets if args.stream else training_files.read_sets
    train, valid = read(args, files)
    tree_rankers.check_constraints(args, train.n_features)
    _check_labels(args.train, train, parts.objectives)
    for name, data in valid.items():
        _check_labels(files[name], data, parts.metrics)
    reading = perf_counter() - began_reading
    callbacks = tree_rankers.callbacks(args)
    try:
        ranker.fit(train, valid=valid or None, callbacks=callbacks, checkpoint=checkpoint)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(training_files.rescue(ranker, args)) from None
    training_files.save_model_and_record(ranker, args)
    last = two_stages.last_stage(ranker)
    seconds = {"reading": reading, **ranker.seconds_}
    total = perf_counter() - start
    sizes = {name: file_access.sizes(files[name], data) for name, data in valid.items()}
    return {
        **_outcome(last),
        "model": args.model,
        "objective": args.objective,
        "engine": two_stages.engine_of(args),
        "composition": repr(parts.objectives[0]),
        "second": two_stages.two_stage_summary(args, ranker),
        "train": file_access.sizes(args.train, train),
        "valid": next(iter(sizes.values()), None),
        "valid_sets": sizes,
        "n_estimators": _largest(last),
        "resumed_after": getattr(last, "resumed_after_", 0),
        "chosen": getattr(last, "chosen_", {}),
        "record": last.record_,
        "record_file": args.record_file,
        "seconds": {**seconds, "other": total - sum(seconds.values()), "total": total},
        "next": next_commands(args.model, metrics),
    }


class Parts(NamedTuple):
    """The objectives of the stages, and the metrics."""

    objectives: list[Any]
    metrics: list[Any]


def _checked_parts(args: argparse.Namespace, metrics: list[str]) -> Parts:
    """Return the objectives and the metrics; raise if a name is wrong, before anything is read."""
    trained = objective(args.objective)
    neural.check_neural_options(args)
    if args.engine != neural.ENGINE:
        base.check(two_stages.engine_of(args), trained)
    measures = [metric(name) for name in metrics]
    named_records(args.record)
    return Parts([trained, *two_stages.check_two_stage_options(args)], measures)


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
    params = ranker.get_params()
    rounds = params["epochs"] if "epochs" in params else params["n_estimators"]
    return ranker.chosen_["n_estimators"] if rounds is None else rounds


def _ranker(args: argparse.Namespace, metrics: list[str]) -> Any:
    """Return the ranker of the arguments, of trees or a network."""
    if args.engine == neural.ENGINE:
        return neural.neural_ranker(args, metrics, options.TUNING)
    return tree_rankers.tree_ranker(
        args,
        metrics,
        record=tree_rankers.curves_to_record(args),
        verbose=arguments.verbosity(args),
        **tree_rankers.constraints(args),
    )


def _check_labels(path: str, data: Source | None, parts: list[Any]) -> None:
    """Raise, naming the file, if an objective or a metric can't use its labels."""
    if data is None:
        return
    for part in parts:
        with file_access.errors_naming(path):
            check_labels(part, data.y)
