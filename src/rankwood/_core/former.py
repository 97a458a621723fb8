"""Names that parts and their fields had in earlier versions: saved models and users' programs still have them."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from rankwood._core import checks

T = TypeVar("T")


class Former(NamedTuple):
    """What a former name of a part stands for."""

    #: Takes the former fields, with their defaults, and returns today's part.
    make: Callable[..., Any]
    #: Today's name, for warnings.
    now: str


#: Former names of parts. `spec` reads them wherever a part may stand; metrics and objectives add theirs.
FORMER: dict[str, Former] = {}


def renamed_fields(**names: str) -> Callable[[type[T]], type[T]]:
    """Let a part still take fields by their former names: ``@renamed_fields(per="divide_by")``."""

    def decorate(cls: type[T]) -> type[T]:
        create = cls.__init__

        @wraps(create)
        def init(self: Any, *args: Any, **given: Any) -> None:
            for old in names.keys() & given.keys():
                _warn(f"{cls.__name__}.{old}", f"{cls.__name__}.{names[old]}")
            create(self, *args, **current(given, names, cls.__name__))

        cls.__init__ = init  # type: ignore[method-assign]
        cls.former_fields = names  # type: ignore[attr-defined]
        for old, new in names.items():
            setattr(cls, old, property(attrgetter(new)))
        return cls

    return decorate


def current(given: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """Return keyword arguments with today's keywords; `names` maps former ones to them."""
    for old in names.keys() & given.keys():
        if names[old] in given:
            raise checks.InputError(
                f"{what} got {names[old]}= and {old}=, its former name; give one of them."
            )
    return {names.get(key, key): value for key, value in given.items()}


def attribute(module: str, table: Mapping[str, Former], name: str) -> Any:
    """Return what a former name of a part in a module stands for, with a warning: `__getattr__` of that module."""
    if name not in table:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn(f"{module}.{name}", table[name].now)
    return table[name].make


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=4)
