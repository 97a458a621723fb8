"""A progress bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: int, title: str, show: bool | None = None) -> Iterator[Callable[[str], None]]:
    """Show progress through `total` steps: call the result with a note after each.

    `show` None means: if standard error is a terminal.
    """
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda note: None
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
        yield lambda note: progress.update(task, advance=1, note=note)
