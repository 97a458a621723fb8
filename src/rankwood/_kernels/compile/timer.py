"""When Numba compiles, and how long that takes."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any

from numba.core import event

#: Events of Numba. The lock is held while code is compiled, and while compiled code is read from disk.
_LOCK = "numba:compiler_lock"
#: Code is compiled because the disk has none.
_COMPILE = "numba:compile"
#: What a user reads meanwhile.
COMPILING = "compiling; the next process finds the code on disk"


class CompileTimer(event.Listener):  # type: ignore[misc]
    """Adds up the time in which Numba compiles or reads compiled code, on any thread.

    Attributes
    ----------
    seconds : float
        The time so far.
    on_compile : callable or None
        Called when compilation begins, not when compiled code is found on disk.
    """

    def __init__(self, on_compile: Callable[[], None] | None = None) -> None:
        self.seconds = 0.0
        self.on_compile = on_compile
        self._guard = threading.Lock()
        self._depth = 0
        self._start = 0.0

    def on_start(self, event: Any) -> None:
        """Start the clock, unless it runs already, for another function or on another thread."""
        if event.kind == _COMPILE:
            if self.on_compile is not None:
                self.on_compile()
            return
        with self._guard:
            if self._depth == 0:
                self._start = perf_counter()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Stop the clock when the last of them is done."""
        if event.kind == _COMPILE:
            return
        with self._guard:
            if self._depth > 0:  # what had begun before anyone listened may end now
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += perf_counter() - self._start

    def clock(self) -> float:
        """Return a time in seconds that stands still while Numba compiles."""
        return perf_counter() - self.seconds


@contextmanager
def timing_compilation(on_compile: Callable[[], None] | None = None) -> Iterator[CompileTimer]:
    """Listen to Numba inside a `with` block; see `CompileTimer`."""
    timer = CompileTimer(on_compile)
    with ExitStack() as stack:
        for kind in (_LOCK, _COMPILE):
            stack.enter_context(event.install_listener(kind, timer))
        yield timer


def compile_note(show: bool | None = None) -> Callable[[], None]:
    """Return a function that writes once to standard error that code is compiled; `show` is as in a progress bar."""
    shown = sys.stderr.isatty() if show is None else show

    def note() -> None:
        nonlocal shown
        if shown:
            shown = False
            print(f"{COMPILING.capitalize()}.", file=sys.stderr)

    return note
