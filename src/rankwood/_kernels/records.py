"""Records in kernels: named tuples, nested or not, of columns (arrays over documents), tables and constants.

Numba increments an array's reference count atomically whenever the array is taken out of a record or passed to a
function. Threads would contend for the counts of shared arrays, so kernels *lend* their arguments: the same arrays
without an owner, for which there is nothing to count. The caller owns the memory until the kernel returns.
"""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types  # type: ignore[attr-defined]
from numba.core.errors import TypingError
from numba.extending import lower_builtin, overload, type_callable

from rankwood._kernels.compile.jit import UNCOUNTED, uncounted

#: An array that is not over documents: it is the same for all of them.
Table = namedtuple("Table", "values")


class LookUpColumn(namedtuple("LookUpColumn", "column")):
    """A column by place, which `look_up` fills: `document` reads a number from it, as from any column."""

    __slots__ = ()


class Broadcast(namedtuple("Broadcast", "value")):
    """A single number, in an array of one, in place of a column: every document has it, whatever its index."""

    __slots__ = ()


def put(column: Any, j: Any, x: Any) -> None:
    """Write what `look_up` has looked up for the document at place j."""
    column[0][0 if isinstance(column, Broadcast) else j] = x


def instruction(fn: Any, typer: Callable[..., Any], build: Callable[..., Any]) -> None:
    """Let compiled code call `fn` as instructions written in place: there is no function to compile."""
    type_callable(fn)(lambda context: typer)
    lower_builtin(fn, types.VarArg(types.Any))(build)  # type: ignore[attr-defined]


def document(record: Any, i: Any) -> Any:
    """Return one document of a record: columns are indexed, tables and constants pass.

    Parameters
    ----------
    record : tuple
        Named tuples, nested or not, of columns, tables and constants.
    i : int
        Index into the columns.

    Returns
    -------
    tuple
        The same record with a number in place of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import document
    >>> [float(x) for x in document((np.array([1.0, 2.0]), 5.0), 1)]
    [2.0, 5.0]
    """
    if isinstance(record, Broadcast):
        return record.value[0]
    if isinstance(record, LookUpColumn):
        return record.column[i]
    if isinstance(record, tuple) and not isinstance(record, Table):
        items = [document(x, i) for x in record]
        return type(record)(*items) if hasattr(record, "_fields") else tuple(items)
    return record[i] if isinstance(record, np.ndarray) else record


def documents(record: Any, start: Any, stop: Any) -> Any:
    """Return some documents of a record, as lent arrays; tables and constants pass.

    Parameters
    ----------
    record : tuple
        As in `document`.
    start, stop : int
        Range of the documents.

    Returns
    -------
    tuple
        The same record with a slice in place of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import documents
    >>> documents((np.array([1.0, 2.0, 3.0]), 5.0), 0, 2)[0].tolist()
    [1.0, 2.0]
    """
    return _each(record, lambda column: column[start:stop])


def lend(record: Any) -> Any:
    """Return the same record of arrays without owners. Their owner must outlive them, as a kernel's caller does."""
    return record


def _each(record: Any, leaf: Callable[[Any], Any]) -> Any:
    """Apply `leaf` to every column of a record."""
    if isinstance(record, tuple) and not isinstance(record, (Table, Broadcast)):
        items = [_each(x, leaf) for x in record]
        return type(record)(*items) if hasattr(record, "_fields") else tuple(items)
    return leaf(record) if isinstance(record, np.ndarray) else record


def _is(kind: Any, *classes: type) -> bool:
    """Tell whether a type of Numba is that of a record of one of these classes."""
    return getattr(kind, "instance_class", None) in classes


def _contiguous(kind: Any) -> Any:
    """Return the type of a column; raise if its numbers don't lie side by side, as indexing takes for granted."""
    if kind.layout == "A":
        raise TypingError("a column of a record must be contiguous")
    return kind


def _document_type(kind: Any, i: Any) -> Any:
    """Return the type of one document of a record."""
    if isinstance(kind, types.Array):
        return _contiguous(kind).dtype
    if _is(kind, LookUpColumn, Broadcast):
        return _contiguous(kind[0]).dtype
    if _is(kind, Table) or not isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return kind
    items = [_document_type(x, i) for x in kind]
    if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
        if len(set(items)) == 1:
            return types.NamedUniTuple(items[0], len(items), kind.instance_class)  # type: ignore[attr-defined]
        return types.NamedTuple(items, kind.instance_class)  # type: ignore[attr-defined]
    return types.BaseTuple.from_types(items)  # type: ignore[attr-defined]


def _rebuilt(target: Any, kind: Any, result: Any, value: Any, leaf: Callable[..., Any]) -> Any:
    """Write the record whose columns are replaced by what `leaf` writes; `target` is Numba's context and builder.

    Tables lose their owner, and so do numbers that stand for a column.
    """
    context, builder = target
    if _is(kind, LookUpColumn, Broadcast) and not isinstance(result, types.BaseTuple):  # type: ignore[attr-defined]
        return leaf(kind, builder.extract_value(value, 0))
    if _is(kind, Table, Broadcast):
        array = builder.extract_value(value, 0)
        bare = _without_owner(context, builder, kind[0], array)._getvalue()
        return context.make_tuple(builder, kind, [bare])
    if isinstance(kind, types.Array):
        return leaf(kind, value)
    if not isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return value
    items = [
        _rebuilt(target, k, r, builder.extract_value(value, i), leaf)
        for i, (k, r) in enumerate(zip(kind, result, strict=True))
    ]
    return context.make_tuple(builder, result, items)


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return Numba's structure of an array, with its owner set to null."""
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array


def _document(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def leaf(kind: Any, value: Any) -> Any:
        array_type = kind if isinstance(kind, types.Array) else kind[0]
        array = context.make_array(array_type)(context, builder, value)
        place = array.data if _is(kind, Broadcast) else builder.gep(array.data, [args[1]])
        return mark_noalias(context.unpack_value(builder, array_type.dtype, place), "document", ())

    return _rebuilt((context, builder), signature.args[0], signature.return_type, args[0], leaf)


def mark_noalias(access: Any, scope: str, others: tuple[str, ...]) -> Any:
    """Mark a load or store as one of an alias scope that shares no memory with `others`; return it.

    Values that aren't a single load are returned unmarked.
    """
    if not isinstance(access, (ir.LoadInstr, ir.StoreInstr)):
        return access
    module = access.parent.parent.module
    domain = module.add_metadata(["rankwood"])

    def scopes(names: tuple[str, ...]) -> Any:
        return module.add_metadata([module.add_metadata([name, domain]) for name in names])

    access.set_metadata("alias.scope", scopes((scope,)))
    if others:
        access.set_metadata("noalias", scopes(others))
    return access


def _documents_type(record: Any, start: Any, stop: Any) -> Any:
    """Return the type of a range of documents, which is that of the record; its columns must be contiguous."""
    _document_type(record, start)
    return record


def _documents(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    word = context.get_value_type(types.intp)
    start, stop = (builder.sext(x, word) if x.type != word else x for x in args[1:])
    size = builder.sub(stop, start)

    def leaf(kind: Any, value: Any) -> Any:
        array = _without_owner(context, builder, kind, value)
        array.data = builder.gep(array.data, [start])
        array.nitems = size
        array.shape = cgutils.pack_array(builder, [size])
        return array._getvalue()

    return _rebuilt((context, builder), signature.args[0], signature.return_type, args[0], leaf)


def _lend(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def leaf(kind: Any, value: Any) -> Any:
        return _without_owner(context, builder, kind, value)._getvalue()

    return _rebuilt((context, builder), signature.args[0], signature.return_type, args[0], leaf)


def _put(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = _contiguous(signature.args[0][0])
    data = context.make_array(kind)(context, builder, builder.extract_value(args[0], 0)).data
    place = data if _is(signature.args[0], Broadcast) else builder.gep(data, [args[1]])
    builder.store(context.cast(builder, args[2], signature.args[2], kind.dtype), place)
    return context.get_dummy_value()


instruction(put, lambda column, j, x: types.none, _put)
instruction(document, _document_type, _document)
instruction(documents, _documents_type, _documents)
instruction(lend, lambda record: record, _lend)


def reorder(columns: Any, order: np.ndarray, spare: np.ndarray) -> int:
    """Move document `order[i]` of every one of these columns to place i, in place; `spare` is as long as a column."""
    for column in columns:
        _permute(column, order, spare)
    return 0


@uncounted
def _permute(column: Any, order: Any, spare: Any) -> int:
    for i in range(order.size):
        spare[i] = column[order[i]]
    for i in range(order.size):
        column[i] = spare[i]
    return 0


@overload(reorder, jit_options=UNCOUNTED, strict=False)
def _reorder(columns: Any, order: Any, spare: Any) -> Any:
    """Write one call per column: Numba can't loop over an empty tuple."""
    lines = [f"    _permute(columns[{i}], order, spare)" for i in range(len(columns))]
    scope: dict[str, Any] = {"_permute": _permute}
    exec("\n".join(["def moved(columns, order, spare):", *lines, "    return 0"]), scope)
    return scope["moved"]
