"""A progress bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """Advances a progress bar: a note, and the number of steps; with 0 steps only the note changes."""

    def __call__(self, note: str, steps: int = 1) -> None:
        """Advance the bar by `steps`, and show a note."""


@contextmanager
def bar(total: int, title: str, show: bool | None = None) -> Iterator[Advance]:
    """Show progress through `total` steps: call the result with a note after each.

    `show` None means: if standard error is a terminal.
    """
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda note, steps=1: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    layout = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*layout, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total, note="")
        yield lambda note, steps=1: progress.update(task, advance=steps, note=note)
