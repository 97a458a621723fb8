"""Numbers in kernels: constants in the precision at hand, counters, and the bits of floats."""

from typing import Any

import numpy as np
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import overload

from rankwood._kernels.compile.jit import UNCOUNTED
from rankwood._kernels.records import instruction


def as_type_of(x: Any, value: float) -> Any:
    """Return a constant in the precision of `x`, so that float32 kernels stay float32.

    Parameters
    ----------
    x : float
        A number in the precision of the kernel.
    value : float
        The constant.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood.extend import as_type_of
    >>> as_type_of(np.float32(3), 0.5)
    np.float32(0.5)
    """
    return type(x)(value)


def _constant_type(x: Any, value: Any) -> Any:
    return x if isinstance(x, types.Float) else types.float64


def _constant(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.cast(builder, args[1], signature.args[1], signature.return_type)


instruction(as_type_of, _constant_type, _constant)


def counter_like(x: Any) -> Any:
    """Return 0 to count from, an integer as wide as `x`, so that counts fill vectors as numbers like `x` do."""
    return np.int32(0) if isinstance(x, np.float32) else np.int64(0)


def count_if(count: Any, condition: Any) -> Any:
    """Return a count, and 1 more if a condition holds, as wide as it was: Numba's sums are as wide as a word."""
    return type(count)(count + bool(condition))


def _write_zero(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.get_constant(signature.return_type, 0)


def _write_count(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.add(args[0], builder.zext(args[1], args[0].type))


instruction(counter_like, lambda x: types.int32 if x == types.float32 else types.int64, _write_zero)
instruction(count_if, lambda count, condition: count, _write_count)


def descending_bits(x: Any) -> Any:
    """Return the bits of a float as a word that grows as the float falls, of 32 or 64 bits; -0.0 counts as 0.0."""
    if isinstance(x, np.float32):
        bits = int(x.view(np.int32)) if x != 0 else 0
        return np.uint64(~(bits ^ ((bits >> 31) | -(2**31))) & 0xFFFFFFFF)
    bits = int(np.float64(x).view(np.int64)) if x != 0 else 0
    return np.uint64(~(bits ^ ((bits >> 63) | -(2**63))) & 0xFFFFFFFFFFFFFFFF)


@overload(descending_bits, jit_options=UNCOUNTED, strict=False)
def _descending_bits(x: Any) -> Any:
    return _descending_bits32 if x == types.float32 else _descending_bits64


def _descending_bits32(x):
    """Only the lower 32 bits are used: half as many bytes to sort by."""
    bits = np.int64(np.float32(x).view(np.int32)) if x != 0 else np.int64(0)
    return np.uint64(np.uint32(~(bits ^ ((bits >> np.int64(31)) | np.int64(-(2**31))))))


def _descending_bits64(x):
    bits = np.float64(x).view(np.int64) if x != 0 else np.int64(0)
    return np.uint64(~(bits ^ ((bits >> np.int64(63)) | np.int64(-(2**63)))))
