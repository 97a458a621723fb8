"""Text that several writers share: a JSON object with one long array, a line for each tree."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rankwood.export.rules import as_written

_MARK = "[]"


def array_text(content: Any) -> tuple[str, str]:
    """Return what comes before and after the items of the last array of an object, which must be empty.

    Parameters
    ----------
    content : object for JSON
        Its last array is the one that is written item by item.

    Returns
    -------
    str, str
        The text up to the array's bracket with a line break, and the text from the other bracket on.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    start, _, end = text.rpartition(_MARK)
    return f"{start}[\n", f"]{end}\n"


def tree_lines(trees: Iterable[str], more: Iterable[str] = ()) -> Iterator[str]:
    """Yield trees as items of an array, a line each."""
    comma = ""
    for items in (trees, more):
        for tree in items:
            yield f"{comma}{tree}"
            comma = ",\n"
    yield "\n"


def narrow(value: float) -> float:
    """Return a number as float32, in a double."""
    return as_written([value])[0]
