"""Output for people (tables, facts, what to type next) and for programs (JSON)."""

import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rich.table
from rich import box
from rich.console import Console, JustifyMethod
from rich.text import Text

from rankwood.report import render
from rankwood.report.table import Cell, Table

_WIDE = 10_000  # width of output to a file or pipe, where no terminal limits a table


def console() -> Console:
    """Return a console on standard output: as wide as the terminal, and unlimited in a file or a pipe."""
    terminal = sys.stdout.isatty()
    # Without markup, because citations such as [burges2010] would be read as such.
    return Console(width=None if terminal else _WIDE, markup=False, highlight=False, emoji=False)


@contextmanager
def status(text: str, show: bool | None = None) -> Iterator[None]:
    """Show on a terminal what is being done while it is being done; nothing if `show` is False."""
    if show is False or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True, markup=False).status(Text(text)):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Write each warning about data as one line to standard error, without the place in the sources."""
    from rankwood.training.data_warnings import (
        DataWarning,  # slow to import: --help need not wait for it
    )

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        before = warnings.showwarning

        def write(message: Any, category: Any, *place: Any) -> None:
            if issubclass(category, DataWarning):
                print(f"rankwood: warning: {message}", file=sys.stderr)
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
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def show_table(out: Console, table: Table, dispensable: Sequence[str] = ()) -> None:
    """Write a table with its title and notes; `dispensable` columns are left out, in order, until it fits."""
    if table.title:
        out.print(table.title, style="bold")
    out.print(_rich_table(table, _fitting(table, out.width, dispensable)))
    for note in table.notes:
        out.print(note, style="dim")


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> rich.table.Table:
    """Return a table of texts, without title and notes."""
    headings = list(headings)
    made = Table("", headings, [[Cell(text) for text in row] for row in rows], 0)
    return _rich_table(made, list(range(len(headings))))


def _rich_table(table: Table, columns: list[int]) -> rich.table.Table:
    """Return some columns of a table as rich draws them; bold cells stand out in colour."""
    made = rich.table.Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i in columns:
        justify: JustifyMethod = "left" if i < table.text_columns else "right"
        made.add_column(table.headings[i], justify=justify, overflow="fold", no_wrap=i == 0)
    for number, (row, texts) in enumerate(zip(table.rows, render.padded_marks(table), strict=True)):
        if number in table.breaks:
            made.add_section()
        made.add_row(*(Text(texts[i], "bold green" if row[i].bold else "") for i in columns))
    return made


def _fitting(table: Table, width: int, dispensable: Sequence[str]) -> list[int]:
    """Return the columns that fit side by side after leaving out as few dispensable ones as possible."""
    texts = render.padded_marks(table)
    widths = [max(map(len, column)) + 3 for column in zip(table.headings, *texts, strict=True)]
    columns = list(range(len(widths)))
    for name in dispensable:
        if sum(widths[i] for i in columns) > width and name in table.headings:
            columns.remove(table.headings.index(name))
    return columns


def fact_table(rows: Iterable[tuple[str, str]]) -> rich.table.Table:
    """Return a list of names and their values."""
    made = rich.table.Table.grid(padding=(0, 3))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, text in rows:
        made.add_row(name, text)
    return made


def next_lines(out: Console, lines: Iterable[str]) -> None:
    """Write what to type next, in lines that can be copied: they are never wrapped."""
    out.print()
    out.print("What to type next:", style="bold")
    for line in lines:
        out.print(f"  {line}", style="cyan", soft_wrap=True)
