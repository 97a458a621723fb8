"""Arrays as bare pointers, for large kernels: memory without a shape, strides or an owner.

Numba passes an array to a function as seven numbers, and checks each index for its sign. If fifty functions of a
kernel share forty arrays, that takes twice as long to compile. Here an array is a `Pointer`, one number, and is indexed
by one instruction; and all arrays and numbers of a kernel are one `KernelMemory`, which is passed as one number: the
address of a table of addresses. Nothing checks an index, and the memory must outlive the kernel.

    TASK = MemoryLayout("task", arrays={"scores": np.float64}, integers=("size",))

    @jit
    def kernel(table):
        task = TASK.opened(table)       # `task.scores[i]`, `task.size`

    memory = TASK.memory(scores=np.zeros(5), size=5)
    kernel(memory.table)
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types  # type: ignore[attr-defined]
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, models, register_model
from numba.np.numpy_support import from_dtype

from rankwood._kernels.records import instruction

_WORD = ir.IntType(64)


class Pointer(types.Type):  # type: ignore[name-defined, misc]
    """The type of a pointer to numbers, or records, of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Pointer({dtype})")


class MemoryType(types.Type):  # type: ignore[name-defined, misc]
    """The type of a table of addresses and numbers."""

    def __init__(self, layout: "MemoryLayout") -> None:
        self.layout = layout
        super().__init__(name=f"KernelMemory({layout.name})")


@register_model(Pointer)
class _PointerModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager[kind.dtype].get_data_type().as_pointer())


@register_model(MemoryType)
class _MemoryModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


class KernelMemory:
    """Arrays and numbers of a kernel by name, and `table`, by which compiled code finds them.

    In plain Python, kernels read the attributes.
    """

    def __init__(self, layout: "MemoryLayout", values: Mapping[str, Any]) -> None:
        missing = set(layout.kinds) ^ set(values)
        if missing:
            raise TypeError(f"{layout.name}: fields that are missing or unknown: {sorted(missing)}")
        self._layout = layout
        self.table = np.zeros(len(layout.kinds), np.int64)
        self.set(**values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._layout.name} has no field {name!r}")

    def set(self, **values: Any) -> None:
        """Replace arrays or numbers."""
        for name, value in values.items():
            kind = self._layout.kinds[name]
            place = self._layout.places[name]
            if isinstance(kind, np.dtype):
                if value.dtype != kind or not value.flags.c_contiguous:
                    raise TypeError(
                        f"{name} must be a contiguous array of {kind}, got {value.dtype}"
                    )
                self.table[place] = value.ctypes.data
                value = value.reshape(-1)
            elif kind is float:
                self.table[place : place + 1].view(np.float64)[0] = value
            else:
                self.table[place] = value
            vars(self)[name] = value


class MemoryLayout:
    """What a kernel reads and writes: arrays by the types of their items, integers and reals, by name.

    Parameters
    ----------
    name : str
        A name of its own.
    arrays : mapping
        NumPy's type of the items of each array.
    integers, reals : sequence of str
        Names of numbers.
    """

    def __init__(
        self,
        name: str,
        arrays: Mapping[str, Any],
        integers: Sequence[str] = (),
        reals: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.kinds: dict[str, Any] = {name: np.dtype(kind) for name, kind in arrays.items()}
        self.kinds |= dict.fromkeys(integers, int) | dict.fromkeys(reals, float)
        self.places = {name: place for place, name in enumerate(self.kinds)}
        kind = MemoryType(self)

        def opened(table: Any) -> Any:
            return table

        instruction(opened, lambda table: kind, _data)
        #: Turns the table that a kernel is given into the memory; in plain Python, it returns the memory that it gets.
        self.opened = opened

    def memory(self, **values: Any) -> KernelMemory:
        """Return arrays and numbers as one memory."""
        return KernelMemory(self, values)

    def type_of(self, name: str) -> Any:
        """Return Numba's type of a field."""
        kind = self.kinds[name]
        if isinstance(kind, np.dtype):
            return Pointer(from_dtype(kind))
        return types.float64 if kind is float else types.int64


def behind(pointer: Any, i: Any) -> Any:
    """Return a pointer to what begins at place i."""
    return pointer[int(i) :]


def _data(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.make_array(signature.args[0])(context, builder, args[0]).data


def place_in(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return an address: that of the item of an array, or behind a pointer, at an index."""
    kind, index = signature.args[:2]
    start = args[0] if isinstance(kind, Pointer) else _data(context, builder, signature, args)
    return builder.gep(start, [context.cast(builder, args[1], index, types.intp)], inbounds=True)


instruction(behind, lambda pointer, i: pointer, place_in)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = MemoryType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.layout.type_of(name) if name in kind.layout.kinds else None


@lower_getattr_generic(MemoryType)
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    place = builder.gep(value, [ir.IntType(32)(kind.layout.places[name])], inbounds=True)
    word = builder.load(place)
    # The table doesn't change while a kernel runs.
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    result = kind.layout.type_of(name)
    if isinstance(result, Pointer):
        return builder.inttoptr(word, context.get_value_type(result))
    return builder.bitcast(word, context.get_value_type(result))


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        pointer, index = args
        if isinstance(pointer, Pointer) and isinstance(index, types.Integer):
            return signature(pointer.dtype, pointer, index)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        pointer, index, _ = args
        if isinstance(pointer, Pointer) and isinstance(index, types.Integer):
            return signature(types.none, pointer, index, pointer.dtype)
        return None


@lower_builtin(operator.getitem, Pointer, types.Integer)
def _get(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = place_in(context, builder, signature, args)
    return context.unpack_value(builder, signature.args[0].dtype, place)


@lower_builtin(operator.setitem, Pointer, types.Integer, types.Any)  # type: ignore[attr-defined]
def _set(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = place_in(context, builder, signature, args)
    value = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
    context.pack_value(builder, signature.args[0].dtype, value, place)
    return context.get_dummy_value()
