"""A progress bar on a terminal; elsewhere lines, if they are wanted."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol


class Advance(Protocol):
    """Advances a progress bar: a note, and the number of steps; with 0 steps only the note changes."""

    def __call__(self, note: str, steps: int = 1) -> None:
        """Advance the bar by `steps`, and show a note."""


@contextmanager
def bar(
    total: int, title: str, show: bool | None = None, *, pause: float = 1.0
) -> Iterator[Advance]:
    """Show progress through `total` steps: call the result with a note after each.

    `show` None means: if standard error is a terminal. With True, a pipe or a file gets lines, for which `pause` is the
    shortest time between two of them, in seconds; the last step always has one.
    """
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda note, steps=1: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        lines = _Lines(total, title, pause)
        yield lines
        lines.close()
        return
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
    with Progress(*layout, console=console) as progress:
        task = progress.add_task(title, total=total, note="")
        yield lambda note, steps=1: progress.update(task, advance=steps, note=note)


class _Lines:
    """Writes a line to standard error after a step, unless the last one was written just before."""

    def __init__(self, total: int, title: str, pause: float) -> None:
        self._total, self._title, self._pause = total, title, pause
        self._done, self._note, self._last = 0, "", monotonic()
        self._new = False

    def __call__(self, note: str, steps: int = 1) -> None:
        self._done += steps
        if steps:
            self._note, self._new = note, True
            if monotonic() - self._last >= self._pause:
                self.close()

    def close(self) -> None:
        """Write the last step, if it has no line yet."""
        if self._new:
            self._last, self._new = monotonic(), False
            text = f"{self._title}: {self._done} of {self._total}"
            print(", ".join(filter(None, [text, self._note])), file=sys.stderr, flush=True)
