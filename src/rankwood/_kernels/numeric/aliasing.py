"""Stores that share no memory with what a loop reads: LLVM need not check that (numba-notes: alias checks)."""

from typing import Any

from numba.core import types  # type: ignore[attr-defined]

from rankwood._kernels.records import instruction, mark_noalias


def add_noalias(first: Any, second: Any, i: Any, x: Any, y: Any) -> None:
    """Add x to `first[i]` and y to `second[i]`.

    The two columns must share no memory with each other, nor with any column that `document` reads in the same loop.
    The caller promises that, and LLVM writes no check for it.
    """
    first[i] += x
    second[i] += y


def store_noalias(columns: Any, i: Any, values: Any) -> None:
    """Store numbers at place i of as many columns, with the promise that `add_noalias` takes."""
    for column, number in zip(columns, values, strict=True):
        column[i] = number


def _scopes(which: int, count: int) -> tuple[str, tuple[str, ...]]:
    """Return the scope of one of several columns, and those that it shares no memory with."""
    others = [f"column {other}" for other in range(count) if other != which]
    return f"column {which}", (*others, "document")


def _add_noalias(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    for which in range(2):
        kind, scopes = signature.args[which], _scopes(which, 2)
        data = context.make_array(kind)(context, builder, args[which]).data
        place = builder.gep(data, [args[2]])
        term = context.cast(builder, args[3 + which], signature.args[3 + which], kind.dtype)
        before = mark_noalias(builder.load(place), *scopes)
        mark_noalias(builder.store(builder.fadd(before, term), place), *scopes)
    return context.get_dummy_value()


def _store_noalias(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds, _, given = signature.args
    for which, kind in enumerate(kinds):
        column = builder.extract_value(args[0], which)
        data = context.make_array(kind)(context, builder, column).data
        number = context.cast(
            builder, builder.extract_value(args[2], which), given[which], kind.dtype
        )
        place = builder.gep(data, [args[1]])
        mark_noalias(builder.store(number, place), *_scopes(which, len(kinds)))
    return context.get_dummy_value()


instruction(add_noalias, lambda first, second, i, x, y: types.none, _add_noalias)
instruction(store_noalias, lambda columns, i, values: types.none, _store_noalias)
