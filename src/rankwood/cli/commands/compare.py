"""``rankwood compare``: tests of significance between models, query by query."""

import argparse
import json
import os
from typing import Any

from rich.console import Console

from rankwood import Evaluation, metric, stats
from rankwood._util.atomic import written
from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, evaluated_files, file_access
from rankwood.render import formats as render
from rankwood.report import Comparison, QueryTable, plots
from rankwood.report.comparison import view
from rankwood.report.comparison.columns import records
from rankwood.report.comparison.compare import compare
from rankwood.report.comparison.presets import MARKS, PRESETS, TESTS, ComparisonRules
from rankwood.report.comparison_page import comparison_page

_EXAMPLE = """
rankwood compare test.txt scores_a.txt model_b.json --metric ndcg@10
rankwood compare queries1.csv queries2.csv queries3.csv --baseline queries1 --marks letters
rankwood compare qrels.txt run1.txt run2.txt --metric map --test t
rankwood compare test.txt a.txt b.txt --name old=a.txt --name new=b.txt --format latex --output t.tex
"""
_FORMATS = ("table", "markdown", "latex", "csv", "html", "json")
_WORST = 10  # queries of each model on a page, if --worst doesn't say
_EXTENSIONS = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".html": "html", ".json": "json"}


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Compare models query by query, with tests of significance."
    parser = arguments.command(commands, "compare", about, _EXAMPLE, run, show)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a LETOR, CSV or Parquet file with labels, followed by two or more files of scores (one per line) or "
        "models; or TREC judgments, followed by runs; or tables of queries from rankwood evaluate --per-query",
    )
    default = "ndcg@10, or all metrics of the tables"
    text = f"metric, see rankwood metrics; may be repeated (default: {default})"
    arguments.add_names(parser, "--metric", text)
    evaluated_files.add_model_names(parser)
    _add_test(parser.add_argument_group("test"))
    _add_output(parser.add_argument_group("output"))
    arguments.add_metric_rules(parser.add_argument_group("rules of metrics"))
    arguments.add_reading(parser)
    return parser


def _add_test(group: Any) -> None:
    group.add_argument("--test", choices=TESTS, help="test of significance (default: permutation)")
    group.add_argument(
        "--alternative",
        choices=stats.ALTERNATIVES,
        help="test whether a model is different from the baseline (two-sided), better (greater) or worse (less) "
        "(default: two-sided)",
    )
    group.add_argument(
        "--correct",
        choices=("holm", "bonferroni", "none"),
        help="correction of p-values for the number of tests (default: holm)",
    )
    arguments.add_number(group, "--draws", "number of random draws of a test (default: 10000)")
    arguments.add_seed(group, "seed of random draws")
    group.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        help="test as in this paper; other options take precedence",
    )


def _add_output(group: Any) -> None:
    group.add_argument(
        "--marks",
        choices=MARKS,
        help="stars for models better than the baseline, or letters for all pairs of models (default: stars)",
    )
    group.add_argument(
        "--format",
        choices=_FORMATS,
        help="format of the result (default: by the extension of --output, else table)",
    )
    group.add_argument(
        "--output", metavar="FILE", help="file to write to (default: standard output)"
    )
    group.add_argument(
        "--details", action="store_true", help="add the table of tests to Markdown and LaTeX"
    )
    group.add_argument(
        "--bounds",
        action="store_true",
        help="add rows for a perfect and a random model (needs labels)",
    )
    text = "show the N queries where a model differs most from the baseline"
    arguments.add_number(group, "--movers", text)
    text = f"show the N worst queries of each model (default: none, {_WORST} on a page)"
    arguments.add_number(group, "--worst", text)
    text = "draw each query of a model against the baseline, and a histogram of differences: .png, .svg or .pdf"
    group.add_argument("--plot", metavar="FILE", help=text)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Compare, and return all numbers, or the tables or text to show."""
    labels, files = evaluated_files.split_files(args.files, least=1 if args.bounds else 2)
    names = evaluated_files.name_models(files, args.name)
    metrics = args.metric or (["ndcg@10"] if labels else None)
    for name in (metrics or []) if labels else []:  # tables may have metrics that we don't know
        metric(name)
    if args.output is not None:
        file_access.check_output(args.output, args.files)
    if args.plot is not None:
        _check_plot(args)
    if args.bounds and labels is None:
        raise InputError("--bounds needs labels: give a LETOR file or judgments before the tables.")
    source = evaluated_files.FileEvaluator(labels, args)
    evaluations = {}
    for name, file in names.items():
        with display.status(f"Evaluating {file}"):
            evaluations[name] = source.evaluation(file, metrics)
    with display.status("Comparing"):
        comparison = _compare(args, evaluations, metrics, source)
        queries = _query_tables(args, comparison)
    result = _as_dict(comparison, names, queries)
    if args.plot is not None:
        plots.save(plots.per_query(comparison), args.plot)
        result["plot"] = args.plot
    if args.output is not None:
        written(_text(args, comparison, queries, result), args.output)
        return {**result, "output": args.output}
    if args.json:
        return result
    if _format(args) != "table":
        return {"text": _text(args, comparison, queries, result)}
    shown = [*view.tables(comparison, 4, True), *(q.table() for q in queries)]
    return {"tables": shown, "plot": args.plot}


def _check_plot(args: argparse.Namespace) -> None:
    """Raise, before any long work, if the picture can't be drawn or written."""
    file_access.check_output(args.plot, args.files)
    if os.path.splitext(args.plot)[1].lower() not in plots.FORMATS:
        raise InputError(
            f"--plot {args.plot}: expected a name that ends in {', '.join(plots.FORMATS)}."
        )
    if args.output is not None and os.path.abspath(args.output) == os.path.abspath(args.plot):
        raise InputError("--output and --plot must be different files.")


def _format(args: argparse.Namespace) -> str:
    """Return the format of the result: by --format, else by the extension of the output file."""
    if args.format is not None:
        return str(args.format)
    extension = os.path.splitext(args.output or "")[1].lower()
    return _EXTENSIONS.get(extension, "table")


def _compare(
    args: argparse.Namespace,
    evaluations: dict[str, Evaluation],
    metrics: list[str] | None,
    source: evaluated_files.FileEvaluator,
) -> Comparison:
    rules: ComparisonRules = {
        "test": args.test,
        "alternative": args.alternative,
        "draws": args.draws,
        "seed": args.seed,
        "preset": args.preset,
        "marks": args.marks,
    }
    if args.correct is not None:
        rules["correction"] = None if args.correct == "none" else args.correct
    return compare(
        evaluations,
        args.baseline,
        metrics=metrics,
        references=source.data() if args.bounds else None,
        n_jobs=args.threads,
        **rules,
    )


def _query_tables(args: argparse.Namespace, comparison: Comparison) -> list[QueryTable]:
    """Return the tables of --movers and --worst."""
    base = comparison.rules["baseline"]
    tables = []
    if args.movers:
        tables += [
            comparison.movers(base, m, top=args.movers) for m in comparison.models if m != base
        ]
    if args.worst:
        tables += [comparison.worst(m, top=args.worst) for m in comparison.models]
    return tables


def _as_dict(
    comparison: Comparison, names: dict[str, str], queries: list[QueryTable]
) -> dict[str, Any]:
    """Return all numbers for JSON."""
    tables = [{"title": q.title, "rows": records(q.rows)} for q in queries]
    return {**comparison.to_dict(), "files": names, "queries": tables}


def _text(
    args: argparse.Namespace,
    comparison: Comparison,
    queries: list[QueryTable],
    result: dict[str, Any],
) -> str:
    """Return the comparison in the chosen format."""
    kind = _format(args)
    if kind == "csv":
        return comparison.to_csv()
    if kind == "json":
        return json.dumps(result, indent=2, allow_nan=False) + "\n"
    more = [q.table() for q in queries]
    if kind == "html":
        worst = _WORST if args.worst is None else 0  # those of --worst are among the tables
        return comparison_page(comparison, 4, worst, more)
    tables = [*view.tables(comparison, 4, args.details or kind == "table"), *more]
    return {"markdown": render.markdown, "latex": render.latex, "table": render.plain}[kind](tables)


def show(result: dict[str, Any], out: Console) -> None:
    """Write the tables, the text in another format, or the name of the file that has it."""
    if "output" in result:
        models = plural(len(result["models"]), "model")
        out.print(f"{result['output']}: comparison of {models}", soft_wrap=True)
    elif "text" in result:
        out.file.write(result["text"])
    else:
        for table in result["tables"]:
            display.show_table(out, table, view.DISPENSABLE)
            out.print()
    if result.get("plot"):
        out.print(f"Drawn: {result['plot']}", soft_wrap=True)
