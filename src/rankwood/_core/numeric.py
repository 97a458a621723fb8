"""Numbers in kernels: constants in the precision at hand, and exp, log and log1p that vectorise in float32."""

from typing import Any

import numpy as np
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import overload

from rankwood._core.compile import INNER, UNCOUNTED
from rankwood._core.records import instruction


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


def counters_like(x: Any) -> Any:
    """Return 0 and 1 to count with, as wide as `x`, so that counts fill vectors as numbers like `x` do."""
    return 0, 1


@overload(counters_like, jit_options=INNER, strict=False)
def _counters_like(x: Any) -> Any:
    if x == types.float32:  # floats count exactly up to 2^24
        return lambda x: (np.float32(0.0), np.float32(1.0))
    return lambda x: (np.int64(0), np.int64(1))


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


def _descending_bits32(x):  # type: ignore[no-untyped-def]
    """Only the lower 32 bits are used: half as many bytes to sort by."""
    bits = np.int64(np.float32(x).view(np.int32)) if x != 0 else np.int64(0)
    return np.uint64(np.uint32(~(bits ^ ((bits >> np.int64(31)) | np.int64(-(2**31))))))


def _descending_bits64(x):  # type: ignore[no-untyped-def]
    bits = np.float64(x).view(np.int64) if x != 0 else np.int64(0)
    return np.uint64(~(bits ^ ((bits >> np.int64(63)) | np.int64(-(2**63)))))


def exp(x: Any) -> Any:
    """Return e to the power x; in float32 by a polynomial, right to 3e-7, that vectorises.

    Parameters
    ----------
    x : float
        Exponent; in float32 its absolute value must be below 87.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood.extend import exp
    >>> float(exp(0.0))
    1.0
    """
    return np.exp(x)


@overload(exp, jit_options=INNER, strict=False)
def _exp(x: Any) -> Any:
    return _exp32 if x == types.float32 else lambda x: np.exp(x)


def _exp32(x):  # type: ignore[no-untyped-def]
    """Powers of two by exponent bits, the rest by a polynomial on [-ln(2)/2, ln(2)/2]; for |x| below 87."""
    n = np.float32(np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5)))
    # ln(2) comes in two pieces: n times the first is exact.
    r = x - n * np.float32(0.693359375)
    r = r - n * np.float32(-2.12194440e-4)
    p = np.float32(1.0 / 5040)
    p = p * r + np.float32(1.0 / 720)
    p = p * r + np.float32(1.0 / 120)
    p = p * r + np.float32(1.0 / 24)
    p = p * r + np.float32(1.0 / 6)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


def log(x: Any) -> Any:
    """Return the natural logarithm; in float32 by a polynomial, right to 2e-7, that vectorises.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood.extend import log
    >>> float(log(1.0))
    0.0
    """
    return np.log(x)


@overload(log, jit_options=INNER, strict=False)
def _log(x: Any) -> Any:
    return _log32 if x == types.float32 else lambda x: np.log(x)


def _log32(x):  # type: ignore[no-untyped-def]
    """Exponent bits times ln(2), and 2 atanh(t) with t = (m - 1) / (m + 1) of a mantissa m in [1/sqrt(2), sqrt(2))."""
    bits = np.float32(x).view(np.int32)
    e = np.int32((bits - np.int32(0x3F3504F3)) >> np.int32(23))
    m = np.int32(bits - (e << np.int32(23))).view(np.float32)
    t = (m - np.float32(1.0)) / (m + np.float32(1.0))
    t2 = t * t
    ninth, seventh, fifth, third = (
        np.float32(1.0 / 9),
        np.float32(1.0 / 7),
        np.float32(1.0 / 5),
        np.float32(1.0 / 3),
    )
    p = (((ninth * t2 + seventh) * t2 + fifth) * t2 + third) * t2 + np.float32(1.0)
    return np.float32(e) * np.float32(0.6931471805599453) + (t + t) * p


def log1p(x: Any) -> Any:
    """Return the natural logarithm of 1 + x; in float32 by polynomials, right to 4e-7 of its size, that vectorise.

    Parameters
    ----------
    x : float
        A number of at least 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood._core.numeric import log1p
    >>> float(log1p(1e-20))
    1e-20
    """
    return np.log1p(x)


@overload(log1p, jit_options=INNER, strict=False)
def _log1p(x: Any) -> Any:
    return _log1p32 if x == types.float32 else lambda x: np.log1p(x)


def _log1p32(x):  # type: ignore[no-untyped-def]
    """2 atanh(t) with t = x / (2 + x) of a small x, whose digits 1 + x would lose; else the logarithm of 1 + x."""
    t = x / (x + np.float32(2.0))
    t2 = t * t
    p = ((np.float32(1.0 / 7) * t2 + np.float32(1.0 / 5)) * t2 + np.float32(1.0 / 3)) * t2
    small = (t + t) * (p + np.float32(1.0))
    large = log(x + np.float32(1.0))
    return small if x < np.float32(0.25) else large


def minus_log1m(q: Any) -> Any:
    """Return -log(1 - q) for q up to 1/2, by a polynomial that vectorises: right to 1.3e-6 of it, in float64 to 5e-16.

    Parameters
    ----------
    q : float
        A probability of at most 1/2.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood._core.numeric import minus_log1m
    >>> round(float(minus_log1m(0.5)), 6)
    0.693147
    """
    return -np.log1p(-q)


@overload(minus_log1m, jit_options=UNCOUNTED, strict=False)
def _minus_log1m(q: Any) -> Any:
    return _minus_log1m32 if q == types.float32 else _minus_log1m64


def _minus_log1m32(q):  # type: ignore[no-untyped-def]
    """Return q + q^2 g(q); g is the polynomial of degree 5 with the smallest relative error, in pairs of terms."""
    q2 = q * q
    low = np.float32(0.49987558) + np.float32(0.33793771) * q
    middle = np.float32(0.19433381) + np.float32(0.49979523) * q
    high = np.float32(-0.60088527) + np.float32(0.96764463) * q
    return q + q2 * (low + q2 * (middle + q2 * high))


def _minus_log1m64(q):  # type: ignore[no-untyped-def]
    """2 atanh(t) with t = q / (2 - q), at most 1/3: its series, until terms are too small to matter."""
    t = q / (2.0 - q)
    t2 = t * t
    p = 1.0 / 31
    p = p * t2 + 1.0 / 29
    p = p * t2 + 1.0 / 27
    p = p * t2 + 1.0 / 25
    p = p * t2 + 1.0 / 23
    p = p * t2 + 1.0 / 21
    p = p * t2 + 1.0 / 19
    p = p * t2 + 1.0 / 17
    p = p * t2 + 1.0 / 15
    p = p * t2 + 1.0 / 13
    p = p * t2 + 1.0 / 11
    p = p * t2 + 1.0 / 9
    p = p * t2 + 1.0 / 7
    p = p * t2 + 1.0 / 5
    p = p * t2 + 1.0 / 3
    return (t + t) * (p * t2 + 1.0)
