"""The classes that compiled kernels know: lowered parts, and records of named columns.

Numba writes the types of a kernel's arguments into the index of its disk cache, and one class that can't be found
makes the whole index unreadable. A part may live in a script, a notebook or a module that the next process doesn't
have, so the classes of all parts live here. A name that nobody has registered yet gives an empty stand-in, which
equals no real part. The name of a record lists its fields, so any process can make the class again.
"""

import re
from collections import namedtuple
from typing import Any

_RECORD = "record__"


def __getattr__(name: str) -> Any:
    if name.startswith(_RECORD):
        made = namedtuple(name, name.removeprefix(_RECORD).split("__"), module=__name__)  # type: ignore[misc]
        return globals().setdefault(name, made)
    if not re.fullmatch(
        r"\w+_[0-9a-f]{16}", name
    ):  # the name of a part and the digest of its sources
        raise AttributeError(name)
    stand_in = type(name, (tuple,), {"__module__": __name__, "_fields": ()})
    return globals().setdefault(name, stand_in)


def record_class(fields: tuple[str, ...]) -> Any:
    """Return the named tuple with these fields: the same class for the same fields."""
    name = _RECORD + "__".join(fields)
    return globals().get(name) or __getattr__(name)
