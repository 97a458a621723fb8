"""Atomic operations on numbers that threads share, and what a thread does while it waits.

They work on int64 numbers of an array or behind a pointer. In plain Python, where one thread runs at a time, they are
what they look like.
"""

import ctypes
import platform
import sys
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types  # type: ignore[attr-defined]

from rankwood._kernels.pointers import place_in
from rankwood._kernels.records import instruction

_ORDER = "seq_cst"
_YIELD = "sched_yield"
_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}
_PAUSE = _PAUSES.get(platform.machine().lower())

if sys.platform == "win32":  # its C library has no such function
    binding.add_symbol(
        _YIELD, ctypes.cast(ctypes.windll.kernel32.SwitchToThread, ctypes.c_void_p).value
    )


def fetch_add(numbers: Any, i: int, x: int) -> Any:
    """Add x to `numbers[i]` and return what it was before, in one step."""
    before = numbers[i]
    numbers[i] += x
    return before


def load_shared(numbers: Any, i: int) -> Any:
    """Return `numbers[i]` as another thread has stored it, and see what that thread has written before."""
    return numbers[i]


def store_shared(numbers: Any, i: int, x: int) -> None:
    """Write `numbers[i]` so that a thread that loads it sees everything written before."""
    numbers[i] = x


def pause() -> None:
    """Tell the processor that this thread waits in a loop."""


def give_way() -> None:
    """Let another thread run, if one waits for this processor."""


def _number(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.cast(builder, args[2], signature.args[2], types.int64)


def _fetch_add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = place_in(context, builder, signature, args)
    return builder.atomic_rmw("add", place, _number(context, builder, signature, args), _ORDER)


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load_atomic(place_in(context, builder, signature, args), _ORDER, 8)


def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = place_in(context, builder, signature, args)
    builder.store_atomic(_number(context, builder, signature, args), place, _ORDER, 8)
    return context.get_dummy_value()


def _call(builder: Any, name: str, result: Any) -> None:
    kind = ir.FunctionType(result, [])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])


def _pause(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    if _PAUSE is not None:
        _call(builder, _PAUSE, ir.VoidType())
    return context.get_dummy_value()


def _give_way(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    _call(builder, _YIELD, ir.IntType(32))
    return context.get_dummy_value()


instruction(fetch_add, lambda numbers, i, x: types.int64, _fetch_add)
instruction(load_shared, lambda numbers, i: types.int64, _load)
instruction(store_shared, lambda numbers, i, x: types.none, _store)
instruction(pause, lambda: types.none, _pause)
instruction(give_way, lambda: types.none, _give_way)
