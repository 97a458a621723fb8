"""Kinds of items, a module each: what an item needs to be trained, and how its page shows it.

A kind has `KEYS`, the keys of an item that only it knows; `plan`, which returns what to train (kinds without it need
no data); and `show`, which makes the content of the page of what was found.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from rankwood._util import checks


def names() -> list[str]:
    """Return the names of all kinds."""
    return sorted(m.name.replace("_", "-") for m in iter_modules(__path__) if m.name[0] != "_")


def find(name: Any, where: str = "reproduce") -> Any:
    """Return the module of a kind by its name."""
    if name not in names():
        near = checks.nearest(str(name), names())
        raise checks.InputError(f"{where}: there is no kind of item {name!r}{near}")
    return import_module(f"{__name__}.{name.replace('-', '_')}")
