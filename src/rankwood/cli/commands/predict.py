"""``rankwood predict``: scores, or the best documents of each query."""

import argparse
import sys
from typing import Any

from rich.console import Console

from rankwood._util.atomic import written
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, file_access, tables
from rankwood.report.comparison.columns import records

_EXAMPLE = """
rankwood predict m.json test.txt --output scores.txt
rankwood predict m.json test.txt | rankwood evaluate test.txt - --metric ndcg@10
rankwood predict m.json test.txt --top 10 --output best.csv
rankwood predict m.json test.csv --output scores.txt
"""


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Predict a score for each document of a LETOR, CSV or Parquet file, one per line in the order of the file."
    parser = arguments.command(commands, "predict", about, _EXAMPLE, run, show)
    arguments.add_file(parser, "model", "model file written by rankwood train")
    arguments.add_file(
        parser, "data", "LETOR or CSV file, plain or gzipped, or Parquet file; labels aren't needed"
    )
    parser.add_argument(
        "--output", metavar="FILE", help="file to write scores to (default: standard output)"
    )
    text = "write the N best documents of each query, best first, as CSV: qid, rank, row, document, score"
    arguments.add_number(parser, "--top", text)
    arguments.add_reading(parser)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the scores, or write them to the output file if there is one."""
    if args.output is not None:
        file_access.check_output(args.output, [args.model, args.data])
    tables.check_column_options(args, [args.data])
    ranker = file_access.read_model(args.model, args.threads)
    with display.status(f"Scoring {args.data}"):
        needs = _needs(ranker, args)
        data = tables.read_or_stream(args.data, args, ranker.n_features_in_, ranker, needs)
        if args.top is None:
            scores = ranker.predict(data)
            text, values = _lines(scores.tolist()), {"scores": scores.tolist()}
        else:
            ranked = ranker.rank(data, top=args.top)
            text, values = ranked.to_csv(), {"ranking": records(ranked.rows), "top": args.top}
    result = {"model": args.model, "data": file_access.sizes(args.data, data)}
    if args.output is None:
        return {**result, **values, **({} if args.json else {"text": text})}
    written(text, args.output)
    return {**result, "output": args.output, **({} if args.top is None else {"top": args.top})}


def _needs(ranker: Any, args: argparse.Namespace) -> tuple[str, ...]:
    """Return what a table must have: query ids, if the model compares documents or the best of a query are shown."""
    alone = getattr(ranker, "_kind", "") == "Ranker" and not ranker.model_.needs_groups
    return () if alone and args.top is None else ("qid",)


def _lines(scores: list[float]) -> str:
    """Return one number per line, in the shortest form that is read back bit-identical."""
    return "".join(f"{score!r}\n" for score in scores)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the scores or the best documents, or the name of the file that has them."""
    if "text" in result:
        sys.stdout.write(result["text"])
        return
    documents = plural(result["data"]["documents"], "document")
    queries = plural(result["data"]["queries"], "query")
    content = (
        f"the best {result['top']} of {queries}" if "top" in result else f"scores of {documents}"
    )
    out.print(f"{result['output']}: {content}", soft_wrap=True)
