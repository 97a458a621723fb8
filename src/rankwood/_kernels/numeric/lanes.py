"""Sums whose order doesn't depend on the processor: sixteen sums of every sixteenth number, added up at the end.

The order of a sum decides its last bits. A compiler that may choose the order adds as many numbers at once as the
vectors of the processor have room for, so that each processor has a sum of its own. Here the order is fixed: number i
goes to lane i % 16, and the lanes are added by halves: 0 to 8, 1 to 9, ... What is left behind the last block of
sixteen is added one by one. A loop over the lanes has no sum in it, so it fills vectors of any width, with the same
bits (numba-notes: the same bits on every processor).
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types  # type: ignore[attr-defined]
from numba.extending import overload

from rankwood._kernels.compile.jit import UNCOUNTED
from rankwood._kernels.numeric.scalars import as_type_of
from rankwood._kernels.records import instruction

#: As many float32 numbers as the widest vectors of a processor have.
LANES = 16
_ALIGNED = 64  # bytes of such a vector


def zero_lanes(zero: Any) -> Any:
    """Return sixteen zeros in the precision of `zero`: an array on the stack, which must not be returned."""
    return np.zeros(LANES, type(zero))


def sum_lanes(column: Any) -> Any:
    """Return the sum of what `zero_lanes` returned, by halves."""
    now = list(column)
    while len(now) > 1:
        half = len(now) // 2
        now = [now[i] + now[i + half] for i in range(half)]
    return now[0]


def sum_in_lanes(column: Any) -> Any:
    """Return the sum of a column: whole blocks of sixteen in lanes, then the rest."""
    rest, total = column.size - column.size % LANES, column.dtype.type(0)
    if rest:
        total = sum_lanes(np.add.accumulate(column[:rest].reshape(-1, LANES))[-1])
    for number in column[rest:]:
        total += number
    return total


def _lanes_type(zero: Any) -> Any:
    return types.Array(zero, 1, "C")


def _lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.return_type
    item, word = context.get_data_type(kind.dtype), context.get_value_type(types.intp)
    vector = ir.VectorType(item, LANES)
    place = cgutils.alloca_once(builder, vector)
    place.align = _ALIGNED
    builder.store(ir.Constant(vector, [0.0] * LANES), place, align=_ALIGNED)
    array, size = context.make_array(kind)(context, builder), word(context.get_abi_sizeof(item))
    data = builder.bitcast(place, item.as_pointer())
    shape, strides = [word(LANES)], [size]
    context.populate_array(
        array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None
    )
    return array._getvalue()


def _column_number(column: Any) -> Any:
    return column.dtype


def _sum_lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    now = builder.load(_vector_at(context, builder, signature.args[0], args[0]), align=_ALIGNED)
    word, half = ir.IntType(32), LANES // 2
    while half:
        numbers = (list(range(first, first + half)) for first in (0, half))
        low, high = (
            builder.shuffle_vector(now, now, ir.Constant(ir.VectorType(word, half), chosen))
            for chosen in numbers
        )
        now, half = builder.fadd(low, high), half // 2
    return builder.extract_element(now, word(0))


def _vector_at(context: Any, builder: Any, kind: Any, array: Any, index: Any = None) -> Any:
    """Return where a vector of sixteen begins in an array."""
    data = context.make_array(kind)(context, builder, array).data
    place = data if index is None else builder.gep(data, [index])
    return builder.bitcast(place, ir.VectorType(data.type.pointee, LANES).as_pointer())


def _add_block(total: Any, column: Any, start: Any) -> None:
    """Add sixteen numbers of a column, from `start` on, to lanes."""


def _write_add_block(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds = signature.args
    total = _vector_at(context, builder, kinds[0], args[0])
    block = _vector_at(context, builder, kinds[1], args[1], args[2])
    size = context.get_abi_sizeof(context.get_data_type(kinds[1].dtype))
    both = (builder.load(total, align=_ALIGNED), builder.load(block, align=size))
    builder.store(builder.fadd(*both), total, align=_ALIGNED)
    return context.get_dummy_value()


@overload(sum_in_lanes, jit_options=UNCOUNTED, strict=False)
def _sum_in_lanes(column: Any) -> Any:
    def build(column: Any) -> Any:
        n = np.int64(column.size)
        rest = n - n % LANES
        total = as_type_of(column[0], 0.0)
        if rest > 0:
            blocks = zero_lanes(total)
            for start in range(np.int64(0), rest, LANES):
                _add_block(blocks, column, start)
            total = sum_lanes(blocks)
        for i in range(rest, n):
            total += column[i]
        return total

    return build


instruction(zero_lanes, _lanes_type, _lanes)
instruction(sum_lanes, _column_number, _sum_lanes)
instruction(_add_block, lambda total, column, start: types.none, _write_add_block)
