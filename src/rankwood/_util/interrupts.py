"""Signals such as Ctrl-C wait until a computation can end without leaving anything half done.

Python calls the handler of a signal between any two of its instructions: also in a function that an engine calls from
C, where an exception ends the process, and between taking a lock and the `try` that gives it back.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_NUMBERS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
#: What a program has set for a signal: a function, as Python itself has for Ctrl-C, or nothing that could raise.
Handler = Callable[[int, Any], Any]


class _Waiting:
    """The handlers of a program, and the signals that have come and wait for them."""

    def __init__(self) -> None:
        found = {number: signal.getsignal(number) for number in _NUMBERS}
        self._handlers: dict[int, Handler] = {
            number: handler for number, handler in found.items() if callable(handler)
        }
        self._came: list[tuple[int, Any]] = []
        #: Whether signals are handled as soon as they come.
        self.open = False

    def begin(self) -> None:
        """Take the place of the handlers."""
        for number in self._handlers:
            signal.signal(number, self._handle)

    def end(self) -> None:
        """Give the places back, unless somebody has taken them meanwhile."""
        self.open = True
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def _handle(self, number: int, frame: Any) -> None:
        if self.open:
            self._handlers[number](number, frame)
        else:
            self._came.append((number, frame))

    def deliver(self) -> None:
        """Call the handlers of the signals that have come."""
        while self._came:
            number, frame = self._came.pop(0)
            self._handlers[number](number, frame)


_waiting: _Waiting | None = None


def _here() -> _Waiting | None:
    """Return what waits, in the thread whose signals these are."""
    return _waiting if threading.current_thread() is threading.main_thread() else None


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait until the block has ended, or until it calls `deliver`.

    Python handles signals in the main thread only; in others, and in a block inside another one, this changes nothing.
    """
    global _waiting
    outer = _here()
    if outer is not None:
        was_open, outer.open = outer.open, False
        try:
            yield
        finally:
            outer.open = was_open
        if was_open:
            outer.deliver()
        return
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting = _Waiting()
    try:
        with suppress(ValueError):  # an interpreter inside another one has no signals
            waiting.begin()
        _waiting = waiting
        yield
    finally:
        _waiting = None
        waiting.end()
        waiting.deliver()


@contextmanager
def released() -> Iterator[None]:
    """Handle signals as soon as they come, inside a block that holds them: for a function of the user."""
    waiting = _here()
    if waiting is None or waiting.open:
        yield
        return
    waiting.open = True
    try:
        waiting.deliver()
        yield
    finally:
        waiting.open = False


def deliver() -> None:
    """Handle the signals that have come: Ctrl-C raises KeyboardInterrupt here, and all is in a state to be kept."""
    waiting = _here()
    if waiting is not None:
        waiting.deliver()
