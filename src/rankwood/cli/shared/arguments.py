"""Arguments that several commands share."""

import argparse
from collections.abc import Callable
from typing import Any

from rankwood.cli.shared import tables
from rankwood.metrics.evaluate import CONVENTIONS, EMPTY, TIES


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the line breaks of examples and leaves space for long options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


def form(example: str) -> dict[str, Any]:
    """Return the arguments of every parser: examples below the help, and no abbreviated options."""
    lines = "".join(f"  {line}\n" for line in example.strip().splitlines())
    return {"epilog": f"examples:\n{lines}", "formatter_class": Formatter, "allow_abbrev": False}


Commands = Any  # argparse has no public name for what add_subparsers returns


def command(
    commands: Commands,
    name: str,
    about: str,
    example: str,
    run: Callable[[argparse.Namespace], dict[str, Any]],
    show: Callable[..., None],
) -> argparse.ArgumentParser:
    """Add a command: `run` returns its result as a dictionary, `show` writes that for people.

    The default `exit_code` of the parser is a function of the result: 0, unless a command sets another one.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about[0].lower() + about[1:].rstrip("."),
        description=about,
        **form(example),
    )
    parser.set_defaults(run=run, show=show, parser=parser, exit_code=lambda result: 0)
    parser.add_argument("--json", action="store_true", help="write one JSON object instead of text")
    return parser


def add_reading(parser: argparse.ArgumentParser, training: bool = False) -> None:
    """Add the options for reading files of documents; `training` tells whether a model is trained on them."""
    tables.add_columns(parser, training)
    group = parser.add_argument_group("reading")
    as_trained = "as for the model's training data"
    group.add_argument(
        "--absent",
        choices=("0", "nan"),
        help="value of a feature that a line of a LETOR file does not list: 0, or nan for missing "
        f"(default: {'0' if training else f'{as_trained}, else 0'})",
    )
    group.add_argument(
        "--marker",
        action="store_true",
        default=None,
        help="read 1.797e308 as a missing value, as in the Istella data"
        + ("" if training else f" (default: {as_trained})"),
    )
    add_missing(group, "" if training else f" (default: {as_trained})")
    group.add_argument(
        "--cache",
        action="store_true",
        help="keep a binary copy next to each LETOR file, and read the copy next time",
    )
    add_threads(group)
    if training:
        text = "number of features (default: the largest number in the files)"
        add_number(group, "--features", text)
    else:
        text = "read the last features as absent if a file has fewer than the model was trained on"
        group.add_argument("--allow-missing-features", action="store_true", help=text)


def add_missing(group: Any, default: str = "") -> None:
    """Add the option for words that mean a missing value."""
    text = "read this word as a missing value, such as '?', as NULL and NaN always are; may be repeated"
    group.add_argument("--missing", action="append", metavar="WORD", help=text + default)


def add_threads(group: Any) -> None:
    """Add the option for the number of threads."""
    add_number(group, "--threads", "number of threads (default: all cores)")


def add_seed(group: Any, text: str) -> None:
    """Add the option for the random seed, which is 0 by default."""
    add_number(group, "--seed", f"{text} (default: 0)", low=0, default=0)


def add_number(
    group: Any, option: str, text: str, *, low: int = 1, default: int | None = None
) -> None:
    """Add an option whose value is an integer of at least `low`."""
    group.add_argument(option, type=integer_at_least(low), default=default, metavar="N", help=text)


def add_file(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    """Add a positional argument, the name of a file."""
    parser.add_argument(name, metavar=name.upper(), help=text)


def add_names(group: Any, option: str, text: str) -> None:
    """Add an option whose value is a name, and which may be repeated."""
    group.add_argument(option, action="append", metavar="NAME", help=text)


def add_metric_rules(group: Any) -> None:
    """Add the options for the rules of metrics."""
    group.add_argument(
        "--ties",
        choices=TIES,
        help="order of documents with equal scores: less relevant ones first (worst), more relevant ones first (best), "
        "as in the file (input), or the mean over all orders (average) (default: worst)",
    )
    group.add_argument(
        "--empty",
        type=lambda text: int(text) if text in ("0", "1") else text,
        choices=EMPTY,
        help="value of a query without relevant documents, or skip to omit it (default: 0)",
    )
    group.add_argument(
        "--convention",
        choices=tuple(CONVENTIONS),
        help="use the definitions of metrics, and the rules above, of this program",
    )


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add the options for how much a long run shows."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-q", "--quiet", action="store_true", help="show neither progress nor summary"
    )
    group.add_argument(
        "-v", "--verbose", action="store_true", help="show progress even without a terminal"
    )


def verbosity(args: argparse.Namespace) -> bool | None:
    """Return whether to show progress; None means only on a terminal."""
    return False if args.quiet else True if args.verbose else None


def integer_at_least(low: int) -> Callable[[str], int]:
    """Return a converter from text to integers that are not below `low`."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected an integer, got {text!r}") from None
        if number < low:
            raise argparse.ArgumentTypeError(f"expected at least {low}, got {number}")
        return number

    return convert
