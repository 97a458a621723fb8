"""Machine instructions that LLVM does not find by itself."""

from typing import Any

from llvmlite import ir
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

from rankwood._kernels.compile.jit import INNER
from rankwood._kernels.pointers import place_in
from rankwood._kernels.records import instruction


def add_pair(target: Any, i: Any, source: Any, k: Any) -> None:
    """Add two adjacent numbers of `source`, from k on, to two of `target`, from i on: one vector addition."""
    for offset in range(2):
        target[int(i) + offset] += source[int(k) + offset]


@overload(add_pair, jit_options=INNER, strict=False)
def _add_pair(target: Any, i: Any, source: Any, k: Any) -> Any:
    return lambda target, i, source, k: _vector_add(target, i, source, k)


@intrinsic
def _vector_add(typing: Any, target: Any, i: Any, source: Any, k: Any) -> Any:
    """Write a vector addition: LLVM doesn't find it in a loop whose indices come from data."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = []
        for array, index in ((0, 1), (2, 3)):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            vector = ir.VectorType(data.type.pointee, 2).as_pointer()
            places.append(builder.bitcast(builder.gep(data, [args[index]]), vector))
        left, right = (builder.load(place, align=8) for place in places)
        builder.store(builder.add(left, right), places[0], align=8)
        return context.get_dummy_value()

    return types.void(target, i, source, k), build


def prefetch(array: Any, i: Any) -> None:
    """Load the cache line of `array[i]` early: for random access that no hardware prefetcher predicts."""


def prefetch_later(array: Any, i: Any) -> None:
    """Do so for what isn't needed soon: into the second-level cache, so that nothing leaves the first."""


def _prefetching(locality: int) -> Any:
    """Return what writes the instruction; 3 stands for the first-level cache, 2 for the second."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_in(context, builder, signature, args)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        call = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), kind)
        builder.call(call, [place, word(0), word(locality), word(1)])  # to read, how near, data
        return context.get_dummy_value()

    return build


instruction(prefetch, lambda array, i: types.none, _prefetching(3))
instruction(prefetch_later, lambda array, i: types.none, _prefetching(2))
