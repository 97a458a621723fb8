"""Operations on single numbers that are one or two instructions each: there is no function to compile.

Numba's own `min`, `max` and `view` do the same, but each use of them is a function that takes a while to compile.
"""

from typing import Any

import numpy as np
from numba.core import types  # type: ignore[attr-defined]

from rankwood._kernels.records import instruction


def larger(a: Any, b: Any) -> Any:
    """Return a if it is larger than b, else b."""
    return a if a > b else b


def smaller(a: Any, b: Any) -> Any:
    """Return a if it is smaller than b, else b."""
    return a if a < b else b


def bits_of(x: Any) -> Any:
    """Return the bits of a float64 as int64, or of a float32 as int32."""
    return x.view(np.int32 if isinstance(x, np.float32) else np.int64)


def float_of(bits: Any) -> Any:
    """Return the float64 that has the bits of an int64, or the float32 that has those of an int32."""
    return bits.view(np.float32 if isinstance(bits, np.int32) else np.float64)


def _chosen(comparison: str) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.return_type
        a, b = (
            context.cast(builder, x, k, kind) for x, k in zip(args, signature.args, strict=True)
        )
        if isinstance(kind, types.Float):
            first = builder.fcmp_ordered(comparison, a, b)
        elif kind.signed:
            first = builder.icmp_signed(comparison, a, b)
        else:
            first = builder.icmp_unsigned(comparison, a, b)
        return builder.select(first, a, b)

    return build


def _common(a: Any, b: Any) -> Any:
    """Return the type of both numbers, given that they have one, or that one of them is a literal."""
    a, b = types.unliteral(a), types.unliteral(b)  # type: ignore[attr-defined]
    if isinstance(a, types.Float) or isinstance(b, types.Float):
        return a if isinstance(a, types.Float) else b
    return a if a.bitwidth >= b.bitwidth and (a == b or not a.signed or b.signed) else b


def _cast_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.bitcast(args[0], context.get_value_type(signature.return_type))


instruction(larger, _common, _chosen(">"))
instruction(smaller, _common, _chosen("<"))
instruction(bits_of, lambda x: types.int32 if x == types.float32 else types.int64, _cast_bits)
instruction(
    float_of, lambda bits: types.float32 if bits == types.int32 else types.float64, _cast_bits
)
