"""The functions of `team`, and loops over `each`, for a GPU."""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.core import cgutils, types  # type: ignore[attr-defined]
from numba.cuda.core.imputils import RefType, iternext_impl, lower_builtin
from numba.cuda.extending import models, overload, register_model

from rankwood._kernels import each as sharing
from rankwood._kernels.cuda import FASTMATH
from rankwood._kernels.cuda.sorting import sort_on_team
from rankwood._kernels.cuda.team import (
    alone,
    barrier,
    block,
    set_alone,
    shared_memory,
    team_max,
    team_size,
    team_sum,
    thread,
)
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.numeric.sorting import sort_down
from rankwood._kernels.records import instruction

_WARP = 32
_WHOLE_WARP = 0xFFFFFFFF
_INLINE = {"forceinline": True, "fastmath": FASTMATH}


def _complete_functions() -> None:
    """Let kernels call functions of NumPy that numba-cuda knows only as those of `math`."""
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


def _allow_fast_math() -> None:
    """Let functions that kernels call be compiled with `FASTMATH` for a GPU; for a CPU they have no fast-math."""
    from numba.core.target_extension import jit_registry, target_registry

    target = target_registry["cuda"]
    numba_jit = jit_registry.pop(target)  # an entry can't be replaced

    def jit(*args: Any, **options: Any) -> Any:
        if (
            options.get("fastmath") is False
        ):  # only `compile.jit` says False; Numba's own functions say nothing
            options["fastmath"] = FASTMATH
        return numba_jit(*args, **options)

    jit_registry[target] = jit


_complete_functions()
_allow_fast_math()

overload(thread, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.threadIdx.x))
overload(team_size, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.blockDim.x))
overload(block, jit_options=_INLINE, strict=False)(lambda: lambda: np.int64(cuda.blockIdx.x))
overload(barrier, jit_options=_INLINE, strict=False)(lambda: lambda: cuda.syncthreads())


# Shared memory of every kernel: a flag, and room for one number and one index of each warp.


def _numbers() -> Any:
    """Return shared memory for one number per warp."""


def _indices() -> Any:
    """Return shared memory for one index per warp."""


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
            # Functions are compiled one by one and linked: all of them must refer to one variable.
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
_shared_array(shared_memory, types.float32, 0)  # its size is set when the kernel is started


@overload(set_alone, jit_options=_INLINE, strict=False)
def _set_alone(alone: Any) -> Any:
    def build(alone):
        _mode()[0] = alone

    return build


overload(alone, jit_options=_INLINE, strict=False)(lambda: lambda: _mode()[0] != 0)


class _Turns(types.SimpleIterableType):  # type: ignore[name-defined, misc]
    """A thread's share of the turns of a loop."""

    def __init__(self) -> None:
        self.iterator = _NextTurn()
        super().__init__("rankwood_turns", self.iterator)


class _NextTurn(types.SimpleIteratorType):  # type: ignore[name-defined, misc]
    """The next turn of a thread."""

    def __init__(self) -> None:
        super().__init__("rankwood_next_turn", types.int64)


_TURNS = _Turns()
_FIELDS = [("stop", types.int64), ("step", types.int64)]


@register_model(_Turns)
class _TurnsModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("first", types.int64), *_FIELDS])


@register_model(_NextTurn)
class _NextTurnModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        place = types.EphemeralPointer(types.int64)  # type: ignore[attr-defined]
        super().__init__(manager, kind, [("at", place), *_FIELDS])


def _turns(first: Any, stop: Any, step: Any) -> Any:
    """Return turns from `first` on, `step` apart: the team waits for all threads after the last."""


def _build_turns(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    made = context.make_helper(builder, _TURNS)
    made.first, made.stop, made.step = args
    return made._getvalue()


instruction(_turns, lambda first, stop, step: _TURNS, _build_turns)


@lower_builtin("getiter", _Turns)
def _iterate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    turns = context.make_helper(builder, _TURNS, args[0])
    made = context.make_helper(builder, _TURNS.iterator)
    made.at = cgutils.alloca_once_value(builder, turns.first)
    made.stop, made.step = turns.stop, turns.step
    return made._getvalue()


@lower_builtin("iternext", _NextTurn)
@iternext_impl(RefType.UNTRACKED)
def _next_turn(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    turns = context.make_helper(builder, _TURNS.iterator, args[0])
    at = builder.load(turns.at)
    left = builder.icmp_signed("<", at, turns.stop)
    result.set_valid(left)
    with builder.if_else(left) as (some, none):
        with some:
            result.yield_(at)
            builder.store(builder.add(at, turns.step), turns.at)
        with none, builder.if_then(builder.icmp_signed("!=", turns.step, turns.step.type(1))):
            wait(builder)


def wait(builder: Any) -> None:
    """Write a barrier of the team."""
    kind = ir.FunctionType(ir.VoidType(), ())
    builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.nvvm.barrier0"), ())


@overload(sharing.each, jit_options=_INLINE, strict=False)
def _each(n: Any) -> Any:
    def build(n):
        if alone():
            return _turns(np.int64(0), np.int64(n), np.int64(1))
        cuda.syncthreads()
        first, step = np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
        return _turns(first, np.int64(n), step)

    return build


@overload(sharing.only, jit_options=_INLINE, strict=False)
def _only(i: Any) -> Any:
    def build(i):  # type: ignore[no-untyped-def]
        if alone():
            return _turns(np.int64(i), np.int64(i) + 1, np.int64(1))
        cuda.syncthreads()
        first = np.int64(i) if cuda.threadIdx.x == 0 else np.int64(i) + 1
        return _turns(first, np.int64(i) + 1, np.int64(2))

    return build


def _add(x: Any, y: Any) -> Any:
    return x + y


def _larger(x: Any, y: Any) -> Any:
    return x if x > y or x != x else y  # NaN stays


def _over_team(combine: Any) -> Any:
    """Return a function that combines the numbers of all threads: within a warp by exchange, then warp by warp."""
    both = cuda.jit(device=True, forceinline=True)(combine)

    def build(x):
        partial = _numbers()
        for distance in (16, 8, 4, 2, 1):
            x = both(x, cuda.shfl_xor_sync(_WHOLE_WARP, x, distance))
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


overload(sort_down, strict=False)(lambda scores, slot, scratch: sort_on_team)


@overload(sharing.fill_powers, strict=False)
def _fill_powers(column: Any, n: Any, base: Any, k: Any) -> Any:
    def build(column, n, base, k):
        for i in sharing.each(n):
            column[i] = sharing.power(base, i) if i < k else as_type_of(base, 0.0)

    return build


@overload(sharing.sum_of, strict=False)
def _sum_of(column: Any) -> Any:
    def build(column):
        total = as_type_of(column[0], 0.0)
        for i in sharing.each(column.size):
            total += column[i]
        return total if alone() else team_sum(total)

    return build


@overload(sharing.highest, strict=False)
def _highest(column: Any) -> Any:
    def build(column):
        best = np.int32(-1)
        top = as_type_of(column[0], -np.inf)
        for i in sharing.each(column.size):
            if best < 0 or column[i] > top:
                best, top = np.int32(i), column[i]
        if alone():
            return np.int64(best)
        partial, index = _numbers(), _indices()
        for distance in (16, 8, 4, 2, 1):
            other = cuda.shfl_xor_sync(_WHOLE_WARP, top, distance)
            place = cuda.shfl_xor_sync(_WHOLE_WARP, best, distance)
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
