"""The command line: each command computes a result and shows it, here they are put together.

A command is a module function `add` that describes its arguments. It leaves two functions behind:
`run` makes a plain dictionary of the arguments, `show` writes it for people; ``--json`` writes it as
it is.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import NoReturn

import rankwood
from rankwood._core.checks import InputError, nearest
from rankwood.cli import _args, _show, compare, demo, evaluate, listing, predict, train

_COMMANDS = {
    "train": train.add,
    "predict": predict.add,
    "evaluate": evaluate.add,
    "compare": compare.add,
    "demo": demo.add,
    "objectives": listing.add_objectives,
    "metrics": listing.add_metrics,
}


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, as everywhere else."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong on standard error, and end with code 2."""
        ending = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"rankwood: error: {message}{ending} See {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        0, or 1 if the command failed. Wrong use ends with SystemExit of code 2.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv:
        _build()[0].print_help(sys.stderr)
        return 2
    args = _parse(argv)
    try:
        with redirect_stdout(sys.stderr):  # an engine's remarks must not get into our output
            result = args.run(args)
        if args.json:
            _show.as_json(result)
        elif not getattr(args, "quiet", False):
            args.show(result, _show.console())
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError, MemoryError, KeyboardInterrupt) as error:
        print(f"rankwood: error: {_sentence(error)}", file=sys.stderr)
        return 1
    return 0


def _build() -> tuple[_Parser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of everything, and those of the commands by name."""
    parser = _Parser(
        prog="rankwood",
        description="Learning to rank with boosted trees.",
        epilog="New here? Try: rankwood demo",
        formatter_class=_args.Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rankwood {rankwood.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    return parser, {name: add(commands) for name, add in _COMMANDS.items()}


def _parse(argv: list[str]) -> argparse.Namespace:
    parser, commands = _build()
    first = argv[0]
    if not first.startswith("-") and first not in commands:
        parser.error(f"unknown command {first!r}{nearest(first, commands)}")
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        command = commands.get(first, parser)
        word = unknown[0].split("=")[0]
        if not word.startswith("-"):
            command.error(f"unexpected argument {word!r}")
        options = set(re.findall(r"--[a-z][a-z-]*", command.format_usage()))
        command.error(f"unknown option {word!r}{nearest(word, options)}")
    return args


def _sentence(error: BaseException) -> str:
    """Return one plain sentence about what went wrong."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        text = where + error.strerror
    elif isinstance(error, MemoryError):
        text = "there is not enough memory"
    else:
        text = str(error) or "interrupted"
    text = " ".join(text.split())
    return text if text.endswith((".", "?")) else text + "."
