"""``rankwood data``: the catalogue of public data sets, descriptions, checks and conversions."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from rankwood._core.atomic import replacing
from rankwood._core.checks import InputError
from rankwood._core.text import plural
from rankwood.cli import _args, _files, _show
from rankwood.datasets.checking import check
from rankwood.datasets.conversion import FORMATS, convert
from rankwood.datasets.description import Description, describe
from rankwood.datasets.overview import tables
from rankwood.datasets.published import DataSet, catalogue, find
from rankwood.report import plots
from rankwood.report.page import theme

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


def add(commands: _args.Commands) -> argparse.ArgumentParser:
    """Add the command and its own commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "data",
        help="list, describe, check and convert data sets",
        description="List, describe, check and convert data sets.",
        **_args.form(_EXAMPLE),
    )
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(own)
    _add_describe(own)
    _add_check(own)
    _add_convert(own)
    return parser


def _add_list(own: _args.Commands) -> None:
    about = (
        "List the public data sets in the catalogue, with their files and where to ask for them."
    )
    parser = _args.command(own, "list", about, "rankwood data list", run_list, show_list)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="show all that is known of this one"
    )


def _add_describe(own: _args.Commands) -> None:
    about = "Describe a data set: sizes, labels, lists, features, signs of leaks, and advice."
    example = (
        "rankwood data describe ~/data/MQ2008\nrankwood data describe train.txt --output train.html"
    )
    parser = _args.command(own, "describe", about, example, run_describe, show_describe)
    _args.add_file(parser, "path", "folder in a known layout (its first fold), or LETOR file")
    _add_name(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"page, text or picture to write, which must end in {', '.join(_OUTPUTS)}",
    )
    _add_absent(parser)
    _add_cache_and_threads(parser)


def _add_check(own: _args.Commands) -> None:
    about = "Compare a folder with the published counts of a data set; exit with 1 if they differ."
    example = "rankwood data check mslr30k ~/data/MSLR-WEB30K"
    parser = _args.command(own, "check", about, example, run_check, show_check)
    parser.set_defaults(exit_code=lambda result: 0 if result["agrees"] else 1)
    parser.add_argument("name", metavar="NAME", help="name of the data set, see rankwood data list")
    _args.add_file(parser, "folder", "folder that holds its files, as they are distributed")
    _add_cache_and_threads(parser)


def _add_convert(own: _args.Commands) -> None:
    about = "Write ranking data in another format."
    example = "rankwood data convert train.txt train.parquet\nrankwood data convert rank.train train.txt.gz"
    parser = _args.command(own, "convert", about, example, run_convert, show_convert)
    text = "LETOR text, CSV, Parquet, lines with a .query file beside them, or .npz"
    _args.add_file(parser, "source", text)
    text = (
        "file to write; .csv, .csv.gz, .parquet and .npz choose the format, else it is LETOR text"
    )
    _args.add_file(parser, "target", text)
    parser.add_argument(
        "--to", choices=FORMATS, help="format, if the ending of TARGET doesn't determine it"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument("--sparse", action="store_true", help="leave zeros out of text")
    _add_absent(parser)
    _args.add_threads(parser)


def _add_name(parser: argparse.ArgumentParser) -> None:
    text = "name in the catalogue: which of several sets in the folder, and how it is read"
    parser.add_argument("--name", metavar="NAME", help=text)


def _add_absent(parser: argparse.ArgumentParser) -> None:
    text = "value of a feature that a line does not list: 0, or nan for missing (default: 0)"
    parser.add_argument("--absent", choices=("0", "nan"), help=text)
    _args.add_missing(parser)


def _add_cache_and_threads(parser: argparse.ArgumentParser) -> None:
    text = "keep a binary copy next to each file, and read the copy next time"
    parser.add_argument("--cache", action="store_true", help=text)
    _args.add_threads(parser)


def run_list(args: argparse.Namespace) -> dict[str, Any]:
    """Return the catalogue, or one data set of it."""
    known = catalogue()
    if args.name is not None:
        found = find(args.name)
        known = {found.name: found}
    return {"one": args.name is not None, "data_sets": [_as_dict(row) for row in known.values()]}


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
    _show.show_texts(out, headings, rows, ("terms", "title"))
    lines = ["rankwood data list mslr30k", "rankwood data check mslr30k DIR"]
    _show.next_lines(out, lines)


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
    out.print(_show.fact_table(facts))
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
    _show.show_texts(out, headings, rows)


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
        _files.check_output(args.output, [args.path])
        if ending == ".html":
            theme.check_installed()
    absent = None if args.absent is None else float(args.absent)
    with _show.status(f"Describing {args.path}"):
        how: dict[str, Any] = {"absent": absent, "missing": args.missing or ()}
        found = describe(args.path, args.name, **how, cache=args.cache, n_jobs=args.threads)
        if ending is not None:
            _write(found, args.output, ending)
    result = {**found.to_dict(), "output": args.output}
    return result if args.json else {**result, "description": found}


def _write(found: Description, path: str, ending: str) -> None:
    if ending in _TEXTS:
        with replacing(path) as file:
            file.write(_TEXTS[ending](found).encode())
    else:
        plots.save(found.plot(), path)


def show_describe(result: dict[str, Any], out: Console) -> None:
    """Write all tables and the advice."""
    for table in tables(result["description"]):
        _show.show_table(out, table)
        out.print()
    out.print("Advice", style="bold")
    for sentence in result["advice"]:
        style = "bold red" if sentence.startswith("Leak:") else ""
        out.print(f"- {sentence}", style=style)
    if result["output"]:
        out.print(f"\nWritten: {result['output']}", soft_wrap=True)


def run_check(args: argparse.Namespace) -> dict[str, Any]:
    """Compare a folder with the published counts."""
    with _show.status(f"Checking {args.folder}"):
        found = check(args.name, args.folder, cache=args.cache, n_jobs=args.threads)
    return found.to_dict() if args.json else {**found.to_dict(), "check": found}


def show_check(result: dict[str, Any], out: Console) -> None:
    """Write published and found numbers side by side."""
    _show.show_table(out, result["check"].table())
    if result["agrees"]:
        out.print("Everything agrees with the published counts.", style="bold green")
    for sentence in result["differences"]:
        out.print(f"- {sentence}", style="bold red")


def run_convert(args: argparse.Namespace) -> dict[str, Any]:
    """Convert a file."""
    _files.check_output(args.target, [args.source])
    with _show.status(f"Converting {args.source}"):
        made = convert(
            args.source,
            args.target,
            to=args.to,
            force=args.force,
            sparse=args.sparse,
            absent=float(args.absent or 0),
            missing=args.missing or (),
            n_jobs=args.threads,
        )
    return {
        **_files.sizes(args.source, made.data),
        "written": list(made.files),
        "lost": list(made.lost),
    }


def show_convert(result: dict[str, Any], out: Console) -> None:
    """Write what was converted."""
    queries, documents = plural(result["queries"], "query"), plural(result["documents"], "document")
    out.print(f"{', '.join(result['written'])}: {queries}, {documents}", soft_wrap=True)
    for sentence in result["lost"]:
        out.print(sentence, style="dim")
