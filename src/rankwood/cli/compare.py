"""``rankwood compare``."""

import argparse
import json
import os
from typing import Any

from rich.console import Console
from rich.text import Text

from rankwood import Evaluation, metric, stats
from rankwood._core.atomic import replacing
from rankwood._core.checks import InputError
from rankwood.cli import _args, _files, _models, _show
from rankwood.metrics.evaluate import CONVENTIONS, EMPTY, TIES
from rankwood.report import Comparison, QueryTable, compare, html, render, view
from rankwood.report.presets import MARKS, PRESETS, TESTS
from rankwood.report.table import Table

_EXAMPLE = """
rankwood compare test.txt scores_a.txt model_b.json --metric ndcg@10
rankwood compare queries1.csv queries2.csv queries3.csv --baseline queries1 --marks letters
rankwood compare qrels.txt run1.txt run2.txt --metric map --test t
rankwood compare test.txt a.txt b.txt --name old=a.txt --name new=b.txt --format latex --output t.tex
"""
_FORMATS = ("table", "markdown", "latex", "csv", "html", "json")
_ENDINGS = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".html": "html", ".json": "json"}


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Describe the command."""
    about = "Compare models query by query, with tests of significance."
    parser = _args.command(commands, "compare", about, _EXAMPLE, run, show)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a LETOR file with labels, then two or more files of scores (one per line) or models; or "
        "TREC judgments, then runs; or tables of queries that rankwood evaluate --per-query wrote",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="call the model of a file so (default: the file's name)",
    )
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="see rankwood metrics; may be repeated (default: ndcg@10, or all of the tables)",
    )
    parser.add_argument("--baseline", metavar="NAME", help="model to compare with (default: first)")
    _add_test(parser.add_argument_group("test"))
    _add_output(parser.add_argument_group("output"))
    group = parser.add_argument_group("rules of metrics, as in rankwood evaluate")
    group.add_argument("--ties", choices=TIES, help="order of equal scores (default: worst)")
    group.add_argument(
        "--empty",
        type=lambda text: int(text) if text in ("0", "1") else text,
        choices=EMPTY,
        help="value of a query without relevant documents, or skip (default: 0)",
    )
    group.add_argument("--convention", choices=tuple(CONVENTIONS), help="rules of a program")
    _args.add_reading(parser)
    return parser


def _add_test(group: Any) -> None:
    group.add_argument("--test", choices=TESTS, help="(default: permutation)")
    group.add_argument(
        "--alternative",
        choices=stats.ALTERNATIVES,
        help="different, better or worse than the baseline (default: two-sided)",
    )
    group.add_argument(
        "--correct",
        choices=("holm", "bonferroni", "none"),
        help="correction for the number of tests (default: holm)",
    )
    group.add_argument(
        "--draws", type=_args.at_least(1), metavar="N", help="random draws (default: 10000)"
    )
    group.add_argument(
        "--seed", type=_args.at_least(0), default=0, metavar="N", help="(default: 0)"
    )
    group.add_argument("--preset", choices=tuple(PRESETS), help="test as this paper does")


def _add_output(group: Any) -> None:
    group.add_argument("--marks", choices=MARKS, help="against the baseline, or among all models")
    group.add_argument(
        "--format", choices=_FORMATS, help="(default: by the ending of --output, else table)"
    )
    group.add_argument("--output", metavar="FILE", help="where it goes (default: standard output)")
    group.add_argument(
        "--details", action="store_true", help="all tests too, in Markdown and LaTeX"
    )
    group.add_argument(
        "--bounds",
        action="store_true",
        help="add a perfect and a random model (needs labels)",
    )
    for option, what in (
        ("--movers", "the queries where a model differs most from the baseline"),
        ("--worst", "the worst queries of each model"),
    ):
        group.add_argument(option, type=_args.at_least(1), metavar="N", help=f"show {what}")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Compare, and return all numbers, or what to show of them."""
    labels, files = _models.split(args.files)
    names = _models.named(files, args.name)
    metrics = args.metric or (["ndcg@10"] if labels else None)
    for name in (metrics or []) if labels else []:  # a table may have names of its own
        metric(name)
    if args.output is not None:
        _files.check_output(args.output, args.files)
    if args.bounds and labels is None:
        raise InputError("--bounds needs labels: give a LETOR file or judgments before the tables.")
    source = _models.Source(labels, args)
    evaluations = {}
    for name, file in names.items():
        with _show.busy(f"Evaluating {file}"):
            evaluations[name] = source.evaluation(file, metrics)
    with _show.busy("Comparing"):
        found = _compare(args, evaluations, metrics, source)
        queries = _queries(args, found)
    numbers = _numbers(found, names, queries)
    if args.output is not None:
        with replacing(args.output) as out:
            out.write(_text(args, found, queries, numbers).encode())
        return {**numbers, "output": args.output}
    if args.json:
        return numbers
    if _kind(args) != "table":
        return {"text": _text(args, found, queries, numbers)}
    return {"tables": [*view.tables(found, 4, True), *(q.table() for q in queries)]}


def _kind(args: argparse.Namespace) -> str:
    if args.format is not None:
        return str(args.format)
    ending = os.path.splitext(args.output or "")[1].lower()
    return _ENDINGS.get(ending, "table")


def _compare(
    args: argparse.Namespace,
    evaluations: dict[str, Evaluation],
    metrics: list[str] | None,
    source: _models.Source,
) -> Comparison:
    correct = {None: "preset", "none": None}.get(args.correct, args.correct)
    return compare(
        evaluations,
        args.baseline,
        test=args.test,
        alternative=args.alternative,
        correct=correct,
        draws=args.draws,
        seed=args.seed,
        preset=args.preset,
        metrics=metrics,
        marks=args.marks,
        bounds=source.data() if args.bounds else None,
        n_jobs=args.threads,
    )


def _queries(args: argparse.Namespace, found: Comparison) -> list[QueryTable]:
    """Return the tables of queries that were asked for."""
    base = found.rules["baseline"]
    made = []
    if args.movers:
        made += [found.movers(base, m, top=args.movers) for m in found.models if m != base]
    if args.worst:
        made += [found.worst(m, top=args.worst) for m in found.models]
    return made


def _numbers(found: Comparison, names: dict[str, str], queries: list[QueryTable]) -> dict[str, Any]:
    return {
        **found.to_dict(),
        "files": names,
        "queries": [
            {
                "title": q.title,
                "rows": [
                    dict(zip(q.rows.dtype.names or (), row, strict=True)) for row in q.rows.tolist()
                ],
            }
            for q in queries
        ],
    }


def _text(
    args: argparse.Namespace,
    found: Comparison,
    queries: list[QueryTable],
    numbers: dict[str, Any],
) -> str:
    """Return the comparison in a format."""
    kind = _kind(args)
    if kind == "csv":
        return found.to_csv()
    if kind == "json":
        return json.dumps(numbers, indent=2, allow_nan=False) + "\n"
    details = args.details or kind in ("table", "html")
    tables = [*view.tables(found, 4, details), *(q.table() for q in queries)]
    if kind == "html":
        return html.page("Comparison of models", tables)
    return {"markdown": render.markdown, "latex": render.latex, "table": render.plain}[kind](tables)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the tables, or the text in another format, or where it is."""
    if "output" in result:
        models = _show.counted(len(result["models"]), "model")
        out.print(f"{result['output']}: comparison of {models}", soft_wrap=True)
        return
    if "text" in result:
        out.file.write(result["text"])
        return
    for table in result["tables"]:
        _show_table(table, out)


def _show_table(table: Table, out: Console) -> None:
    texts = render.padded_marks(table)
    keep = _fitting(table, texts, out.width)
    numbers = table.numeric_columns - (len(table.headings) - len(keep))
    made = _show.table([table.headings[i] for i in keep], [], numbers)
    for place, (row, line) in enumerate(zip(table.rows, texts, strict=True)):
        if place in table.breaks:
            made.add_section()
        made.add_row(*(Text(line[i], "bold green" if row[i].bold else "") for i in keep))
    out.print(table.title, style="bold")
    out.print(made)
    for note in table.notes:
        out.print(note, style="dim")
    out.print()


def _fitting(table: Table, texts: list[list[str]], width: int) -> list[int]:
    """Return the columns that fit side by side; what can be spared goes first."""
    room = [max(map(len, column)) + 3 for column in zip(table.headings, *texts, strict=True)]
    keep = list(range(len(room)))
    for name in view.DISPENSABLE:
        if sum(room[i] for i in keep) > width and name in table.headings:
            keep.remove(table.headings.index(name))
    return keep
