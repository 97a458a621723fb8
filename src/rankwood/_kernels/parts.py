"""Parts: frozen dataclasses that users compose (`Swap(NDCG(10))`) and whose methods kernels call as verbs.

Kernels take a part in its lowered form, named tuples all the way down: dispatch happens by type when a kernel is
compiled, and parameters stay run-time values. The name of a lowered class carries a digest of the sources, so an
edited part, wherever it lives, is compiled anew.
"""

import hashlib
import inspect
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, dataclass_transform, get_origin, get_type_hints

import numpy as np

from rankwood._kernels.compile import kernel_classes as lowered
from rankwood._kernels.compile.digest import DIGEST, is_ours
from rankwood._kernels.compile.kernel_classes import record_class
from rankwood._kernels.compile.stable_text import stable_text
from rankwood._kernels.fields import (
    ALL,
    PARTS,
    Can,
    Fraction,
    NonNegative,
    OneOf,
    Positive,
    is_part,
)
from rankwood._kernels.verbs import VERBS
from rankwood._util import checks

__all__ = [
    "ALL",
    "PARTS",
    "Can",
    "Fraction",
    "NonNegative",
    "OneOf",
    "Positive",
    "all_parts",
    "check_labels",
    "computed_text",
    "is_part",
    "lower",
    "named_record",
    "part",
    "parts_inside",
]
T = TypeVar("T")
#: Class attributes in which a part names columns and tables.
_NAMES_OF_COLUMNS = (
    "columns",
    "swap_columns",
    "index_columns",
    "label_columns",
    "look_up_columns",
    "tables_by_label",
)


@dataclass_transform(frozen_default=True)
def part(cls: type[T]) -> type[T]:
    """Make a frozen dataclass whose methods kernels can call as verbs.

    Fields are checked by their annotations when a part is made: `int` (at least 1), `int | None` (a cutoff, or none),
    `float`, `Positive`, `NonNegative`, `Fraction`, `bool`, `Annotated[str, OneOf("a", "b")]`, and kinds of parts, as
    `Weight`. A part prints as the Python that makes it, and `rankwood.objective` reads that back.

    Parameters
    ----------
    cls : class
        Fields with annotations and defaults, and methods that are verbs.

    Returns
    -------
    class
        The same class, as a frozen dataclass.

    Examples
    --------
    >>> from rankwood.extend import Positive, part
    >>> @part
    ... class Constant:
    ...     '''The same weight for every pair.'''
    ...     value: Positive = 2.0
    ...
    ...     def weight(self, a, b):
    ...         return self.value
    >>> Constant(3)
    Constant(value=3.0)
    """
    cls.__post_init__ = _check_fields  # type: ignore[attr-defined]
    cls = dataclass(frozen=True, repr=False)(cls)
    _check_class(cls)
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    raw = namedtuple(_lowered_name(cls), names, module=lowered.__name__)  # type: ignore[misc]
    setattr(lowered, raw.__name__, raw)
    raw.part = cls  # type: ignore[attr-defined]
    cls.Lowered = raw  # type: ignore[attr-defined]
    cls.__repr__ = _repr  # type: ignore[method-assign, assignment]
    for verb in VERBS.values():
        verb.check_signature(cls)
    owner = PARTS.get(cls.__name__, cls).__module__
    if owner != cls.__module__ and owner.startswith("rankwood."):
        raise TypeError(f"there is a part {cls.__name__} already, in {owner}: choose another name.")
    PARTS[cls.__name__] = cls
    return cls


def _check_class(cls: type) -> None:
    """Raise unless the annotations of a part are kinds of fields, and its columns tuples of names."""
    methods = (
        f for f in vars(cls).values() if inspect.isfunction(f) and f.__module__ == cls.__module__
    )
    scope = next((f.__globals__ for f in methods), None)
    try:
        hints = get_type_hints(cls, scope, include_extras=True)
    except NameError as error:
        raise TypeError(f"{cls.__name__}: an annotation can't be read: {error}.") from None
    for f in fields(cls):  # type: ignore[arg-type]
        f.type = hints[f.name]  # text, after `from __future__ import annotations`
        if f.type is str:
            raise TypeError(
                f"{cls.__name__}.{f.name} must say which words it takes: Annotated[str, OneOf('a', 'b')]."
            )
    for name in _NAMES_OF_COLUMNS:
        if isinstance(getattr(cls, name, ()), str):
            raise TypeError(
                f"{cls.__name__}.{name} must be a tuple of names: ({getattr(cls, name)!r},)."
            )


def _lowered_name(cls: type) -> str:
    """Return the name of the lowered class: it changes whenever the part, its file or the package's kernels change."""
    try:
        file = inspect.getfile(cls)
        # The digest of the package covers its own files; prose of theirs doesn't count.
        source = cls.__module__.encode() if is_ours(file) else Path(file).read_bytes()
    except (OSError, TypeError):  # typed into an interpreter
        source = b""
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    content = DIGEST + source + repr([names, _method_texts(cls)]).encode()
    return f"{cls.__name__}_{hashlib.sha256(content).hexdigest()[:16]}"


def _check_fields(self: Any) -> None:
    """Check a part's fields by their annotations."""
    for f in fields(self):
        value, name = getattr(self, f.name), f"{type(self).__name__}.{f.name}"
        kind: Any = f.type
        if kind is float:
            value = checks.finite(value, name)
        elif kind is int or (kind == (int | None) and value is not None):
            value = checks.at_least(value, 1, name)
        elif kind is bool:
            value = checks.one_of(value, (True, False), name)
        elif get_origin(kind) is Annotated:
            value = kind.__metadata__[0].check(value, name)
        object.__setattr__(self, f.name, value)
    if hasattr(self, "check"):  # what only this part can know about its fields
        self.check()


def _repr(self: Any) -> str:
    """Return Python that makes the part; fields at their defaults are omitted."""
    shown = [
        f"{f.name}={getattr(self, f.name)!r}"
        for f in fields(self)
        if getattr(self, f.name) != f.default
    ]
    return f"{type(self).__name__}({', '.join(shown)})"


def parts_inside(part: Any) -> dict[str, Any]:
    """Return the parts that are fields of a part, by the name of the field."""
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return {name: value for name, value in values.items() if is_part(value)}


def all_parts(part: Any) -> Iterator[Any]:
    """Yield a part and every part inside it."""
    yield part
    for inside in parts_inside(part).values():
        yield from all_parts(inside)


def computed_text(part: Any) -> str:
    """Return what a part computes, the same text in each process.

    It is how the part prints and, for classes of other packages, whose code may change under the same name, a digest of
    their code and of the functions that it calls.
    """
    classes = {type(inside).__name__: type(inside) for inside in all_parts(part)}
    codes = {name: _own_code(cls) for name, cls in sorted(classes.items())}
    own = [f"{name}={code}" for name, code in codes.items() if code]
    return repr(part) + (f" with {', '.join(own)}" if own else "")


def _own_code(cls: type) -> str:
    """Return a digest of the methods of a part; nothing if it belongs to this package."""
    if cls.__module__.partition(".")[0] == "rankwood":
        return ""
    return hashlib.sha256("".join(_method_texts(cls)).encode()).hexdigest()[:16]


def _method_texts(cls: type) -> list[str]:
    """Return the code of each method of a part, inherited ones too."""
    names = [name for name in dir(cls) if not name.startswith("__")]
    attributes = {name: inspect.getattr_static(cls, name) for name in names}
    return [f"{name}{stable_text(f)}" for name, f in attributes.items() if inspect.isfunction(f)]


def named_record(columns: dict[str, Any]) -> Any:
    """Return a named tuple that kernels take, from names and values; an empty tuple if there are none."""
    return record_class(tuple(columns))(*columns.values()) if columns else ()


def check_labels(part: Any, y: np.ndarray) -> None:
    """Raise unless every part inside `part` can read these labels."""
    for inside in all_parts(part):
        if hasattr(inside, "check_labels"):
            inside.check_labels(y)


def lower(x: Any, real: type = np.float64) -> Any:
    """Return a part in the form that kernels take; its floats get the kernel's precision."""
    if is_part(x):
        return type(x).Lowered(*[_lower_field(x, f, real) for f in fields(x)])  # type: ignore[attr-defined]
    if x is None:
        return ALL
    return real(x) if isinstance(x, float) else x


def _lower_field(x: Any, field: Any, real: type) -> Any:
    value = getattr(x, field.name)
    if isinstance(value, str):
        return field.type.__metadata__[0].words.index(value)
    return lower(value, real)
