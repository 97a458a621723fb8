"""The function `team_columns` of `columns`, and `broadcast` of `team`, for a GPU."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types  # type: ignore[attr-defined]
from numba.np.numpy_support import from_dtype

from rankwood._kernels.cuda.columns import DTYPES, PrivateNumber, RowsColumn, team_columns
from rankwood._kernels.cuda.compiled import wait
from rankwood._kernels.cuda.team import broadcast
from rankwood._kernels.records import instruction


def _array_type(kind: Any) -> Any:
    """Return the type of the array that a leaf of a layout becomes, or None if it isn't a leaf."""
    leaf = getattr(kind, "instance_class", None)
    if leaf not in DTYPES:
        return None
    dtype: Any = from_dtype(np.dtype(DTYPES[leaf]))
    return types.Array(dtype, 2 if leaf is RowsColumn else 1, "C")  # type: ignore[call-overload]


def _placed(layout: Any) -> Any:
    """Return the type of the record of arrays that a layout becomes."""
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
    """Write the code of `team_columns`."""
    word = ir.IntType(64)
    base = context.make_array(signature.args[1])(context, builder, args[1]).data
    stride, n = (builder.sext(x, word) if x.type != word else x for x in args[2:])

    def leaf(kind: Any, value: Any, array_type: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        size = word(array_type.dtype.bitwidth // 8)
        if kind.instance_class is PrivateNumber:
            data = cgutils.alloca_once(builder, array.data.type.pointee)
            shape, strides = [word(1)], [size]
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
        array.nitems = shape[0] if len(shape) == 1 else builder.mul(shape[0], shape[1])
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


instruction(team_columns, lambda layout, memory, stride, n: _placed(layout), _place)


def _broadcast(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the code of `broadcast`: the first thread stores the value in shared memory, and all threads load it."""
    kind = args[0].type
    name = context.mangler("rankwood_shared", [signature.args[0]])
    shared = cgutils.add_global_variable(builder.module, kind, name, addrspace=3)
    shared.linkage, shared.initializer = "internal", ir.Constant(kind, ir.Undefined)
    number = ir.IntType(32)
    read = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(number, ()), "llvm.nvvm.read.ptx.sreg.tid.x"
    )
    first = builder.icmp_unsigned("==", builder.call(read, ()), number(0))
    with builder.if_then(first):
        builder.store(args[0], shared)
    wait(builder)
    value = builder.load(shared)
    wait(builder)
    return value


instruction(broadcast, lambda value: value, _broadcast)
