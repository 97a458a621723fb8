"""``rankwood export``: a model as a file of another program."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from rankwood._util.checks import InputError
from rankwood._util.text import printable
from rankwood.cli.shared import arguments, display, file_access, tables
from rankwood.forest.export.target_table import TARGETS, target_of

_EXAMPLE = """
rankwood export m.json --format solr -o solr.json --names names.json --check test.txt
rankwood export m.json --format elasticsearch -o es.json --queries queries.json
rankwood export m.json --format ranklib -o m.txt --missing-as-zero
"""


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = (
        "Write a model for another program so that every document keeps its leaves: a search engine, RankLib, ONNX, C, "
        "JSON."
    )
    parser = arguments.command(commands, "export", about, _EXAMPLE, run, show)
    arguments.add_file(parser, "model", "model file written by rankwood train")
    parser.add_argument(
        "--format", metavar="FORMAT", required=True, help=f"what to write: {', '.join(TARGETS)}"
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="file to write")
    text = "JSON file with the target's name of each feature, by the model's own (f1, f2, ... if it has none)"
    parser.add_argument("--names", metavar="FILE", help=text)
    text = "LETOR, CSV or Parquet file with rows to score by the target's rules, from the file that was written"
    parser.add_argument("--check", metavar="FILE", help=text)
    text = "name of the model in the target (default: that of the file)"
    parser.add_argument("--name", metavar="NAME", help=text)
    text = "send missing values where the model sends 0"
    parser.add_argument("--missing-as-zero", action="store_true", help=text)
    text = "add a constant so that no score is negative (default: for ltr-plugin)"
    parser.add_argument("--positive", action=argparse.BooleanOptionalAction, help=text)
    text = "JSON file with Elasticsearch's query of each feature, by its name there"
    parser.add_argument("--queries", metavar="FILE", help=text)
    text = "write thresholds that Solr can't meet, too"
    parser.add_argument("--approximate", action="store_true", help=text)
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    arguments.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Write the file, and return the report."""
    target_of(args.format)
    inputs = [f for f in (args.model, args.names, args.check, args.queries) if f is not None]
    file_access.check_output(args.output, inputs)
    if Path(args.output).exists() and not args.overwrite:
        raise InputError(f"{args.output} exists: give another name, or --overwrite to replace it.")
    ranker = file_access.read_model(args.model, args.threads)
    check = None
    if args.check is not None:
        with display.status(f"Reading {args.check}"):
            check = tables.read_documents(args.check, args, ranker.n_features_in_, ranker, ())
    with display.status(f"Writing {args.output}"):
        report = ranker.export(
            args.output,
            args.format,
            names=_object(args.names, "names"),
            check=check,
            name=args.name,
            missing="zero" if args.missing_as_zero else "model",
            positive=args.positive,
            queries=_object(args.queries, "queries"),
            approximate=args.approximate,
            overwrite=args.overwrite,
        )
    facts = {} if args.json else {"facts": report.facts()}
    return {"model": args.model, **report.to_dict(), **facts}


def _object(path: str | None, content: str) -> Any:
    """Return the object of a JSON file; a list will do for names."""
    if path is None:
        return None
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON, expected an object with {content}.") from None
    if not isinstance(value, dict) and not (content == "names" and isinstance(value, list)):
        raise InputError(f"{path} has no JSON object, expected one with {content} of features.")
    return value


def show(result: dict[str, Any], out: Console) -> None:
    """Write the report; the line that uses the file can be copied."""
    out.print(f"Export to {result['target']}", style="bold")
    *facts, (_, upload) = result["facts"]
    out.print(display.fact_table(facts))
    out.print(printable(upload), style="cyan", soft_wrap=True, markup=False)
