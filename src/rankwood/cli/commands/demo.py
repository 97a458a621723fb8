"""``rankwood demo``: train and evaluate on a data set that comes with the library."""

import argparse
import shlex
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console

from rankwood import evaluate, save_letor
from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, file_access
from rankwood.data.demo import PARTS, load_demo
from rankwood.data.ranking_data import RankingData
from rankwood.render.table import Cell, Table

_EXAMPLE = """
rankwood demo
rankwood demo --keep demo
"""
_METRICS = ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "dcg@10"]
_MAIN_METRIC = "ndcg@10"
_OBJECTIVE = "lambdarank-ndcg@10"


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Train LambdaMART on a small data set that comes with Rankwood."
    parser = arguments.command(commands, "demo", about, _EXAMPLE, run, show)
    parser.add_argument(
        "--keep", metavar="DIR", help="directory to write the data and the model to"
    )
    arguments.add_threads(parser)
    arguments.add_verbosity(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Train, and compare with two orders that need no training."""
    paths = None if args.keep is None else _files_to_keep(Path(args.keep))
    with display.status("Getting ready (the first time takes a while)", arguments.verbosity(args)):
        from rankwood.fit.precompile import compiling

        with compiling(_OBJECTIVE):
            from rankwood.estimators.ranker import Ranker

            train, valid, test = (load_demo(part) for part in PARTS)
            feature, sign = _best_feature(train, args.threads)
            evaluate(_METRICS, test, np.zeros(len(test)), n_jobs=args.threads)  # compiled for later
    start = perf_counter()
    ranker = Ranker(_OBJECTIVE, n_jobs=args.threads, verbose=arguments.verbosity(args))
    ranker.fit(train, valid=valid)
    seconds = perf_counter() - start
    if paths is not None:
        _keep(paths, {"train": train, "valid": valid, "test": test}, ranker)
    orders = {
        "order of the file, untrained": -np.arange(len(test), dtype=float),
        f"best single feature (f{feature + 1})": sign * _column(test, feature),
        f"LambdaMART ({plural(ranker.best_iteration_, 'tree')})": ranker.predict(test),
    }
    means = {
        name: evaluate(_METRICS, test, scores, n_jobs=args.threads).mean()
        for name, scores in orders.items()
    }
    return {
        "data": {
            p: file_access.sizes(p, d) for p, d in zip(PARTS, (train, valid, test), strict=True)
        },
        "test_metrics": means,
        "best_iteration": ranker.best_iteration_,
        "seconds": seconds,
        "kept": None if paths is None else {part: str(path) for part, path in paths.items()},
        "next": _next_commands(paths),
    }


def _best_feature(train: RankingData, threads: int | None) -> tuple[int, float]:
    """Return the feature that ranks the training data best, and 1 or -1 for its direction."""

    def quality(choice: tuple[int, float]) -> float:
        feature, sign = choice
        ev = evaluate(_MAIN_METRIC, train, sign * _column(train, feature), n_jobs=threads)
        return ev.mean()[_MAIN_METRIC]

    return max(((j, sign) for j in range(train.n_features) for sign in (1.0, -1.0)), key=quality)


def _column(data: RankingData, feature: int) -> np.ndarray:
    return np.nan_to_num(np.asarray(data.X[:, feature], dtype=np.float64))


def _files_to_keep(folder: Path) -> dict[str, Path]:
    """Return the files to write; raise if one exists already."""
    names = {**{part: folder / f"{part}.txt" for part in PARTS}, "model": folder / "model.json"}
    there = next((path for path in names.values() if path.exists()), None)
    if there is not None:
        raise InputError(f"{there} exists already, expected a directory that is new or empty.")
    folder.mkdir(parents=True, exist_ok=True)
    for path in names.values():
        file_access.check_output(str(path), [])
    return names


def _keep(names: dict[str, Path], parts: dict[str, RankingData], ranker: Any) -> None:
    for part, data in parts.items():
        save_letor(data, names[part])
    ranker.save(names["model"])


def _next_commands(paths: dict[str, Path] | None) -> list[str]:
    if paths is None:
        return ["rankwood demo --keep demo", "rankwood objectives", "rankwood train --help"]
    train, valid, test, model = (str(paths[n]) for n in ("train", "valid", "test", "model"))
    mine = str(paths["model"].with_name("mine.json"))
    return [
        shlex.join(["rankwood", "evaluate", test, model, "--metric", "ndcg@10"]),
        shlex.join(["rankwood", "train", train, "--valid", valid, "--model", mine]),
    ]


def show(result: dict[str, Any], out: Console) -> None:
    """Write the table of test metrics."""
    sizes = result["data"]
    out.print(
        f"Trained on {plural(sizes['train']['queries'], 'query')}, stopped early by "
        f"{sizes['valid']['queries']} others, tested on another {sizes['test']['queries']}: "
        f"{result['seconds']:.1f} seconds."
    )
    *untrained, trained = (
        [name, *(f"{mean:.4f}" for mean in means.values())]
        for name, means in result["test_metrics"].items()
    )
    rows = [*(list(map(Cell, row)) for row in untrained), [Cell(t, bold=True) for t in trained]]
    headings = ["order of the test documents by", *_METRICS]
    display.show_table(out, Table("", headings, rows, len(_METRICS)))
    if result["kept"]:
        out.print(f"Kept: {', '.join(result['kept'].values())}", soft_wrap=True)
    display.next_lines(out, result["next"])
