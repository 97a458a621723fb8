"""What training runs leave to the next one on the same data, and a folder for what none leaves."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class RunCache:
    """Objects that training runs on the same data share, such as binned features; each is created on first use.

    Only the last object of each kind is kept, so that memory doesn't grow with the number of runs.
    """

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Any, Any]] = {}
        self._run: Any = None

    def begin(self, run: Any) -> None:
        """Begin a run; clear the cache unless `run`, on which all objects depend, equals the previous run's."""
        if run != self._run:
            self._entries.clear()
            self._run = run

    def once(self, kind: str, key: Any, make: Callable[[], T]) -> T:
        """Return the object of this kind; it is created anew unless the last one was created for an equal key."""
        if kind in self._entries and self._entries[kind][0] == key:
            return self._entries[kind][1]
        self._entries.pop(kind, None)  # before the next one takes as much memory
        entry = make()
        self._entries[kind] = (key, entry)
        return entry


class TempFolder(NamedTuple):
    """A folder that is removed at the end; `cleanup` closes what has files in it before."""

    path: str
    cleanup: ExitStack


@contextmanager
def temp_folder() -> Iterator[TempFolder]:
    """Yield a temporary folder, which is removed even after an error."""
    with (
        tempfile.TemporaryDirectory(prefix="rankwood-", ignore_cleanup_errors=True) as path,
        ExitStack() as cleanup,
    ):
        yield TempFolder(path, cleanup)
