"""Numba's CUDA target: what a kernel asks of its block of threads, and how kernels are compiled and started.

This module needs numba-cuda; `_core/device.py` says whether it is there. Every block of threads is a team that computes
one query. `docs/gpu.md` describes the memory of a team.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

# NumPy 2.5 has removed three names that numba-cuda 0.30 still looks up while it is imported.
for _gone, _now in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if not hasattr(np, _gone):
        setattr(np, _gone, getattr(np, _now))

from llvmlite import ir  # noqa: E402
from numba import cuda  # noqa: E402
from numba.core import cgutils, types  # type: ignore[attr-defined]  # noqa: E402
from numba.cuda.extending import overload  # noqa: E402

from rankwood._core import each as sharing  # noqa: E402
from rankwood._core.compile import OPTIONS  # noqa: E402
from rankwood._core.numeric import as_type_of  # noqa: E402
from rankwood._core.records import instruction  # noqa: E402

SIMULATED = bool(getattr(cuda, "is_simulator", False)) or "simulator" in cuda.__name__
_WARP = 32
_LANES = 0xFFFFFFFF
_INLINE = {"forceinline": True, "fastmath": OPTIONS["fastmath"]}


def _complete_functions() -> None:
    """Let kernels call NumPy's names of functions that numba-cuda knows by Python's names only."""
    from numba.cuda.mathimpl import get_unary_impl_for_fn_and_ty
    from numba.cuda.ufuncs import ufunc_db

    known = ufunc_db()
    for name in ("exp", "expm1", "log1p", "sqrt", "floor", "ceil"):
        if getattr(np, name) not in known:
            found = {
                f"{code}->{code}": get_unary_impl_for_fn_and_ty(getattr(math, name), kind)
                for code, kind in (("f", types.float32), ("d", types.float64))
            }
            known[getattr(np, name)] = found


if not SIMULATED:
    _complete_functions()


def thread() -> Any:
    """Return the number of this thread in its team."""


def threads() -> Any:
    """Return the number of threads of the team."""


def block() -> Any:
    """Return the number of the team."""


def barrier() -> Any:
    """Wait until the whole team is here; what its threads have stored is seen by all of them."""


def shared_memory() -> Any:
    """Return the team's own memory, as float32 numbers; its size is set when the kernel is started."""


def set_alone(alone: Any) -> Any:
    """Set whether `each`, `sum_of` and `highest` are called by one thread, not by the whole team."""


def alone() -> Any:
    """Tell whether one thread works, not the whole team."""


def team_sum(x: Any) -> Any:
    """Return the sum of x over the team, the same bits in every thread and every run."""


def team_max(x: Any) -> Any:
    """Return the largest x of the team; NaN if any is."""


overload(thread, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.threadIdx.x))
overload(threads, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.blockDim.x))
overload(block, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.blockIdx.x))


@overload(barrier, jit_options=_INLINE, strict=False)
def _barrier() -> Any:
    return lambda: cuda.syncthreads()


# Shared memory of every kernel: a flag, and room for one number and one index of each warp.


def _numbers() -> Any:
    """Return shared memory for one number a warp."""


def _indices() -> Any:
    """Return shared memory for one index a warp."""


def _mode() -> Any:
    """Return the team's flag, an array of one number: whether one thread works alone."""


def _shared_array(fn: Any, dtype: Any, size: int) -> None:
    """Let `fn` return an array in shared memory, the same wherever it is called."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.ArrayType(context.get_data_type(dtype), size)
        name = f"rankwood{fn.__name__}"
        found = builder.module.globals.get(name)
        if found is None:
            found = cgutils.add_global_variable(builder.module, kind, name, addrspace=3)
            # Functions are compiled one by one, and linked: this is one variable for all of them.
            found.linkage = "linkonce_odr" if size else "external"
            if size:
                found.initializer = ir.Constant(kind, ir.Undefined)
            found.align = 16
        array = context.make_array(signature.return_type)(context, builder)
        data = builder.addrspacecast(found, ir.PointerType(kind), "generic")
        array.data = builder.bitcast(data, array.data.type)
        return array._getvalue()

    instruction(fn, lambda: types.Array(dtype, 1, "C"), build)


_shared_array(_numbers, types.float64, _WARP)
_shared_array(_indices, types.int32, _WARP)
_shared_array(_mode, types.int32, 1)
_shared_array(shared_memory, types.float32, 0)  # as long as the kernel is started with


@overload(set_alone, jit_options=_INLINE, strict=False)
def _set_alone(alone: Any) -> Any:
    def build(alone):  # type: ignore[no-untyped-def]
        _mode()[0] = alone

    return build


overload(alone, jit_options=_INLINE, strict=False)(lambda: lambda: _mode()[0] != 0)


@overload(sharing.each, jit_options=_INLINE, strict=False)
def _each(n: Any) -> Any:
    def build(n):  # type: ignore[no-untyped-def]
        single = alone()
        if not single:
            cuda.syncthreads()
        first = np.int64(0) if single else np.int64(cuda.threadIdx.x)
        step = np.int64(1) if single else np.int64(cuda.blockDim.x)
        return range(first, np.int64(n), step)

    return build


def _add(x: Any, y: Any) -> Any:
    return x + y


def _larger(x: Any, y: Any) -> Any:
    return x if x > y or x != x else y  # NaN stays


def _over_team(combine: Any) -> Any:
    """Return a function that combines a number of every thread: over a warp by exchange, then over warps in order."""
    both = cuda.jit(device=True, forceinline=True)(combine)

    def build(x):  # type: ignore[no-untyped-def]
        partial = _numbers()
        for distance in (16, 8, 4, 2, 1):
            x = both(x, cuda.shfl_xor_sync(_LANES, x, distance))
        if cuda.threadIdx.x % _WARP == 0:
            partial[cuda.threadIdx.x // _WARP] = x
        cuda.syncthreads()
        total = partial[0]
        for warp in range(1, cuda.blockDim.x // _WARP):
            total = both(total, partial[warp])
        cuda.syncthreads()
        return as_type_of(x, total)

    return lambda x: build


overload(team_sum, strict=False)(_over_team(_add))
overload(team_max, strict=False)(_over_team(_larger))


@overload(sharing.sum_of, strict=False)
def _sum_of(column: Any) -> Any:
    def build(column):  # type: ignore[no-untyped-def]
        total = as_type_of(column[0], 0.0)
        for i in sharing.each(column.size):
            total += column[i]
        return total if alone() else team_sum(total)

    return build


@overload(sharing.highest, strict=False)
def _highest(column: Any) -> Any:
    def build(column):  # type: ignore[no-untyped-def]
        best = np.int32(-1)
        top = as_type_of(column[0], -np.inf)
        for i in sharing.each(column.size):
            if best < 0 or column[i] > top:
                best, top = np.int32(i), column[i]
        if alone():
            return np.int64(best)
        partial, index = _numbers(), _indices()
        for distance in (16, 8, 4, 2, 1):
            other = cuda.shfl_xor_sync(_LANES, top, distance)
            place = cuda.shfl_xor_sync(_LANES, best, distance)
            if place >= 0 and (best < 0 or other > top or (other == top and place < best)):
                best, top = place, other
        if cuda.threadIdx.x % _WARP == 0:
            partial[cuda.threadIdx.x // _WARP] = top
            index[cuda.threadIdx.x // _WARP] = best
        cuda.syncthreads()
        for warp in range(cuda.blockDim.x // _WARP):
            other, place = as_type_of(top, partial[warp]), index[warp]
            if place >= 0 and (best < 0 or other > top or (other == top and place < best)):
                best, top = place, other
        cuda.syncthreads()
        return np.int64(best)

    return build


# Columns in the memory of a team: a layout says where, and becomes a record of arrays.

#: Columns of the kernel's precision, of indices, and of words to sort by; `at` counts the float32 columns before them.
RealColumn = namedtuple("RealColumn", "at")
IndexColumn = namedtuple("IndexColumn", "at")
WordColumn = namedtuple("WordColumn", "at")
LongWordColumn = namedtuple("LongWordColumn", "at")
#: A table of so many rows, each as long as a column.
RowsColumn = namedtuple("RowsColumn", "at rows")
#: One number of each thread's own, in the place of a column: every index means that number.
PrivateColumn = namedtuple("PrivateColumn", "at")

_DTYPES = {
    RealColumn: types.float32,
    IndexColumn: types.int32,
    WordColumn: types.uint32,
    LongWordColumn: types.uint64,
    RowsColumn: types.float32,
    PrivateColumn: types.float32,
}
_NUMPY = {
    RealColumn: np.float32,
    IndexColumn: np.int32,
    WordColumn: np.uint32,
    LongWordColumn: np.uint64,
    RowsColumn: np.float32,
    PrivateColumn: np.float32,
}


def place(layout: Any, memory: Any, stride: Any, n: Any) -> Any:
    """Return a layout as a record of columns of n numbers in `memory`, which lie `stride` numbers apart."""
    if type(layout) not in _NUMPY:
        if not isinstance(layout, tuple):
            return layout
        items = [place(x, memory, stride, n) for x in layout]
        return type(layout)(*items) if hasattr(layout, "_fields") else tuple(items)
    kind = type(layout)
    if kind is PrivateColumn:
        return np.lib.stride_tricks.as_strided(np.empty(1, np.float32), (n,), (0,), writeable=True)
    start, dtype = layout.at * stride, np.dtype(_NUMPY[kind])
    rows = layout.rows if kind is RowsColumn else 1
    words = memory[start : start + rows * stride * dtype.itemsize // 4].view(dtype)
    return words.reshape(rows, stride)[:, :n] if kind is RowsColumn else words[:n]


def _array_type(kind: Any) -> Any:
    """Return the type of the array that a leaf of a layout becomes, or None if it is no leaf."""
    leaf = getattr(kind, "instance_class", None)
    if leaf not in _DTYPES:
        return None
    if leaf is PrivateColumn:
        return types.Array(_DTYPES[leaf], 1, "A")
    return types.Array(_DTYPES[leaf], 2 if leaf is RowsColumn else 1, "C")


def _placed(layout: Any) -> Any:
    array = _array_type(layout)
    if array is not None or not isinstance(layout, types.BaseTuple):  # type: ignore[attr-defined]
        return array or layout
    items = [_placed(x) for x in layout]
    if isinstance(layout, types.BaseNamedTuple):  # type: ignore[attr-defined]
        if items and len(set(items)) == 1:
            return types.NamedUniTuple(items[0], len(items), layout.instance_class)  # type: ignore[attr-defined]
        return types.NamedTuple(items, layout.instance_class)  # type: ignore[attr-defined]
    return types.BaseTuple.from_types(items)  # type: ignore[attr-defined]


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    word = ir.IntType(64)
    base = context.make_array(signature.args[1])(context, builder, args[1]).data
    stride, n = (builder.sext(x, word) if x.type != word else x for x in args[2:])

    def leaf(kind: Any, value: Any, array_type: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        size = word(array_type.dtype.bitwidth // 8)
        if kind.instance_class is PrivateColumn:
            data = cgutils.alloca_once(builder, array.data.type.pointee)
            shape, strides = [n], [word(0)]
        else:
            at = builder.extract_value(value, 0)
            at = builder.sext(at, word) if at.type != word else at
            data = builder.gep(base, [builder.mul(at, stride)])
            data = builder.bitcast(data, array.data.type)
            shape, strides = [n], [size]
            if kind.instance_class is RowsColumn:
                rows = builder.extract_value(value, 1)
                rows = builder.sext(rows, word) if rows.type != word else rows
                shape, strides = [rows, stride], [builder.mul(stride, size), size]
        array.data, array.itemsize = data, size
        array.nitems = n if len(shape) == 1 else builder.mul(shape[0], shape[1])
        array.shape = cgutils.pack_array(builder, shape)
        array.strides = cgutils.pack_array(builder, strides)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    def walk(kind: Any, result: Any, value: Any) -> Any:
        if _array_type(kind) is not None:
            return leaf(kind, value, result)
        if not isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
            return value
        items = [
            walk(k, r, builder.extract_value(value, i))
            for i, (k, r) in enumerate(zip(kind, result, strict=True))
        ]
        return context.make_tuple(builder, result, items)

    return walk(signature.args[0], signature.return_type, args[0])


instruction(place, lambda layout, memory, stride, n: _placed(layout), _place)


def hand_out(value: Any) -> Any:
    """Return what the first thread of the team has as `value`, in every thread; others may have anything."""


def _hand_out(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = args[0].type
    name = context.mangler("rankwood_shared", [signature.args[0]])
    shared = cgutils.add_global_variable(builder.module, kind, name, addrspace=3)
    shared.linkage, shared.initializer = "internal", ir.Constant(kind, ir.Undefined)
    number = ir.IntType(32)
    read = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(number, ()), "llvm.nvvm.read.ptx.sreg.tid.x"
    )
    wait = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), ()), "llvm.nvvm.barrier0"
    )
    first = builder.icmp_unsigned("==", builder.call(read, ()), number(0))
    with builder.if_then(first):
        builder.store(args[0], shared)
    builder.call(wait, ())
    value = builder.load(shared)
    builder.call(wait, ())
    return value


instruction(hand_out, lambda value: value, _hand_out)


# What Python does with a device.


def is_available() -> bool:
    """Tell whether there is a GPU, or a simulated one."""
    return bool(cuda.is_available())


def as_array(x: Any) -> Any:
    """Return Numba's view of an array on the GPU; nothing is copied."""
    return x if _is_own(x) else cuda.as_cuda_array(x, sync=False)


def _is_own(x: Any) -> bool:
    return bool(cuda.cudadrv.devicearray.is_cuda_ndarray(x))


def is_contiguous(x: Any) -> bool:
    """Tell whether a vector has no gaps."""
    return bool(x.is_c_contiguous())


def empty(size: int) -> Any:
    """Return a float32 vector on the GPU."""
    return cuda.device_array(size, np.float32)


def to_device(x: np.ndarray) -> Any:
    """Return a copy of an array on the GPU."""
    return cuda.to_device(np.ascontiguousarray(x))


def to_host(x: Any) -> np.ndarray:
    """Return a copy of an array of the GPU."""
    return np.asarray(as_array(x).copy_to_host())


_KERNELS: dict[Any, Any] = {}


def start(kernel: Any, blocks: int, team: int, shared_bytes: int, stream: int, args: Any) -> None:
    """Start a kernel, a Python function, on a stream; it is compiled for the types of its arguments first."""
    if kernel not in _KERNELS:
        _KERNELS[kernel] = cuda.jit(fastmath=OPTIONS["fastmath"])(kernel)
    at = cuda.external_stream(stream) if stream else 0
    _KERNELS[kernel][blocks, team, at, shared_bytes](*args)
