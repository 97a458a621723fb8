"""Text that several writers share: a JSON object with one long array, a line for each tree."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.forest.export.cuts import as_written

_MARK = "[]"
_BLANKS = re.compile(r"[\s,]*")


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


def value_of(text: str, key: str) -> Any:
    """Return the value of the first key of this name in a JSON text."""
    return json.JSONDecoder().raw_decode(text, _start_of(text, key))[0]


def items_of(text: str, key: str | None = None) -> Iterator[Any]:
    """Yield the items of an array in a JSON text one by one: all of them at once would take much memory.

    Parameters
    ----------
    text : str
        JSON.
    key : str, optional
        The first key of this name has the array; without one, the text is the array.

    Yields
    ------
    object
        An item.
    """
    decoder = json.JSONDecoder()
    at = text.index("[", 0 if key is None else _start_of(text, key)) + 1
    while True:
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if text[at] == "]":
            return
        item, at = decoder.raw_decode(text, at)
        yield item


def _start_of(text: str, key: str) -> int:
    """Return where the value of a key begins; quotes inside words have a backslash, so no word looks like one."""
    match = re.search(rf'"{key}"\s*:\s*', text)
    if match is None:
        raise checks.InputError(f"the text has no {key!r}.")
    return match.end()


def narrow(value: float) -> float:
    """Return a number as float32, in a double."""
    return as_written(np.array([value]))[0]
