"""What several training runs on the same data share."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Shared:
    """What training runs on the same data share, such as binned features; each object is made on first use.

    Only the last object of each kind is kept, so that memory doesn't grow with the number of runs.
    """

    def __init__(self) -> None:
        self._held: dict[str, tuple[Any, Any]] = {}
        self._run: Any = None

    def begin(self, run: Any) -> None:
        """Begin a run; forget everything unless `run`, on which all objects depend, equals that of the run before."""
        if run != self._run:
            self._held.clear()
            self._run = run

    def once(self, kind: str, key: Any, make: Callable[[], T]) -> T:
        """Return the object of this kind; it is made anew unless the last one was made for an equal key."""
        if kind in self._held and self._held[kind][0] == key:
            return self._held[kind][1]
        self._held.pop(kind, None)  # before the next one takes as much memory
        made = make()
        self._held[kind] = (key, made)
        return made
