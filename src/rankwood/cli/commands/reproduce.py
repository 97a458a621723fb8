"""``rankwood reproduce``: tables and figures of papers."""

import argparse
from typing import Any

from rich.console import Console

from rankwood._util.checks import InputError
from rankwood._util.text import plural
from rankwood.cli.shared import arguments, display

_EXAMPLE = """
rankwood reproduce list
rankwood reproduce lambdagap/figure1 --out results
rankwood reproduce lambdagap/table4 --data mslr30k=MSLR-WEB30K --data istella-s=istella-s --out results
rankwood reproduce lambda-ex/table5 --data yahoo1=other-data --trees 100 --folds 1 --jobs 2
rankwood reproduce lambdaloss/all --data mslr30k=MSLR-WEB30K --rows "NDCG*"
"""
_LIMITS = ("trees", "queries", "seeds", "folds", "trials", "top", "rows")


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Reproduce tables and figures of papers; what is finished is kept, so that a killed run resumes."
    parser = arguments.command(commands, "reproduce", about, _EXAMPLE, run, show)
    parser.add_argument(
        "items",
        nargs="+",
        metavar="ITEM",
        help="list, or items such as lambdagap/table4; lambdagap/all are all items of a paper",
    )
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="ROLE=DIR",
        help="folder with the data of a role; may be repeated. Any data may fill a role; the page says so",
    )
    parser.add_argument(
        "--out", default="results", metavar="DIR", help="folder of the results (default: results)"
    )
    arguments.add_number(
        parser, "--jobs", "number of processes (default: 1, with every core)", default=1
    )
    _add_limits(parser.add_argument_group("to make it smaller (the page says so)"))
    arguments.add_verbosity(parser)
    return parser


def _add_limits(group: Any) -> None:
    arguments.add_number(group, "--trees", "largest number of trees")
    arguments.add_number(group, "--queries", "largest number of queries in each part of the data")
    arguments.add_number(group, "--seeds", "number of seeds, and of turns of times")
    arguments.add_number(
        group,
        "--folds",
        "number of folds (default: that of the paper for its own data, all for other data)",
    )
    arguments.add_number(group, "--trials", "largest number of trials of a tuner")
    arguments.add_number(group, "--top", "largest number of documents that a second stage ranks")
    group.add_argument(
        "--rows", metavar="PATTERN", help='only rows with such names, as in "LambdaGap*"'
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Reproduce the items, or list all items."""
    from rankwood.reproduce import items, reproduction

    if args.items == ["list"]:
        return {"items": [vars(item) for item in items()]}
    if "list" in args.items:
        raise InputError("list shows what there is: give it alone, or omit it.")
    limits = {name: getattr(args, name) for name in _LIMITS}
    results = reproduction.run(
        args.items,
        _folders(args.data),
        args.out,
        jobs=args.jobs,
        verbose=arguments.verbosity(args),
        **limits,
    )
    done = {result.name for result in results}
    names = [f"{r.paper.name}/{item.name}" for r, item in reproduction.find_items(args.items)]
    return {
        "omitted": [name for name in dict.fromkeys(names) if name not in done],
        "results": [
            {
                "item": result.name,
                "cells": result.cells,
                "computed": result.computed,
                "failed": dict(result.failed),
                "files": [str(path) for path in result.files],
            }
            for result in results
        ],
    }


def _folders(texts: list[str]) -> dict[str, str]:
    """Return folders by role; raise unless each argument is ROLE=DIR and each role has one folder."""
    folders: dict[str, str] = {}
    for text in texts:
        role, equals, folder = text.partition("=")
        if not (role and equals and folder):
            raise InputError(f"--data {text}: expected ROLE=DIR, such as mslr30k=MSLR-WEB30K.")
        if role in folders:
            raise InputError(f"--data gives two folders for the role {role!r}.")
        folders[role] = folder
    return folders


def show(result: dict[str, Any], out: Console) -> None:
    """Write the list of items, or the pages that were written."""
    if "items" in result:
        headings = ("item", "kind", "data", "what it is")
        rows = [
            (item["name"], item["kind"], _data(item), item["title"]) for item in result["items"]
        ]
        display.show_texts(out, headings, rows, ("kind", "data") if out.width < 100 else ())
        return
    for reproduction in result["results"]:
        cells = f"{plural(reproduction['cells'], 'cell')}, {reproduction['computed']:,} of them computed now"
        page = next(path for path in reproduction["files"] if path.endswith(".md"))
        out.print(f"{reproduction['item']}: {page} ({cells})", soft_wrap=True)
        for about, why in reproduction["failed"].items():
            out.print(f"  could not be computed: {about}: {why}", soft_wrap=True)
    if result["omitted"]:
        names = ", ".join(result["omitted"])
        out.print(f"Omitted, for want of data or of rows that match: {names}", soft_wrap=True)


def _data(item: dict[str, Any]) -> str:
    """Return which data an item takes."""
    return ", ".join(item["roles"]) if item["needs_data"] else "none"
