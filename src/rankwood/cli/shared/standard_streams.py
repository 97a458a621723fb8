"""Standard streams that work even if the shell has closed them or has another encoding."""

import codecs
import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

#: What is written for signs that the encoding of a stream lacks; each is as wide as the sign itself.
_PLAIN = {
    "†": "+",
    "‡": "#",
    "↓": "v",
    "↑": "^",
    "−": "-",
    "–": "-",
    "─": "-",
    "━": "=",
    "×": "x",
    "±": "~",
}
_ERRORS = "rankwood.plain"


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement of characters that can't be encoded: similar ones, or escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(
        _PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in letters
    ), error.end


codecs.register_error(_ERRORS, _plain)


@contextmanager
def usable_streams() -> Iterator[frozenset[str]]:
    """Make sure that all streams can be used, and yield the names of those that the shell has closed.

    A closed stream is opened on the null device: otherwise the next file that is opened would get its number, and an
    engine's messages would be written into a model.
    """
    closed = frozenset(n for n in ("stdin", "stdout", "stderr") if getattr(sys, n) is None)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if name in closed:
            _open_number(number)
        if name in closed and name != "stdin":
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    former = getattr(sys.stdout, "errors", None)
    change = getattr(sys.stdout, "reconfigure", None)
    if change is not None:
        change(errors=_ERRORS)
    try:
        yield closed
    finally:
        if change is not None and former is not None and not sys.stdout.closed:
            change(errors=former)


def _open_number(number: int) -> None:
    """Open the null device under the number of a stream, unless the number is in use."""
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != number:
            os.dup2(null, number)
            os.close(null)


@contextmanager
def messages_to_stderr() -> Iterator[None]:
    """Send to standard error whatever is written to standard output meanwhile: our output has no line of an engine.

    Engines write from Python and from C, in threads without a logger, and in processes that inherit the descriptor.
    """
    _flush()
    try:
        saved = os.dup(1)
    except OSError:  # no such descriptor: nothing but Python can write
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        with suppress(OSError):  # without standard error, messages stay where they are
            os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(saved, 1)
        os.close(saved)


def _flush() -> None:
    """Flush the buffers of Python and C for standard output."""
    sys.stdout.flush()
    with suppress(OSError, TypeError, AttributeError):  # Windows has no such library
        ctypes.CDLL(None).fflush(None)
