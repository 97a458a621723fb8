"""``rankwood predict``."""

import argparse
import sys
from typing import Any

from rich.console import Console

from rankwood._core.atomic import replacing
from rankwood._core.text import plural
from rankwood.cli import _args, _files, _show

_EXAMPLE = """
rankwood predict m.json test.txt --output scores.txt
rankwood predict m.json test.txt | rankwood evaluate test.txt - --metric ndcg@10
"""


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = (
        "Predict a score for each document of a LETOR file, one per line in the order of the file."
    )
    parser = _args.command(commands, "predict", about, _EXAMPLE, run, show)
    _args.add_file(parser, "model", "model file written by rankwood train")
    _args.add_file(parser, "data", "LETOR file, plain or gzipped")
    parser.add_argument(
        "--output", metavar="FILE", help="file to write scores to (default: standard output)"
    )
    _args.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the scores, or write them to the output file if there is one."""
    if args.output is not None:
        _files.check_output(args.output, [args.model, args.data])
    ranker = _files.load_model(args.model, args.threads)
    with _show.status(f"Scoring {args.data}"):
        data = _files.read_data(args.data, args, ranker.n_features_in_, ranker)
        scores = ranker.predict(data).tolist()
    result = {"model": args.model, "data": _files.sizes(args.data, data)}
    if args.output is None:
        return {**result, "scores": scores}
    with replacing(args.output) as file:
        file.write(_lines(scores).encode())
    return {**result, "output": args.output}


def _lines(scores: list[float]) -> str:
    """Return one number per line, in the shortest form that is read back as the same bits."""
    return "".join(f"{score!r}\n" for score in scores)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the scores, or the name of the file that has them."""
    if "scores" in result:
        sys.stdout.write(_lines(result["scores"]))
        return
    documents = plural(result["data"]["documents"], "document")
    out.print(f"{result['output']}: scores of {documents}", soft_wrap=True)
