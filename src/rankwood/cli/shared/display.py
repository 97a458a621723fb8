"""Output for people (tables, facts, what to type next) and for programs (JSON)."""

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import rich.table
from rich import box
from rich.console import Console, JustifyMethod
from rich.text import Text

from rankwood._util.text import printable, printable_lines
from rankwood._util.warning import DataWarning
from rankwood.render import formats as render
from rankwood.render.table import Cell, Table

_NARROW = 20  # a narrower table would be a column of letters
_WIDE = 10_000  # width of output to a file or pipe, where no terminal limits a table


class SafeConsole(Console):
    """A console that shows control characters in texts, such as names of files, instead of sending them."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Write texts and tables."""
        super().print(
            *(printable_lines(x) if isinstance(x, str) else x for x in objects), **options
        )


def console() -> Console:
    """Return a console on standard output, as wide as the terminal or `COLUMNS` says, else unlimited."""
    has_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    # Without markup, because citations such as [burges2010] would be read as such.
    output = SafeConsole(
        width=None if has_width else _WIDE, markup=False, highlight=False, emoji=False
    )
    output.width = max(output.width, _NARROW)
    return output


@contextmanager
def status(text: str, show: bool | None = None) -> Iterator[None]:
    """Show a status line on a terminal during the work; nothing if `show` is False."""
    if show is False or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True, markup=False).status(Text(printable(text))):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Write each warning about data as one line to standard error, without file and line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        before = warnings.showwarning

        def write(message: Any, category: Any, *place: Any) -> None:
            if issubclass(category, DataWarning):
                print(f"rankwood: warning: {printable(str(message))}", file=sys.stderr)
            else:
                before(message, category, *place)

        warnings.showwarning = write  # type: ignore[assignment]
        yield


def as_json(result: dict[str, Any]) -> None:
    """Write one JSON object; numbers that are not finite become null."""
    print(json.dumps(_for_json(result), indent=2, allow_nan=False))


def _for_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _for_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_for_json(v) for v in value]
    if isinstance(value, np.ndarray):
        return _for_json(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def show_table(out: Console, table: Table, dispensable: Sequence[str] = ()) -> None:
    """Write a table with its title and notes; `dispensable` columns are omitted, in order, until it fits."""
    if table.title:
        out.print(table.title, style="bold")
    columns = _fitting(table, out.width, dispensable)
    for block in _blocks(table, columns, out.width):
        out.print(_rich_table(table, block))
    dropped = [h for i, h in enumerate(table.headings) if i not in columns]
    for note in table.notes:
        if note.split(":")[0] not in dropped:  # it explains a column that isn't shown
            out.print(note, style="dim")


def show_texts(
    out: Console,
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    dispensable: Sequence[str] = (),
) -> None:
    """Write a table of texts, which may be wrapped; `dispensable` columns are omitted as in `show_table`."""
    cells = [[Cell(text) for text in row] for row in rows]
    show_table(out, Table("", list(headings), cells, 0), dispensable)


def _rich_table(table: Table, columns: list[int]) -> rich.table.Table:
    """Return some columns of a table as rich draws them; bold cells stand out in colour."""
    drawn = rich.table.Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i in columns:
        justify: JustifyMethod = "left" if i < table.text_columns else "right"
        whole = i >= table.text_columns or (i == 0 and len(columns) > 1)  # is never wrapped
        drawn.add_column(table.headings[i], justify=justify, overflow="fold", no_wrap=whole)
    for number, (row, texts) in enumerate(zip(table.rows, render.padded_marks(table), strict=True)):
        if number in table.breaks:
            drawn.add_section()
        drawn.add_row(*(Text(texts[i], "bold green" if row[i].bold else "") for i in columns))
    return drawn


def _fitting(table: Table, width: int, dispensable: Sequence[str]) -> list[int]:
    """Return the columns that fit side by side, without as few dispensable ones as possible."""
    widths = _widths(table)
    columns = list(range(len(widths)))
    for name in dispensable:
        if sum(widths[i] for i in columns) - 1 > width and name in table.headings:
            columns.remove(table.headings.index(name))
    return columns


def _widths(table: Table) -> list[int]:
    """Return the width of each column, with the space after it."""
    texts = render.padded_marks(table)
    return [max(map(len, column)) + 3 for column in zip(table.headings, *texts, strict=True)]


def _blocks(table: Table, columns: list[int], width: int) -> list[list[int]]:
    """Return the columns of each table that is written: several below each other if the numbers of one don't fit.

    Columns of text are in all of them, and may be wrapped.
    """
    widths = _widths(table)
    texts = [i for i in columns if i < table.text_columns]
    numbers = [i for i in columns if i >= table.text_columns]
    room = max(width - sum(widths[i] for i in texts), width // 2)
    blocks: list[list[int]] = []
    for i in numbers:
        if not blocks or sum(widths[j] for j in blocks[-1]) + widths[i] - 1 > room:
            blocks.append([])
        blocks[-1].append(i)
    return [[*texts, *block] for block in blocks] or [texts]


def fact_table(rows: Iterable[tuple[str, str]]) -> rich.table.Table:
    """Return a list of names and their values."""
    grid = rich.table.Table.grid(padding=(0, 3))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(name, printable_lines(text))
    return grid


def next_lines(out: Console, lines: Iterable[str]) -> None:
    """Write what to type next, in lines that can be copied: they are never wrapped."""
    out.print()
    out.print("What to type next:", style="bold")
    for line in lines:
        out.print(f"  {line}", style="cyan", soft_wrap=True)
