"""Everything the package knows about Numba: `jit`, `verb`, `part`, `lower`, and records of columns.

A *part* is a frozen dataclass that users compose (`Swap(NDCG(10))`); a *verb* is a compiled function
whose body is the method of the part given first. Kernels take parts in their lowered form, named
tuples all the way down, so dispatch happens by type at compile time and parameters stay run-time
values. Compiled code is found on disk by the next process; the name of a lowered class carries a
digest of the sources, so an edited part, wherever it lives, is compiled anew.
"""

import hashlib
import inspect
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import CodeType
from typing import Annotated, Any, TypeVar, dataclass_transform, get_origin

import numba
import numpy as np
from llvmlite import ir
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

from rankwood._core import checks, lowered

# A fast-math subset without nnan and ninf: NaN and infinity keep their meaning.
OPTIONS: dict[str, Any] = {
    "fastmath": {"nsz", "arcp", "contract", "reassoc"},
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
# What only compiled code calls needs no door to Python, which takes time to compile.
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
ALL = 2**62  # what a cutoff of None ("no cutoff") becomes in a kernel
VERBS: dict[str, Any] = {}
PARTS: dict[str, type] = {}
JIT = not numba.config.DISABLE_JIT

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _package_digest() -> bytes:
    """Digest of the kernel sources: Numba itself only notices changes in the file of a function."""
    root = Path(__file__).parents[1]
    folders = ("_core", "metrics", "objectives", "data", "engines/pairtree")
    files = [path for name in folders for path in root.glob(f"{name}/**/*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).digest()


_DIGEST = _package_digest()


def jit(fn: F) -> F:
    """Compile without the GIL and keep the result on disk, where some directory is writable."""
    try:
        compiled = numba.njit(cache=True, nogil=True, **OPTIONS)(fn)
    except RuntimeError:  # no writable place for a cache: compile in every process
        return numba.njit(nogil=True, **OPTIONS)(fn)
    # What is on disk is good for these sources only: a kernel calls functions of other files, and
    # after an upgrade the old compiled code may still lie there.
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None:
        file._source_stamp = (file._source_stamp, _DIGEST)
    return compiled


def inner(fn: F) -> F:
    """Let compiled functions call `fn`: compiled as a part of them, plain Python for everyone else."""
    overload(fn, jit_options=INNER, strict=False)(lambda *args: fn)
    return fn


def inline(fn: F) -> F:
    """Do as `inner` does, without a call: for loops that would be handed dozens of arrays and numbers."""
    options = {**INNER, "forceinline": True}
    overload(fn, jit_options=options, strict=False)(lambda *args: fn)
    return fn


def exactly(fn: F) -> F:
    """Do as `inner` does, but round as written: a product and a sum stay two steps, in either order the same."""
    options = {**INNER, "fastmath": False}
    overload(fn, jit_options=options, strict=False)(lambda *args: fn)
    return fn


def verb(stub: Callable[..., Any], default: Callable[..., Any] | None = None) -> Any:
    """Make a compiled function whose body is chosen, at compile time, by the part given first."""
    table: dict[type, Callable[..., Any]] = {}

    def generic(self: Any, *args: Any) -> Any:
        return table.get(type(self), default)(self, *args)  # type: ignore[misc]

    @overload(generic, jit_options=INNER, strict=False)
    def choose(self: Any, *args: Any) -> Any:
        return table.get(getattr(self, "instance_class", None), default)  # type: ignore[arg-type]

    generic.table = table  # type: ignore[attr-defined]
    generic.signature = inspect.signature(stub)  # type: ignore[attr-defined]
    generic.__name__ = stub.__name__
    generic.__doc__ = stub.__doc__
    VERBS[stub.__name__] = generic
    return generic


@dataclass_transform(frozen_default=True)
def part(cls: type[T]) -> type[T]:
    """Make a frozen dataclass whose kernel methods are compiled: what users compose, what kernels read."""
    cls.__post_init__ = _check_fields  # type: ignore[attr-defined]
    cls = dataclass(frozen=True, repr=False)(cls)
    raw = namedtuple(_raw_name(cls), [f.name for f in fields(cls)], module=lowered.__name__)  # type: ignore[arg-type, misc]
    setattr(lowered, raw.__name__, raw)
    cls.Raw = raw  # type: ignore[attr-defined]
    cls.__repr__ = _repr  # type: ignore[method-assign, assignment]
    for name, method in vars(cls).items():
        if name in VERBS and inspect.isfunction(method):
            want = VERBS[name].signature.parameters
            got = inspect.signature(method).parameters
            if len(want) != len(got):
                raise TypeError(
                    f"{cls.__name__}.{name}({', '.join(got)}) must take ({', '.join(want)})."
                )
            VERBS[name].table[raw] = method
    owner = PARTS.get(cls.__name__, cls).__module__
    if owner != cls.__module__ and owner.startswith("rankwood."):
        raise TypeError(f"there is a part {cls.__name__} already, in {owner}: choose another name.")
    PARTS[cls.__name__] = cls
    return cls


def _raw_name(cls: type) -> str:
    """Name of the lowered class: changes whenever the part, its file or the package's kernels change."""
    try:
        source = Path(inspect.getfile(cls)).read_bytes()
    except (OSError, TypeError):  # typed into an interpreter
        source = b""
    methods = [
        f"{name}{_spell(f.__code__)}" for name, f in vars(cls).items() if inspect.isfunction(f)
    ]
    known = _DIGEST + source + repr([[f.name for f in fields(cls)], methods]).encode()  # type: ignore[arg-type]
    return f"{cls.__name__}_{hashlib.sha256(known).hexdigest()[:16]}"


def _spell(value: Any) -> str:
    """Return what a function does as text, the same in every process: code prints its address, sets have any order."""
    if isinstance(value, CodeType):
        names = repr((value.co_code, value.co_names, value.co_varnames))
        return names + _spell(value.co_consts)
    if isinstance(value, tuple):
        return f"({', '.join(map(_spell, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_spell, value)))}}}"
    return repr(value)


def Can(verb: str) -> Any:
    """Annotate a field that takes any part with this verb."""
    return Annotated[Any, verb]


def OneOf(*choices: str) -> Any:
    """Annotate a field that takes one of these words; kernels see its place among them."""
    return Annotated[str, choices]


def _check_fields(self: Any) -> None:
    """Check a part's fields by their annotations: cutoffs, numbers, words, and parts that can do what is asked."""
    for f in fields(self):
        value, name = getattr(self, f.name), f"{type(self).__name__}.{f.name}"
        kind: Any = f.type
        if kind is float:
            value = checks.finite(value, name)
        elif kind is int or (kind == (int | None) and value is not None):
            value = checks.at_least(value, 1, name)
        elif kind is bool:
            value = checks.one_of(value, (True, False), name)
        elif get_origin(kind) is Annotated and isinstance(kind.__metadata__[0], tuple):
            value = checks.one_of(value, kind.__metadata__[0], name)
        elif get_origin(kind) is Annotated:
            table = VERBS[kind.__metadata__[0]].table
            if getattr(type(value), "Raw", None) not in table:
                able = sorted(c.__name__ for c in PARTS.values() if c.Raw in table)  # type: ignore[attr-defined]
                raise checks.InputError(
                    f"{name} must be a part that can {kind.__metadata__[0]!r} "
                    f"({', '.join(able)}), got {value!r}."
                )
        object.__setattr__(self, f.name, value)
    if hasattr(self, "check"):  # what only this part can know about its fields
        self.check()


def _repr(self: Any) -> str:
    """Python that gives the part back; defaults are left out."""
    shown = [
        f"{f.name}={getattr(self, f.name)!r}"
        for f in fields(self)
        if getattr(self, f.name) != f.default
    ]
    return f"{type(self).__name__}({', '.join(shown)})"


def check_labels(part: Any, y: np.ndarray) -> None:
    """Raise unless every part inside `part` can read these labels."""
    if hasattr(part, "check_labels"):
        part.check_labels(y)
    for f in fields(part):
        if is_part(getattr(part, f.name)):
            check_labels(getattr(part, f.name), y)


def is_part(x: Any) -> bool:
    """Tell whether `x` is a part."""
    return hasattr(type(x), "Raw")


def lower(x: Any, real: type = np.float64) -> Any:
    """Turn a part into the form kernels take; its floats get the kernel's precision."""
    if is_part(x):
        return type(x).Raw(*[_lower_field(x, f, real) for f in fields(x)])  # type: ignore[attr-defined]
    if x is None:
        return ALL
    return real(x) if isinstance(x, float) else x


def _lower_field(x: Any, field: Any, real: type) -> Any:
    value = getattr(x, field.name)
    if isinstance(value, str):
        return field.type.__metadata__[0].index(value)
    return lower(value, real)


# Records: (named) tuples, nested or not, of columns (1-D arrays over documents), tables (2-D arrays), constants,
# and columns that are written in the loop and so stay where they are when documents move (3-D arrays, the
# first two dimensions being 1).


def at(record: Any, i: int) -> Any:
    """Return document `i` of a record: columns are indexed, tables and constants pass, tuples recurse."""
    if isinstance(record, np.ndarray) and record.ndim == 3:
        return record[0, 0, i]
    return _each(record, lambda x: at(x, i), lambda x: x[i])


def cut(record: Any, start: int, stop: int) -> Any:
    """Return the same record for documents `start` to `stop`."""
    return _each(record, lambda x: cut(x, start, stop), lambda x: x[start:stop])


def copied(record: Any, start: int, stop: int) -> Any:
    """Return the same record for documents `start` to `stop` in arrays of its own, tables included."""
    return _each(record, lambda x: copied(x, start, stop), lambda x: x[start:stop].copy())


def take(record: Any, order: np.ndarray) -> Any:
    """Return the same record with document `order[i]` at place i, in new columns."""
    return _each(record, lambda x: take(x, order), lambda x: _taken(x, order))


def _each(record: Any, inner: Callable[[Any], Any], leaf: Callable[[Any], Any]) -> Any:
    if isinstance(record, tuple):
        items = [inner(x) for x in record]
        return type(record)(*items) if hasattr(record, "_fields") else tuple(items)
    return leaf(record) if isinstance(record, np.ndarray) and record.ndim == 1 else record


@inner
def _taken(column: Any, order: Any) -> Any:
    out = np.empty(order.size, column.dtype)
    for i in range(order.size):
        out[i] = column[order[i]]
    return out


@overload(at, jit_options=INNER, strict=False)
def _at(record: Any, i: Any) -> Any:
    return _compiled_each(record, "i", "{}[i]", written="{}[0, 0, i]")


@overload(cut, jit_options=INNER, strict=False)
def _cut(record: Any, start: Any, stop: Any) -> Any:
    return _compiled_each(record, "start, stop", "{}[start:stop]")


@overload(copied, jit_options=INNER, strict=False)
def _copied(record: Any, start: Any, stop: Any) -> Any:
    return _compiled_each(record, "start, stop", "{}[start:stop].copy()", "{}.copy()")


@overload(take, jit_options=INNER, strict=False)
def _take(record: Any, order: Any) -> Any:
    return _compiled_each(record, "order", "_taken({}, order)")


def _compiled_each(
    record: Any, args: str, leaf: str, table: str = "{}", written: str = "{}"
) -> Callable[..., Any]:
    """Write out what `_each` does for one type of record: Numba can't loop over mixed tuples."""
    scope: dict[str, Any] = {"_taken": _taken}

    def spell(kind: Any, path: str) -> str:
        if isinstance(kind, types.Array):
            return {1: leaf, 2: table, 3: written}[kind.ndim].format(path)
        if not isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
            return path
        items = "".join(spell(x, f"{path}[{i}]") + ", " for i, x in enumerate(kind))
        make = ""
        if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
            make = f"make{len(scope)}"
            scope[make] = kind.instance_class
        return f"{make}({items})"

    exec(f"def each(record, {args}): return {spell(record, 'record')}", scope)
    return scope["each"]


def add2(to: Any, at: Any, source: Any, k: Any) -> None:
    """Add two numbers of `source`, from k on, to two of `to`, from `at` on: one addition of a vector."""
    for i in range(2):
        to[int(at) + i] += source[int(k) + i]


@overload(add2, jit_options=INNER, strict=False)
def _add2_overload(to: Any, at: Any, source: Any, k: Any) -> Any:
    return lambda to, at, source, k: _vector_add(to, at, source, k)


@intrinsic
def _vector_add(typing: Any, to: Any, at: Any, source: Any, k: Any) -> Any:
    """Write a vector addition: LLVM doesn't find it by itself in a loop whose indices come from data."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = []
        for array, index in ((0, 1), (2, 3)):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            vector = ir.VectorType(data.type.pointee, 2).as_pointer()
            places.append(builder.bitcast(builder.gep(data, [args[index]]), vector))
        left, right = (builder.load(place, align=8) for place in places)
        builder.store(builder.add(left, right), places[0], align=8)
        return context.get_dummy_value()

    return types.void(to, at, source, k), build


def fetch(array: Any, at: Any) -> None:
    """Ask for `array[at]` to be brought to the cache: for places that no machine can guess."""


@overload(fetch, jit_options=INNER, strict=False)
def _fetch(array: Any, at: Any) -> Any:
    return lambda array, at: _prefetch(array, at)


@intrinsic
def _prefetch(typing: Any, array: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        call = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), kind)
        builder.call(call, [place, word(0), word(3), word(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, at), build


def like(x: Any, value: float) -> Any:
    """Return a constant in the precision of `x`, so that float32 kernels stay float32."""
    return type(x)(value)


@overload(like, jit_options=INNER, strict=False)
def _like(x: Any, value: Any) -> Any:
    if isinstance(x, types.Float):
        real = x
        return lambda x, value: real(value)
    return lambda x, value: float(value)


def digits(x: Any) -> Any:
    """Return 0 and 1 to count with, as wide as `x`, so that counts fill vectors as numbers like `x` do."""
    return 0, 1


@overload(digits, jit_options=INNER, strict=False)
def _digits(x: Any) -> Any:
    if x == types.float32:  # floats count exactly up to 2^24
        return lambda x: (np.float32(0.0), np.float32(1.0))
    return lambda x: (np.int64(0), np.int64(1))


def either(absent: Any, first: Any, second: Any) -> Any:
    """Return `first` if `absent` is None, else `second`; compiled code chooses by type, so theirs may differ."""
    return first if absent is None else second


@overload(either, jit_options=INNER, strict=False)
def _either(absent: Any, first: Any, second: Any) -> Any:
    if isinstance(absent, types.NoneType):  # type: ignore[attr-defined]
        return lambda absent, first, second: first
    return lambda absent, first, second: second


def exp(x: Any) -> Any:
    """Return e to the power x; in float32 a polynomial, right to 3e-7, that vectorises."""
    return np.exp(x)


@overload(exp, jit_options=INNER, strict=False)
def _exp(x: Any) -> Any:
    return _exp32 if x == types.float32 else lambda x: np.exp(x)


def _exp32(x):  # type: ignore[no-untyped-def]
    """Powers of two by exponent bits, the rest by a polynomial on [-ln(2)/2, ln(2)/2]; for |x| below 87."""
    n = np.float32(np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5)))
    # ln(2) in two pieces: n times the first is exact.
    r = x - n * np.float32(0.693359375)
    r = r - n * np.float32(-2.12194440e-4)
    p = np.float32(1.0 / 5040)
    p = p * r + np.float32(1.0 / 720)
    p = p * r + np.float32(1.0 / 120)
    p = p * r + np.float32(1.0 / 24)
    p = p * r + np.float32(1.0 / 6)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


def log(x: Any) -> Any:
    """Return the natural logarithm of a positive x; in float32 a polynomial, right to 2e-7, that vectorises."""
    return np.log(x)


@overload(log, jit_options=INNER, strict=False)
def _log(x: Any) -> Any:
    return _log32 if x == types.float32 else lambda x: np.log(x)


def _log32(x):  # type: ignore[no-untyped-def]
    """Exponent bits times ln(2), and 2 atanh(t) with t = (m - 1) / (m + 1) of a mantissa m in [1/sqrt(2), sqrt(2))."""
    bits = np.float32(x).view(np.int32)
    e = np.int32((bits - np.int32(0x3F3504F3)) >> np.int32(23))
    m = np.int32(bits - (e << np.int32(23))).view(np.float32)
    t = (m - np.float32(1.0)) / (m + np.float32(1.0))
    t2 = t * t
    p = np.float32(1.0 / 9)
    p = p * t2 + np.float32(1.0 / 7)
    p = p * t2 + np.float32(1.0 / 5)
    p = p * t2 + np.float32(1.0 / 3)
    p = p * t2 + np.float32(1.0)
    return np.float32(e) * np.float32(0.6931471805599453) + (t + t) * p
