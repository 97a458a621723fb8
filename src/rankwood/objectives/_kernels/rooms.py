"""The columns that a part asks for, read from its class: for the memory of a thread, and for that of a team."""

from typing import Any, Protocol

from rankwood._kernels.parts import named_record, parts_inside


class Columns(Protocol):
    """Memory that has room for columns: a thread's own, or places in the memory of a team of threads."""

    def real_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns of the kernel's precision, by name."""

    def index_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns of integers, by name."""

    def look_up_columns(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return columns that `look_up` fills, by name."""

    def tables_by_label(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return tables with a row for each label of a query, by name."""

    def sorting(self) -> Any:
        """Return memory of a sort."""


def make_room(part: Any, memory: Columns) -> Any:
    """Return what a part asks for: columns by name, and the room of each part inside it by its field."""
    room: dict[str, Any] = {
        **{name: make_room(inside, memory) for name, inside in parts_inside(part).items()},
        **memory.real_columns(_real_names(part)),
        **memory.index_columns(getattr(part, "index_columns", ())),
        **memory.look_up_columns(getattr(part, "look_up_columns", ())),
        **memory.tables_by_label(getattr(part, "tables_by_label", ())),
    }
    if getattr(part, "sorts", False):
        room["sorting"] = memory.sorting()
    return named_record(room)


def moving_columns(part: Any, room: Any) -> tuple[Any, ...]:
    """Return the columns of a part's room that move with the documents: all that `prepare` fills by rank.

    Columns of integers are not by document, and `look_up` fills its own after documents have moved.
    """
    inside = [
        column
        for name, part_inside in parts_inside(part).items()
        for column in moving_columns(part_inside, getattr(room, name))
    ]
    return (*inside, *(getattr(room, name) for name in _real_names(part)))


def _real_names(part: Any) -> tuple[str, ...]:
    return tuple(getattr(part, "columns", ())) + tuple(getattr(part, "swap_columns", ()))
