"""LightGBM's line "Listening...", which it prints to stdout at any verbosity, from a thread of its own."""

import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

_LINE = b"[LightGBM] [Info] Listening..."
_STDOUT = 1
_ONE = threading.Lock()


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Leave that line out of stdout, in the process of a worker; what else is printed meanwhile comes afterwards."""
    # A process that a user started has other threads that print: there the line stays.
    if multiprocessing.parent_process() is None or not _ONE.acquire(blocking=False):
        yield
        return
    try:
        with contextlib.ExitStack() as stack:
            # Without stdout, or room for a file, there is the line at worst.
            with contextlib.suppress(OSError):
                stack.enter_context(_held_back())
            yield
    finally:
        _ONE.release()


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Keep what is printed in a file, and print it at the end without the line."""
    with tempfile.TemporaryFile() as file:
        _flush()
        stdout = os.dup(_STDOUT)
        os.dup2(file.fileno(), _STDOUT)
        try:
            yield
        finally:
            _flush()
            os.dup2(stdout, _STDOUT)
            os.close(stdout)
            file.seek(0)
            rest = b"".join(line for line in file if line.strip() != _LINE)
            with contextlib.suppress(OSError):  # nobody reads it any more
                os.write(_STDOUT, rest)


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()
