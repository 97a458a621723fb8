"""Vector instructions on bytes, and a count of sixteen comparisons: LLVM finds neither in a loop over data.

Each function has a plain body, which says what it does and runs where nothing is compiled. Compiled code has the
instructions in its place.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types  # type: ignore[attr-defined]
from numba.core.types import UniTuple  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

from rankwood._kernels.compile.jit import INNER

_SIXTEEN = 16


def select_32(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> None:
    """For 32 bytes: write `rows[a + i]` where `codes[c + i] <= k`, and else `rows[b + i]`, to `rows[to + i]`.

    `place` is (a, b, to).
    """
    _select(32, codes, c, k, rows, place)


def select_64(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> None:
    """Do as `select_32`, for 64 bytes."""
    _select(64, codes, c, k, rows, place)


def select_128(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> None:
    """Do as `select_32`, for 128 bytes."""
    _select(128, codes, c, k, rows, place)


def _select(lanes: int, codes: Any, c: Any, k: Any, rows: Any, place: Any) -> None:
    a, b, to = (int(i) for i in place)
    for i in range(lanes):
        rows[to + i] = rows[a + i] if codes[int(c) + i] <= k else rows[b + i]


def answers_32(codes: Any, levels: Any, first: Any, last: Any, rows: Any, to: Any) -> None:
    """For 32 documents: write to `rows[to + i]` in which levels from `first` to `last` their codes exceed the limit.

    The answer of the first level is the lowest bit. `codes` has 32 documents a column.
    """
    _answers(32, codes, levels, first, last, rows, to)


def answers_128(codes: Any, levels: Any, first: Any, last: Any, rows: Any, to: Any) -> None:
    """Do as `answers_32`, for 128 documents."""
    _answers(128, codes, levels, first, last, rows, to)


def _answers(
    lanes: int, codes: Any, levels: Any, first: Any, last: Any, rows: Any, to: Any
) -> None:
    for i in range(lanes):
        rows[int(to) + i] = sum(
            (codes[int(levels.column[j]) * lanes + i] > levels.limit[j]) << (j - first)
            for j in range(first, last)
        )


def below_16(table: Any, at: Any, x: Any) -> int:
    """Return how many of the sixteen numbers of `table` from `at` on are below x; none is below NaN."""
    return sum(bool(table[int(at) + i] < x) for i in range(_SIXTEEN))


@overload(select_32, jit_options=INNER, strict=False)
def _select_32(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> Any:
    return lambda codes, c, k, rows, place: _vector_select_32(codes, c, k, rows, place)


@overload(select_64, jit_options=INNER, strict=False)
def _select_64(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> Any:
    return lambda codes, c, k, rows, place: _vector_select_64(codes, c, k, rows, place)


@overload(select_128, jit_options=INNER, strict=False)
def _select_128(codes: Any, c: Any, k: Any, rows: Any, place: Any) -> Any:
    return lambda codes, c, k, rows, place: _vector_select_128(codes, c, k, rows, place)


@overload(answers_32, jit_options=INNER, strict=False)
def _answers_32(codes: Any, levels: Any, first: Any, last: Any, rows: Any, to: Any) -> Any:
    return lambda codes, levels, first, last, rows, to: _vector_answers_32(
        codes, levels.column, levels.limit, (first, last), rows, to
    )


@overload(answers_128, jit_options=INNER, strict=False)
def _answers_128(codes: Any, levels: Any, first: Any, last: Any, rows: Any, to: Any) -> Any:
    return lambda codes, levels, first, last, rows, to: _vector_answers_128(
        codes, levels.column, levels.limit, (first, last), rows, to
    )


@overload(below_16, jit_options=INNER, strict=False)
def _below_16(table: Any, at: Any, x: Any) -> Any:
    return lambda table, at, x: _count_below(table, at, x)


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any, vector: Any) -> Any:
    """Return where a vector begins in an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _splat(builder: Any, vector: Any, value: Any) -> Any:
    """Return a vector whose lanes all have one value."""
    word, nothing = ir.IntType(32), ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, word(0))
    zeros = ir.Constant(ir.VectorType(word, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


def _selecting(lanes: int) -> Any:
    """Return the intrinsic of a select of so many bytes."""

    def select(typing: Any, codes: Any, c: Any, k: Any, rows: Any, place: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = ir.VectorType(ir.IntType(8), lanes)
            kind = signature.args[3]
            a, b, to = (
                _place(context, builder, kind, args[3], builder.extract_value(args[4], i), vector)
                for i in range(3)
            )
            code = _place(context, builder, signature.args[0], args[0], args[1], vector)
            low = builder.icmp_unsigned(
                "<=", builder.load(code, align=1), _splat(builder, vector, args[2])
            )
            chosen = builder.select(low, builder.load(a, align=1), builder.load(b, align=1))
            builder.store(chosen, to, align=1)
            return context.get_dummy_value()

        three = UniTuple(types.intp, 3)
        return types.void(codes, types.intp, types.uint8, rows, three), build

    return intrinsic(select)


def _answering(lanes: int) -> Any:
    """Return the intrinsic that collects the answers of so many documents in a register."""

    def answer(
        typing: Any, codes: Any, column: Any, limit: Any, span: Any, rows: Any, to: Any
    ) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds, word = signature.args, ir.IntType(64)
            vector, byte = ir.VectorType(ir.IntType(8), lanes), ir.IntType(8)
            columns, limits = (
                context.make_array(kinds[i])(context, builder, args[i]).data for i in (1, 2)
            )
            none = ir.Constant(vector, [0] * lanes)
            answers = cgutils.alloca_once_value(builder, none)
            builder.store(none, answers)
            first, last = (builder.extract_value(args[3], i) for i in range(2))
            with cgutils.for_range_slice(builder, first, last, word(1)) as (level, _):
                at = builder.mul(builder.load(builder.gep(columns, [level])), word(lanes))
                code = _place(context, builder, kinds[0], args[0], at, vector)
                most = _splat(builder, vector, builder.load(builder.gep(limits, [level])))
                high = builder.icmp_unsigned(">", builder.load(code, align=1), most)
                bit = builder.shl(byte(1), builder.trunc(builder.sub(level, first), byte))
                bits = builder.select(high, _splat(builder, vector, bit), none)
                builder.store(builder.or_(builder.load(answers), bits), answers)
            row = _place(context, builder, kinds[4], args[4], args[5], vector)
            builder.store(builder.load(answers), row, align=1)
            return context.get_dummy_value()

        two = UniTuple(types.intp, 2)
        return types.void(codes, column, limit, two, rows, types.intp), build

    return intrinsic(answer)


_vector_select_32, _vector_select_64 = _selecting(32), _selecting(64)
_vector_select_128 = _selecting(128)
_vector_answers_32, _vector_answers_128 = _answering(32), _answering(128)


@intrinsic
def _count_below(typing: Any, table: Any, at: Any, x: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        real = context.get_value_type(signature.args[0].dtype)
        vector, mask = ir.VectorType(real, _SIXTEEN), ir.IntType(_SIXTEEN)
        values = _place(context, builder, signature.args[0], args[0], args[1], vector)
        below = builder.fcmp_ordered(
            "<", builder.load(values, align=4), _splat(builder, vector, args[2])
        )
        count = builder.module.declare_intrinsic("llvm.ctpop", [mask])
        return builder.zext(builder.call(count, [builder.bitcast(below, mask)]), ir.IntType(64))

    return types.intp(table, types.intp, table.dtype), build
