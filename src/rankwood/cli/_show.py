"""Writing for people and for programs."""

import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

_WIDE = 10_000  # columns of output that no terminal limits: a table takes what it needs


def console() -> Console:
    """Return where people read: as wide as their terminal, and not limited in a file or a pipe."""
    terminal = sys.stdout.isatty()
    # Citations such as [burges2010] are no markup.
    return Console(width=None if terminal else _WIDE, markup=False, highlight=False, emoji=False)


@contextmanager
def busy(text: str, show: bool | None = None) -> Iterator[None]:
    """Show on a terminal what is being done, as long as it is; `show` False shows nothing."""
    if show is False or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True, markup=False).status(Text(text)):
        yield


def as_json(result: dict[str, Any]) -> None:
    """Write one JSON object; numbers that JSON doesn't have become null."""
    print(json.dumps(_plain(result), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def table(headings: Iterable[str], rows: Iterable[Iterable[str]], numbers: int = 0) -> Table:
    """Return a table whose last columns, so many as `numbers`, are aligned to the right."""
    headings, rows = list(headings), [list(row) for row in rows]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        right = place >= len(headings) - numbers
        justify: JustifyMethod = "right" if right else "left"
        made.add_column(heading, justify=justify, overflow="fold", no_wrap=place == 0)
    for row in rows:
        made.add_row(*row)
    return made


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a list of names and what they stand for."""
    made = Table.grid(padding=(0, 3))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, text in rows:
        made.add_row(name, text)
    return made


def next_lines(out: Console, lines: Iterable[str]) -> None:
    """Say what to type next, in lines that can be copied: never broken to fit."""
    out.print()
    out.print("What to type next:", style="bold")
    for line in lines:
        out.print(f"  {line}", style="cyan", soft_wrap=True)


def counted(number: int, word: str) -> str:
    """Return a number and its noun: "1 query", "1,200 documents"."""
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else plural}"
