"""The command line: one module per command.

A command has a function `add`, which declares its arguments and registers two functions: `run` computes a result from
the arguments, as a dictionary, and `show` writes it for people. ``--json`` writes the dictionary itself.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import rankwood
from rankwood._util.checks import InputError, nearest
from rankwood._util.text import printable
from rankwood.cli.commands import (
    card,
    compare,
    data,
    demo,
    doctor,
    evaluate,
    explain,
    export,
    listing,
    predict,
    report,
    reproduce,
    train,
    tune,
)
from rankwood.cli.shared import arguments, display
from rankwood.cli.shared.standard_streams import messages_to_stderr, usable_streams

_COMMANDS = {
    "train": train.add,
    "predict": predict.add,
    "evaluate": evaluate.add,
    "compare": compare.add,
    "tune": tune.add,
    "data": data.add,
    "reproduce": reproduce.add,
    "report": report.add,
    "export": export.add,
    "explain": explain.add,
    "card": card.add,
    "demo": demo.add,
    "doctor": doctor.add,
    "objectives": listing.add_objectives,
    "metrics": listing.add_metrics,
}


class _Parser(argparse.ArgumentParser):
    """A parser with one-line error messages, as all commands have."""

    def error(self, message: str) -> NoReturn:
        """Write what is wrong to standard error, and exit with code 2."""
        ending = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"rankwood: error: {printable(message)}{ending} See {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default the arguments of the process.

    Returns
    -------
    int
        The exit code: 0, or 1 if the command failed.

    Raises
    ------
    SystemExit
        With code 2 if an argument is wrong or missing.

    Examples
    --------
    >>> from rankwood.cli import main
    >>> main(["evaluate", "test.txt", "scores.txt", "--metric", "ndcg@10"])  # doctest: +SKIP
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    with usable_streams() as closed:
        if not argv:
            _build()[0].print_help(sys.stderr)
            return 2
        return _run(_parse(argv), closed)


def _run(args: argparse.Namespace, closed: frozenset[str]) -> int:
    """Run a command, and return its exit code; `closed` has the names of streams that the shell has closed."""
    try:
        with messages_to_stderr(), display.plain_warnings():
            result = args.run(args)
        code: int = args.exit_code(result)
        quiet = getattr(args, "quiet", False)
        if "stdout" in closed and not quiet:
            raise InputError("standard output is closed: there is no place to write the result to.")
        if args.json:
            display.as_json(result)
        elif not quiet:
            args.show(result, display.console())
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError, MemoryError, KeyboardInterrupt) as error:
        print(f"rankwood: error: {printable(_message(error))}", file=sys.stderr)
        return 1
    return code


def _build() -> tuple[_Parser, dict[str, argparse.ArgumentParser]]:
    """Return the main parser, and the parsers of the commands by name."""
    parser = _Parser(
        prog="rankwood",
        description="Learning to rank with boosted trees.",
        epilog="New here? Try: rankwood demo",
        formatter_class=arguments.Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rankwood {rankwood.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    return parser, {name: add(commands) for name, add in _COMMANDS.items()}


def _parse(argv: list[str]) -> argparse.Namespace:
    """Return the parsed arguments; suggest similar names for unknown commands and options."""
    parser, commands = _build()
    first = argv[0]
    if not first.startswith("-") and first not in commands:
        parser.error(f"unknown command {first!r}{nearest(first, commands)}")
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        command = getattr(args, "parser", commands.get(first, parser))
        word = unknown[0].split("=")[0]
        if not word.startswith("-"):
            command.error(f"unexpected argument {word!r}")
        options = [name for name in command._option_string_actions if name.startswith("--")]
        command.error(f"unknown option {word!r}{nearest(word, options)}")
    return args


def _message(error: BaseException) -> str:
    """Return an error message on one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        text = where + error.strerror
    elif isinstance(error, MemoryError):
        text = "there is not enough memory"
    else:
        text = str(error) or "interrupted"
    text = " ".join(text.split())
    return text if text.endswith((".", "?")) else text + "."
