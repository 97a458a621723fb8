"""``rankwood train``."""

import argparse
import ast
import os
import shlex
from time import perf_counter
from typing import Any

from rich.console import Console

from rankwood import metric, objective
from rankwood._core.atomic import replacing
from rankwood._core.checks import InputError
from rankwood._core.jit import check_labels
from rankwood.cli import _args, _files, _show
from rankwood.data.ranking_data import RankingData
from rankwood.engines import base
from rankwood.training import model_file
from rankwood.training.monitoring import named_records, records_of

_EXAMPLE = """
rankwood train train.txt --valid vali.txt --objective lambdarank-ndcg@10 --model m.json
rankwood train train.txt --model m.json --n-estimators 500 --param reg_lambda=1
rankwood train train.txt --model m.json --objective yetirank --engine catboost
rankwood train train.txt --model m.json --record effective_pairs --record-file rounds.csv
"""
#: Parameters of Ranker with an option of their own: type, default and what the option does.
TUNING: dict[str, tuple[Any, Any, str]] = {
    "n_estimators": (_args.at_least(1), 100, "number of trees, at most"),
    "learning_rate": (float, None, "weight of each tree (default: 0.1, and 0.01 for bi-...)"),
    "num_leaves": (_args.at_least(2), 31, "leaves of a tree, at most"),
    "min_child_samples": (_args.at_least(0), 20, "documents in a leaf, at least"),
}
# Set through other options, so `--param` leaves them alone.
_ELSEWHERE = {
    "objective": "--objective",
    "engine": "--engine",
    "eval_metric": "--eval-metric",
    "early_stopping_rounds": "--early-stopping-rounds",
    "random_state": "--seed",
    "record": "--record",
    "n_jobs": "--threads",
    "verbose": "--verbose or --quiet",
    **{name: "--" + name.replace("_", "-") for name in TUNING},
}


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "Train a model on a LETOR file."
    parser = _args.command(commands, "train", about, _EXAMPLE, run, show)
    parser.add_argument("train", metavar="TRAIN", help="LETOR file to learn from, plain or gzip")
    parser.add_argument("--model", required=True, metavar="FILE", help="where the model goes")
    parser.add_argument("--valid", metavar="FILE", help="LETOR file to stop by")
    _args.add_volume(parser)
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--objective",
        default="lambdarank-ndcg@10",
        metavar="NAME",
        help="see rankwood objectives (default: lambdarank-ndcg@10)",
    )
    group.add_argument(
        "--engine",
        default="lightgbm",
        metavar="NAME",
        help="what grows the trees: lightgbm, xgboost, catboost, or pairtree for objectives bi-NAME "
        "(default: lightgbm)",
    )
    for name, (kind, default, text) in TUNING.items():
        option = "--" + name.replace("_", "-")
        text = text if default is None else f"{text} (default: {default})"
        group.add_argument(option, type=kind, default=default, metavar="N", help=text)
    _add_stopping(group)
    group.add_argument(
        "--seed", type=_args.at_least(0), default=0, metavar="N", help="(default: 0)"
    )
    group.add_argument(
        "--param",
        type=parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of Ranker or the engine; may be repeated",
    )
    _add_recording(parser)
    reading = _args.add_reading(parser)
    reading.add_argument(
        "--features",
        type=_args.at_least(1),
        metavar="N",
        help="number of features (default: that of the wider file)",
    )
    return parser


def _add_stopping(group: Any) -> None:
    group.add_argument(
        "--eval-metric",
        action="append",
        metavar="NAME",
        help="metric of each round, see rankwood metrics; the first of several decides when to stop "
        "(default: ndcg@10)",
    )
    group.add_argument(
        "--early-stopping-rounds",
        type=lambda text: None if text == "none" else _args.at_least(1)(text),
        default=50,
        metavar="N",
        help="rounds without a better first metric before training stops, or none (default: 50)",
    )


def _add_recording(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("recording")
    group.add_argument(
        "--record",
        action="append",
        metavar="NAME",
        help="what to record of each round: effective_pairs, coherency or seconds; may be repeated",
    )
    group.add_argument(
        "--record-file",
        metavar="FILE",
        help="where the record goes as CSV, one line per round (default: into the model); without --record "
        "everything that the objective has is recorded",
    )


def parameter(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; the value may be a number, true, false, none, a list or text."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    if name in _ELSEWHERE:
        raise argparse.ArgumentTypeError(f"{name} has an option of its own: {_ELSEWHERE[name]}")
    words = {"true": True, "false": False, "none": "none" if name in base.NONE_IS_A_WORD else None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Train, save, and say how it went."""
    start = perf_counter()
    metrics = args.eval_metric or ["ndcg@10"]
    # Everything that can be wrong with the request comes before the long part.
    parts = [objective(args.objective)]
    base.check(args.engine, parts[0])
    measures = [metric(name) for name in metrics]
    named_records(args.record)
    inputs = [args.train] if args.valid is None else [args.train, args.valid]
    _files.check_output(args.model, inputs)
    if args.record_file is not None:
        _files.check_output(args.record_file, [*inputs, args.model])
        if os.path.abspath(args.record_file) == os.path.abspath(args.model):
            raise InputError(f"{args.model} is to be the model and the record: give two names.")
    began = perf_counter()
    train, valid = _read(args)
    _check_labels(args.train, train, parts)
    _check_labels(args.valid, valid, measures)
    reading = perf_counter() - began
    ranker = _ranker(args, metrics)
    try:
        ranker.fit(train, valid=valid)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_rescue(ranker, args)) from None
    _save(ranker, args)
    seconds = {"reading": reading, **ranker.seconds_}
    total = perf_counter() - start
    return {
        **_outcome(ranker),
        "model": args.model,
        "objective": args.objective,
        "engine": args.engine,
        "composition": repr(ranker.objective_),
        "train": _files.described(args.train, train),
        "valid": None if valid is None else _files.described(args.valid, valid),
        "n_estimators": args.n_estimators,
        "record": ranker.record_,
        "record_file": args.record_file,
        "seconds": {**seconds, "other": total - sum(seconds.values()), "total": total},
        "next": _next(args, metrics),
    }


def _outcome(ranker: Any) -> dict[str, Any]:
    curves = ranker.history_
    return {
        "rounds": max(map(len, curves.values()), default=ranker.best_iteration_),
        "best_iteration": ranker.best_iteration_,
        "valid_metrics": {
            name: curve[ranker.best_iteration_ - 1] for name, curve in curves.items()
        },
    }


def _recorded(args: argparse.Namespace) -> list[str] | None:
    """Return what to record: what is asked for, or all that the objective has if there is only a file for it."""
    if args.record is None and args.record_file is not None:
        return records_of(objective(args.objective))
    return args.record


def _ranker(args: argparse.Namespace, metrics: list[str]) -> Any:
    from rankwood.training.ranker import Ranker  # takes a second that --help need not wait for

    return Ranker(
        args.objective,
        args.engine,
        **{name: getattr(args, name) for name in TUNING},
        eval_metric=metrics,
        early_stopping_rounds=args.early_stopping_rounds,
        random_state=args.seed,
        n_jobs=args.threads,
        record=_recorded(args),
        verbose=_args.volume(args),
        **dict(args.param),
    )


def _read(args: argparse.Namespace) -> tuple[RankingData, RankingData | None]:
    """Read both files with the number of features of the wider one."""

    def load(path: str, n_features: int | None) -> RankingData:
        with _show.busy(f"Reading {path}", _args.volume(args)):
            return _files.read_data(path, args, n_features)

    train = load(args.train, args.features)
    if args.valid is None:
        return train, None
    valid = load(args.valid, args.features)
    if valid.n_features < train.n_features:
        valid = load(args.valid, train.n_features)
    elif train.n_features < valid.n_features:
        train = load(args.train, valid.n_features)
    return train, valid


def _check_labels(path: str, data: RankingData | None, parts: list[Any]) -> None:
    """Raise, with the name of the file, unless an objective or metrics can use its labels."""
    if data is None:
        return
    for part in parts:
        with _files.named(path):
            check_labels(part, data.y)


def _save(ranker: Any, args: argparse.Namespace) -> None:
    """Write the model, and the record if it has a file of its own."""
    # Other files for this model are read in the same way as the training data.
    model_file.write(ranker, args.model, letor=_files.reading(args))
    if args.record_file is None:
        return
    columns = {"round": range(1, 1 + max(map(len, ranker.record_.values()), default=0))}
    columns |= ranker.record_
    lines = [columns, *zip(*columns.values(), strict=True)]
    with replacing(args.record_file) as file:
        file.write("".join(",".join(map(str, line)) + "\n" for line in lines).encode())


def _rescue(ranker: Any, args: argparse.Namespace) -> str:
    """Save what an interrupted run has, and say what that is."""
    if not hasattr(ranker, "model_"):
        return "interrupted before the first tree; nothing was saved."
    _save(ranker, args)
    trees = _show.counted(ranker.best_iteration_, "tree")
    return f"interrupted; the model so far, {trees}, is saved in {args.model}."


def _next(args: argparse.Namespace, metrics: list[str]) -> list[str]:
    measures = [word for name in metrics for word in ("--metric", name)]
    return [
        shlex.join(["rankwood", "predict", args.model, "TEST", "--output", "scores.txt"]),
        shlex.join(["rankwood", "evaluate", "TEST", args.model, *measures]),
    ]


def show(result: dict[str, Any], out: Console) -> None:
    """Write the summary."""
    best, rounds = result["best_iteration"], result["rounds"]
    seconds = dict(result["seconds"])
    total = seconds.pop("total")
    rows = [("Training", _size(result["train"]))]
    if result["valid"]:
        rows.append(("Validation", _size(result["valid"])))
    rows += [("Objective", result["objective"]), ("Engine", result["engine"])]
    rounds_text = f"{rounds} of {result['n_estimators']}"
    rows.append(("Rounds", rounds_text + (f", best {best}" if result["valid"] else "")))
    rows += [(name, f"{mean:.4f} on validation") for name, mean in result["valid_metrics"].items()]
    parts = ", ".join(f"{name} {spent:.2f}" for name, spent in seconds.items())
    rows.append(("Seconds", f"{total:.2f} ({parts})"))
    rows += _curves(result)
    rows.append(("Model", f"{result['model']}, {_show.counted(best, 'tree')}"))
    out.print(_show.facts(rows))
    _show.next_lines(out, result["next"])


def _curves(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the shares that were recorded, at both ends, and where all rounds are."""
    names = {
        "effective_pairs": "Effective pairs",
        "incoherent": "Incoherent queries",
        "false_over_missed": "False over missed",
    }
    record = result["record"]
    ends = {title: (record[n][0], record[n][-1]) for n, title in names.items() if record.get(n)}
    rows = [(title, f"{a:.2%} at first, {b:.2%} at last") for title, (a, b) in ends.items()]
    if result["record_file"]:
        rows.append(("Record", result["record_file"]))
    return rows


def _size(data: dict[str, Any]) -> str:
    sizes = (_show.counted(data[n], n[:-1]) for n in ("documents", "features"))
    return ", ".join([f"{data['file']}: {_show.counted(data['queries'], 'query')}", *sizes])
