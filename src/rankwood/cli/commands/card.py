"""``rankwood card``: a model card as one page of Markdown."""

import argparse
import sys
from typing import Any

from rich.console import Console

from rankwood.cli.shared import arguments, file_access

_EXAMPLE = """
rankwood card m.json
rankwood card m.json --output card.md
"""


def add(commands: arguments.Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    about = "Write a model card: what a model file says about its model, as one page of Markdown."
    parser = arguments.command(commands, "card", about, _EXAMPLE, run, show)
    arguments.add_file(parser, "model", "model file written by rankwood train")
    text = "file to write the card to (default: standard output)"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    return parser


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the card, or write it to the output file if there is one."""
    from rankwood.report.card import read_card

    if args.output is not None:
        file_access.check_output(args.output, [args.model])
    card = read_card(args.model)
    text = card.to_markdown(args.output)
    if args.json:
        return card.to_dict()
    return {"text": text} if args.output is None else {"model": args.model, "output": args.output}


def show(result: dict[str, Any], out: Console) -> None:
    """Write the card, or the name of the file that has it."""
    if "text" in result:
        sys.stdout.write(result["text"])
    else:
        out.print(f"{result['output']}: the card of {result['model']}", soft_wrap=True)
