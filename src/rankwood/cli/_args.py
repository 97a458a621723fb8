"""Arguments that commands share."""

import argparse
from collections.abc import Callable
from typing import Any


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help with examples as they are typed, and room for long options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


Commands = Any  # argparse has no public name for what add_subparsers returns


def command(
    commands: Commands,
    name: str,
    about: str,
    example: str,
    run: Callable[[argparse.Namespace], dict[str, Any]],
    show: Callable[..., None],
) -> argparse.ArgumentParser:
    """Add a command; `run` computes, `show` writes what it returns."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about[0].lower() + about[1:].rstrip("."),
        description=about,
        epilog="examples:\n" + "".join(f"  {line}\n" for line in example.strip().splitlines()),
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, show=show)
    parser.add_argument("--json", action="store_true", help="write one JSON object instead of text")
    return parser


def add_reading(parser: argparse.ArgumentParser) -> Any:
    """Add what says how to read LETOR files; return the group of arguments."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--absent",
        choices=("0", "nan"),
        help="value of a feature that a line leaves out: 0, or nan for missing "
        "(default: as the model was trained, else 0)",
    )
    group.add_argument(
        "--marker",
        action="store_true",
        default=None,
        help="read 1.797e308 as missing, as in the Istella data (default: as the model was trained)",
    )
    group.add_argument(
        "--cache",
        action="store_true",
        help="keep a binary copy beside each file, and read that one next time",
    )
    group.add_argument(
        "--threads", type=at_least(1), metavar="N", help="number of threads (default: every core)"
    )
    return group


def add_volume(parser: argparse.ArgumentParser) -> None:
    """Add how much to say during a long run."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="progress also where there is no terminal"
    )


def volume(args: argparse.Namespace) -> bool | None:
    """Return whether to show progress; None means on a terminal."""
    return False if args.quiet else True if args.verbose else None


def at_least(low: int) -> Callable[[str], int]:
    """Return a converter to integers from `low` on."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected an integer, got {text!r}") from None
        if number < low:
            raise argparse.ArgumentTypeError(f"expected at least {low}, got {number}")
        return number

    return convert
