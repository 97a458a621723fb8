"""Write cli-options.md: every command with all of its options, from the parsers of the package.

    python docs/make_cli.py

Texts are taken from the parsers themselves, not from their help, whose layout depends on the version of Python.
"""

import argparse
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankwood.cli import _build

PAGE = Path(__file__).parent / "cli-options.md"
HEAD = """\
# Options of the command line

All commands with all of their options, made from the program by `python docs/make_cli.py`.
[The command line](cli.md) explains them with examples. `rankwood COMMAND --help` prints the same.

| option of every command | meaning |
|---|---|
| `-h`, `--help` | show the help and exit |
| `--json` | write one JSON object instead of text |

`rankwood --version` prints the version.
"""
_SHOWN_ABOVE = ("--help", "--json")


def commands(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a parser by their full names, in place of itself if it has any."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, own in action.choices.items():
                yield from commands(f"{name} {word}", own)
            return
    yield name, parser


def shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a command but those that every command has."""
    return [a for a in parser._actions if not set(_SHOWN_ABOVE) & set(a.option_strings)]


def metavar(action: argparse.Action) -> str:
    """Return what stands for the value of an argument; empty if it takes none."""
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        return str(action.metavar)
    return "|".join(map(str, action.choices)) if action.choices else action.dest.upper()


def usage(name: str, parser: argparse.ArgumentParser) -> str:
    """Return the call of a command: what it needs, and whether it has options."""
    words = [name]
    for action in parser._actions:
        value = metavar(action)
        if not action.option_strings:
            more = {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} [{value} ...]"}
            words.append(more.get(str(action.nargs), value))
        elif action.required:
            words.append(f"{action.option_strings[-1]} {value}")
    if any(action.option_strings and not action.required for action in shown(parser)):
        words.append("[options]")
    return " ".join(words)


def row(action: argparse.Action) -> str:
    """Return an argument as a row of a table."""
    value = metavar(action)
    names = [f"{word} {value}".strip() for word in action.option_strings[-1:]] or [value]
    text = ", ".join(f"`{word}`" for word in (*action.option_strings[:-1], *names))
    meaning = (action.help or "").replace("%%", "%")
    if action.required and action.option_strings:
        meaning += " (needed)"
    return f"| {escaped(text)} | {escaped(words_as_code(meaning))} |"


def words_as_code(text: str) -> str:
    """Return a text in which options and commands are code."""
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*|rankwood (?:metrics|objectives))", r"`\1`", text)


def escaped(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def section(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines about a command."""
    yield from (f"\n## `{name}`\n", (parser.description or "").strip())
    yield f"\n```text\n{usage(name, parser)}\n```"
    for group in parser._action_groups:
        found = [a for a in group._group_actions if a in shown(parser)]
        if not found:
            continue
        positional = not found[0].option_strings
        title = group.title if group.title not in ("options", "positional arguments") else ""
        if title:
            yield f"\n**{title[0].upper()}{title[1:]}**"
        if group.description:
            yield "\n" + textwrap.fill(words_as_code(" ".join(group.description.split())), 120)
        yield f"\n| {'argument' if positional else 'option'} | meaning |\n|---|---|"
        yield from map(row, found)
    if parser.epilog:
        lines = [line.strip() for line in parser.epilog.splitlines()[1:]]
        yield "\n```sh\n" + "\n".join(lines) + "\n```"


def page() -> str:
    """Return the page."""
    lines = [HEAD.rstrip("\n")]
    for name, parser in _build()[1].items():
        for full, command in commands(f"rankwood {name}", parser):
            lines += section(full, command)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
