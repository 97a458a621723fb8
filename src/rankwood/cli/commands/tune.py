"""``rankwood tune``: a search for the parameters with the best validation metric."""

import argparse
import os
from pathlib import Path
from typing import Any

from rich.console import Console

from rankwood import evaluate, metric, objective
from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError, nearest
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, file_access, tables
from rankwood.cli.training import neural, options, training_files, tree_rankers, two_stages
from rankwood.cli.training.summary import next_commands
from rankwood.engines import base
from rankwood.render import theme

_EXAMPLE = """
rankwood tune train.txt --valid vali.txt --model best.json --trials 40 --storage study.db
rankwood tune train.txt --valid vali.txt --test test.txt --model best.json --output tuning.html
rankwood tune train.txt --valid vali.txt --model best.json --engine neural --architecture gsf
rankwood tune train.txt --valid vali.txt --model best.json --second bi-lambdarank-ndcg@5 --space space.txt
rankwood tune train.txt --folds 5 --model best.json --tuner cfo --space lambdagap-2025 --objective lambdagap-x@5
"""
# The library's own lists take a second to import, for which --help need not wait.
_TUNERS = ("tpe", "random", "random+gp", "cfo")
_PRUNERS = ("median", "hyperband", "none")
_ROWS = 10  # trials that are shown on a terminal; the output file and --json have all


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Search for the parameters with the best validation metric."
    parser = arguments.command(commands, "tune", about, _EXAMPLE, run, show)
    training_files.add_training_files(parser)
    options.add_valid(parser, "to compare trials on")
    text = "cross-validate by query with N folds, in place of --valid"
    arguments.add_number(parser, "--folds", text, low=2)
    text = "LETOR, CSV or Parquet file to evaluate the best model on, once, at the end"
    parser.add_argument("--test", metavar="FILE", help=text)
    parser.add_argument("--model", metavar="FILE", help="file to write the best model to")
    text = "page of the study to write: HTML, or Markdown if it ends in .md"
    parser.add_argument("--output", metavar="FILE", help=text)
    arguments.add_verbosity(parser)
    _add_search(parser.add_argument_group("search"))
    group = parser.add_argument_group("learning, as far as it isn't tuned")
    options.add_learning(group)
    neural.add_neural_options(group)
    options.add_patience(group)
    options.add_other_parameters(group)
    two_stages.add_two_stage_options(parser.add_argument_group("two stages"), "--metric")
    arguments.add_metric_rules(parser.add_argument_group("rules of metrics"))
    arguments.add_reading(parser, training=True)
    return parser


def _add_search(group: Any) -> None:
    group.add_argument(
        "--space",
        default="default",
        metavar="NAME",
        help="what to tune: default, lambdagap-2025, which-tricks-2023, bivariate-2024, or a file with "
        "Space({...}) (default: default)",
    )
    text = "optimiser (default: tpe)"
    group.add_argument("--tuner", choices=_TUNERS, default="tpe", help=text)
    text = "first trial: own, with the parameters of the options, or none, with those that the optimiser proposes"
    group.add_argument(
        "--start", choices=("own", "none"), default="own", help=f"{text} (default: own)"
    )
    text = "number of trials, those in the storage included (default: 40)"
    arguments.add_number(group, "--trials", text, default=40)
    text = "time limit: begin no trial after the finished ones have taken S seconds"
    group.add_argument("--seconds", type=float, metavar="S", help=text)
    text = "metric to tune; if repeated, the first one decides (default: ndcg@10)"
    arguments.add_names(group, "--metric", text)
    text = "file that keeps finished trials; if it exists, its study is resumed"
    group.add_argument("--storage", metavar="FILE", help=text)
    group.add_argument(
        "--pruner",
        choices=_PRUNERS,
        default="median",
        help="rule by which poor trials are stopped early (default: median)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Tune, write the best model and the page, and return a summary."""
    training_files.list_training_files(args)
    metrics = args.metric or ["ndcg@10"]
    _check_names(args, metrics)
    ranker = _ranker(args, metrics)
    files = training_files.valid_files(args.valid)
    tables.check_column_options(args, [*args.train_files, *files.values(), args.test])
    _check_outputs(args, files)
    data, valid = training_files.read_sets(args, files)
    from rankwood.tuning import TuningInterrupt, tune  # slow to import: --help need not wait for it

    try:
        tuning = tune(
            ranker,
            data,
            valid or None,
            space=_space(args.space),
            tuner=args.tuner,
            start=None if args.start == "none" else args.start,
            trials=args.trials,
            seconds=args.seconds,
            seed=args.seed,
            storage=args.storage,
            metric=metrics,
            convention=args.convention,
            ties=args.ties,
            empty=args.empty,
            folds=args.folds,
            pruner=None if args.pruner == "none" else args.pruner,
            verbose=arguments.verbosity(args),
        )
    except TuningInterrupt as stop:
        raise KeyboardInterrupt(_rescue(stop, args)) from None
    _write(tuning, args)
    sizes = {name: file_access.sizes(files[name], part) for name, part in valid.items()}
    return _summary(tuning, args, file_access.sizes(args.train, data), sizes, metrics)


def _ranker(args: argparse.Namespace, metrics: list[str]) -> Any:
    """Return the unfitted ranker of the options: trees, a network, or two stages."""

    def make(stage: argparse.Namespace) -> Any:
        if stage.engine != neural.ENGINE:
            return tree_rankers.tree_ranker(stage, metrics)
        known = argparse.Namespace(**{**vars(stage), "record": None, "record_file": None})
        return neural.neural_ranker(known, metrics, options.TUNING)

    defaults = {name: default for name, (_, default, _) in options.TUNING.items()}
    return two_stages.staged_ranker(args, make, defaults)


def _check_names(args: argparse.Namespace, metrics: list[str]) -> None:
    """Raise if a name is wrong, before anything is read."""
    wanted = objective(args.objective)
    if args.engine != neural.ENGINE:
        base.check(two_stages.engine_of(args), wanted)
        if args.architecture is not None:
            raise InputError("--architecture needs --engine neural.")
    for name in metrics:
        metric(name)
    two_stages.check_two_stage_options(args)
    if args.second is not None and args.valid is None:
        raise InputError(
            "two stages have folds of their own (--first-folds): give --valid FILE, by which trials are compared."
        )
    if (args.valid is None) == (args.folds is None):
        raise InputError("give either --valid FILE or --folds N, by which trials are compared.")


def _check_outputs(args: argparse.Namespace, files: dict[str, str]) -> None:
    """Raise if a file can't be written, before anything is read."""
    inputs = [path for path in (*args.train_files, *files.values(), args.test) if path is not None]
    outputs = [path for path in (args.model, args.output, args.storage) if path is not None]
    for path in outputs:
        file_access.check_output(path, inputs)
    if len({os.path.abspath(path) for path in outputs}) < len(outputs):
        raise InputError("--model, --output and --storage must be different files.")
    if args.output is not None and not _is_markdown(args.output):
        theme.check_installed()


def _is_markdown(path: str) -> bool:
    """Return whether the page of a study is written as Markdown, not as HTML."""
    return path.lower().endswith(".md")


def _space(text: str) -> Any:
    """Return the name of a space, or the space in a file."""
    from rankwood import spaces

    names = ["default", *spaces.names()]
    if text in names:
        return text
    if not Path(text).is_file():
        raise InputError(f"there is no space and no file {text!r}{nearest(text, names)}")
    return spaces.read(text)


def _write(tuning: Any, args: argparse.Namespace) -> None:
    """Write the best model and the page, if they have a file."""
    if args.model is not None:
        tuning.best._save_with(args.model, training_files.reading_of_training(args))
    if args.output is not None:
        text = tuning.to_markdown() if _is_markdown(args.output) else tuning.to_html()
        with replacing(args.output) as out:
            out.write(text.encode())


def _rescue(stop: Any, args: argparse.Namespace) -> str:
    """Write the best model of an interrupted study if there is one, and return a message about it."""
    if args.model is None or stop.tuning.fitted is None:
        return str(stop)
    stop.tuning.fitted._save_with(args.model, training_files.reading_of_training(args))
    return f"{str(stop).rstrip('.')}; its model is saved in {args.model}."


def _summary(
    tuning: Any,
    args: argparse.Namespace,
    data: dict[str, Any],
    valid: dict[str, dict[str, Any]],
    metrics: list[str],
) -> dict[str, Any]:
    """Return all numbers; `data` and `valid` have the sizes of files."""
    from rankwood.report.comparison.columns import records
    from rankwood.tuning import page

    states = ("complete", "pruned", "failed")
    test = None if args.test is None else _test(tuning.best, args, metrics)
    return {
        "metric": tuning.metric,
        "best_value": tuning.best_value,
        "best_trial": tuning.best_trial,
        "best_params": tuning.best_params,
        "trees": two_stages.last_stage(tuning.best).best_iteration_,
        "ties": tuning.ties,
        "counts": {state: tuning.count(state) for state in states},
        "space": repr(tuning.space),
        "tuner": args.tuner,
        "train": data,
        "valid": next(iter(valid.values()), None),
        "valid_sets": valid,
        "folds": args.folds,
        "test": test,
        "trials": records(tuning.trials),
        "model": args.model,
        "output": args.output,
        "storage": args.storage,
        "next": [] if args.model is None else next_commands(args.model, metrics),
        **({} if args.json else {"tables": page.tables(tuning, _ROWS)}),
    }


def _test(ranker: Any, args: argparse.Namespace, metrics: list[str]) -> dict[str, Any]:
    """Return the metrics of the best model on the test file, which is read only here."""
    data = tables.read_documents(args.test, args, ranker.n_features_in_, ranker)
    rules = {"ties": args.ties, "empty": args.empty, "convention": args.convention}
    evaluation = evaluate(metrics, data, ranker.predict(data), n_jobs=args.threads, **rules)
    return {**file_access.sizes(args.test, data), "metrics": evaluation.mean()}


def show(result: dict[str, Any], out: Console) -> None:
    """Write the best parameters, the best trials, and the metrics on the test file."""
    for table in result["tables"]:
        display.show_table(out, table, ("seconds",))
        out.print()
    rows = [("Tuner", result["tuner"])]
    if result["test"]:
        test = result["test"]
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in test["metrics"].items())
        rows.append(("Test", f"{test['file']}, {plural(test['queries'], 'query')}: {means}"))
    for name in ("model", "output", "storage"):
        if result[name]:
            rows.append((name.capitalize(), result[name]))
    out.print(display.fact_table(rows))
    if result["next"]:
        display.next_lines(out, result["next"])
