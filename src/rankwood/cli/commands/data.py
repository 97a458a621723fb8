"""``rankwood data``: the catalogue of public data sets, descriptions, checks and conversions."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from rankwood._util.atomic import replacing
from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display, file_access
from rankwood.datasets.conversion import FORMATS, convert
from rankwood.datasets.count_check import check
from rankwood.datasets.description import Description, describe
from rankwood.datasets.description_views import description_tables
from rankwood.datasets.public_sets import DataSet, catalogue, find
from rankwood.render import theme
from rankwood.report import plots

_EXAMPLE = """
rankwood data list
rankwood data describe ~/data/MQ2008 --output mq2008.html
rankwood data check mslr30k ~/data/MSLR-WEB30K
rankwood data convert train.txt train.parquet
"""
_TEXTS: dict[str, Callable[[Description], str]] = {
    ".html": Description.to_html,
    ".md": Description.to_markdown,
    ".txt": str,
}
_OUTPUTS = (*_TEXTS, *plots.FORMATS)


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its own commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "data",
        help="list, describe, check and convert data sets",
        description="List, describe, check and convert data sets.",
        **arguments.form(_EXAMPLE),
    )
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(subcommands)
    _add_describe(subcommands)
    _add_check(subcommands)
    _add_convert(subcommands)
    return parser


def _add_list(commands: arguments.Commands) -> None:
    about = (
        "List the public data sets in the catalogue, with their files and where to ask for them."
    )
    parser = arguments.command(commands, "list", about, "rankwood data list", run_list, show_list)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="show all that is known of this one"
    )


def _add_describe(commands: arguments.Commands) -> None:
    about = "Describe a data set: sizes, labels, lists, features, signs of leaks, and advice."
    example = (
        "rankwood data describe ~/data/MQ2008\nrankwood data describe train.txt --output train.html"
    )
    parser = arguments.command(commands, "describe", about, example, run_describe, show_describe)
    arguments.add_file(parser, "path", "folder in a known layout (its first fold), or LETOR file")
    _add_name(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"page, text or picture to write, which must end in {', '.join(_OUTPUTS)}",
    )
    _add_absent(parser)
    _add_cache_and_threads(parser)


def _add_check(commands: arguments.Commands) -> None:
    about = "Compare a folder with the published counts of a data set; exit with 1 if they differ."
    example = "rankwood data check mslr30k ~/data/MSLR-WEB30K"
    parser = arguments.command(commands, "check", about, example, run_check, show_check)
    parser.set_defaults(exit_code=lambda result: 0 if result["agrees"] else 1)
    parser.add_argument("name", metavar="NAME", help="name of the data set, see rankwood data list")
    arguments.add_file(parser, "folder", "folder that holds its files, as they are distributed")
    _add_cache_and_threads(parser)


def _add_convert(commands: arguments.Commands) -> None:
    about = "Write ranking data in another format."
    example = "rankwood data convert train.txt train.parquet\nrankwood data convert rank.train train.txt.gz"
    parser = arguments.command(commands, "convert", about, example, run_convert, show_convert)
    text = "LETOR text, CSV, Parquet, lines with a .query file beside them, or .npz"
    arguments.add_file(parser, "source", text)
    text = (
        "file to write; .csv, .csv.gz, .parquet and .npz choose the format, else it is LETOR text"
    )
    arguments.add_file(parser, "target", text)
    parser.add_argument(
        "--to", choices=FORMATS, help="format, if the ending of TARGET doesn't determine it"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument("--sparse", action="store_true", help="leave zeros out of text")
    for option, content in (("--y", "labels"), ("--qid", "query ids")):
        text = (
            f"column of the {content} in a CSV or Parquet file (default: the one with a usual name)"
        )
        parser.add_argument(option, metavar="COLUMN", help=text)
    _add_absent(parser)
    arguments.add_threads(parser)


def _add_name(parser: argparse.ArgumentParser) -> None:
    text = "name in the catalogue: which of several sets in the folder, and how it is read"
    parser.add_argument("--name", metavar="NAME", help=text)


def _add_absent(parser: argparse.ArgumentParser) -> None:
    text = "value of a feature that a line does not list: 0, or nan for missing (default: 0)"
    parser.add_argument("--absent", choices=("0", "nan"), help=text)
    arguments.add_missing(parser)


def _add_cache_and_threads(parser: argparse.ArgumentParser) -> None:
    text = "keep a binary copy next to each file, and read the copy next time"
    parser.add_argument("--cache", action="store_true", help=text)
    arguments.add_threads(parser)


def run_list(args: argparse.Namespace) -> dict[str, Any]:
    """Return the catalogue, or one data set of it."""
    data_sets = catalogue()
    if args.name is not None:
        data_set = find(args.name)
        data_sets = {data_set.name: data_set}
    return {
        "one": args.name is not None,
        "data_sets": [_as_dict(row) for row in data_sets.values()],
    }


def _as_dict(row: DataSet) -> dict[str, Any]:
    fields = {key: value for key, value in vars(row).items() if key != "counts"}
    return {**fields, "counts": {part: vars(counts) for part, counts in row.counts.items()}}


def show_list(result: dict[str, Any], out: Console) -> None:
    """Write the catalogue, or all that is known of one data set."""
    if result["one"]:
        _show_one(result["data_sets"][0], out)
        return
    rows = []
    for row in result["data_sets"]:
        whole = row["counts"]["all"]
        counts = [f"{whole['queries']:,}", f"{whole['documents']:,}", f"{row['features']:,}"]
        rows.append([row["name"], row["title"], *counts, f"0-{row['max_label']}", row["licence"]])
    headings = ["name", "title", "queries", "documents", "features", "labels", "terms"]
    display.show_texts(out, headings, rows, ("terms", "title"))
    lines = ["rankwood data list mslr30k", "rankwood data check mslr30k DIR"]
    display.next_lines(out, lines)


def _show_one(row: dict[str, Any], out: Console) -> None:
    facts = [
        ("name", row["name"]),
        ("title", row["title"]),
        ("files", ", ".join(row["files"])),
        ("features", " or ".join(map(str, row["feature_counts"]))),
        ("labels", f"0 to {row['max_label']}"),
        ("terms", row["licence"]),
        ("ask for it at", row["source"]),
        ("counts from", "; ".join(row["references"])),
        *(("note", note) for note in row["notes"]),
    ]
    out.print(display.fact_table(facts))
    rows = [
        [part, *(_printed(counts[key]) for key in ("queries", "documents", "lengths", "labels"))]
        for part, counts in row["counts"].items()
    ]
    headings = [
        "part",
        "queries",
        "documents",
        "shortest, median, longest list",
        "shares of labels",
    ]
    display.show_texts(out, headings, rows)


def _printed(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else ", ".join(f"{x:g}" for x in value)


def run_describe(args: argparse.Namespace) -> dict[str, Any]:
    """Describe a data set, and write the page or picture."""
    ending = None
    if args.output is not None:
        ending = Path(args.output).suffix.lower()
        if ending not in _OUTPUTS:
            raise InputError(
                f"{args.output} can't be written: expected a name that ends in {', '.join(_OUTPUTS)}."
            )
        file_access.check_output(args.output, [args.path])
        if ending == ".html":
            theme.check_installed()
    absent = None if args.absent is None else float(args.absent)
    with display.status(f"Describing {args.path}"):
        how: dict[str, Any] = {"absent": absent, "missing": args.missing or ()}
        description = describe(args.path, args.name, **how, cache=args.cache, n_jobs=args.threads)
        if ending is not None:
            _write(description, args.output, ending)
    result = {**description.to_dict(), "output": args.output}
    return result if args.json else {**result, "description": description}


def _write(description: Description, path: str, ending: str) -> None:
    if ending in _TEXTS:
        with replacing(path) as file:
            file.write(_TEXTS[ending](description).encode())
    else:
        plots.save(description.plot(), path)


def show_describe(result: dict[str, Any], out: Console) -> None:
    """Write all tables and the advice."""
    for table in description_tables(result["description"]):
        display.show_table(out, table)
        out.print()
    out.print("Advice", style="bold")
    for sentence in result["advice"]:
        style = "bold red" if sentence.startswith("Leak:") else ""
        out.print(f"- {sentence}", style=style)
    if result["output"]:
        out.print(f"\nWritten: {result['output']}", soft_wrap=True)


def run_check(args: argparse.Namespace) -> dict[str, Any]:
    """Compare a folder with the published counts."""
    with display.status(f"Checking {args.folder}"):
        comparison = check(args.name, args.folder, cache=args.cache, n_jobs=args.threads)
    return comparison.to_dict() if args.json else {**comparison.to_dict(), "check": comparison}


def show_check(result: dict[str, Any], out: Console) -> None:
    """Write published and found numbers side by side."""
    display.show_table(out, result["check"].table())
    if result["agrees"]:
        out.print("Everything agrees with the published counts.", style="bold green")
    for sentence in result["differences"]:
        out.print(f"- {sentence}", style="bold red")


def run_convert(args: argparse.Namespace) -> dict[str, Any]:
    """Convert a file."""
    file_access.check_output(args.target, [args.source])
    with display.status(f"Converting {args.source}"):
        conversion = convert(
            args.source,
            args.target,
            to=args.to,
            force=args.force,
            sparse=args.sparse,
            y=args.y,
            qid=args.qid,
            absent=float(args.absent or 0),
            missing=args.missing or (),
            n_jobs=args.threads,
        )
    return {
        **file_access.sizes(args.source, conversion.data),
        "written": list(conversion.files),
        "lost": list(conversion.lost),
    }


def show_convert(result: dict[str, Any], out: Console) -> None:
    """Write what was converted."""
    queries, documents = plural(result["queries"], "query"), plural(result["documents"], "document")
    out.print(f"{', '.join(result['written'])}: {queries}, {documents}", soft_wrap=True)
    for sentence in result["lost"]:
        out.print(sentence, style="dim")
