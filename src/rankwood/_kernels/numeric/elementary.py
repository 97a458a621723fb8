"""Elementary functions of our own, with the same bits on every processor: exp, log, cos, powers of two.

IEEE 754 fixes the last bit of sums, products, quotients and square roots, and of nothing else. The C library and NumPy
compute exp, log, cos and powers in one way on processors with FMA or AVX-512 and in another way on others. The
functions here are made of sums, products, quotients and operations on bits, so they have the same bits everywhere;
compiled loops over them vectorise. The formulas take numbers and arrays alike: Python computes them too.
"""

from typing import Any

import numpy as np
from numba.core import types  # type: ignore[attr-defined]
from numba.extending import overload

from rankwood._kernels.compile.jit import UNCOUNTED, uncounted

# ln(2) in two pieces: a whole number below 2^11 (in float32 below 2^10) times the first is exact.
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_LN2_HIGH32, _LN2_LOW32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_INVERSE_LN2 = 1.4426950408889634
#: A literal, since NumPy's logarithms depend on the processor.
LN2 = 0.6931471805599453
_SQRT_HALF_BITS, _SQRT_HALF_BITS32 = 0x3FE6A09E667F3BCD, np.int32(0x3F3504F3)
_TWO_PI = 6.283185307179586
_TOO_LARGE = 1100.0  # 2 to this power is infinite, 2 to minus this power is 0


def _typed(x: Any) -> Any:
    """Return numbers of Python as NumPy's float64; NumPy's own numbers and arrays as they are."""
    return x if isinstance(x, (np.floating, np.ndarray)) else np.float64(x)


def exp(x: Any) -> Any:
    """Return e to the power x, with the same bits everywhere: its relative error is at most 1.5e-16, in float32 3e-7.

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
    x = _typed(x)
    return _exp32(x) if x.dtype == np.float32 else _exp64(x)


@overload(exp, jit_options=UNCOUNTED, strict=False)
def _exp(x: Any) -> Any:
    return _exp32 if x == types.float32 else lambda x: _exp64(np.float64(x))


def _exp32(x):
    """Powers of two by exponent bits, the rest by a polynomial on [-ln(2)/2, ln(2)/2]; for |x| below 87."""
    n = np.float32(np.floor(x * np.float32(_INVERSE_LN2) + np.float32(0.5)))
    r = x - n * _LN2_HIGH32
    r = r - n * _LN2_LOW32
    p = np.float32(1.0 / 5040)
    p = p * r + np.float32(1.0 / 720)
    p = p * r + np.float32(1.0 / 120)
    p = p * r + np.float32(1.0 / 24)
    p = p * r + np.float32(1.0 / 6)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@uncounted
def _exp64(x):
    """Do as `_exp32`, for all numbers."""
    x = np.minimum(np.maximum(x, -_TOO_LARGE), _TOO_LARGE)
    n = np.floor(x * _INVERSE_LN2 + 0.5)
    return _scaled(_exp_near_0((x - n * _LN2_HIGH) - n * _LN2_LOW), n)


@uncounted
def _exp_near_0(r):
    """Return e^r for |r| up to ln(2)/2: its series, until terms are too small to matter."""
    p = 1.0 / 6227020800
    p = p * r + 1.0 / 479001600
    p = p * r + 1.0 / 39916800
    p = p * r + 1.0 / 3628800
    p = p * r + 1.0 / 362880
    p = p * r + 1.0 / 40320
    p = p * r + 1.0 / 5040
    p = p * r + 1.0 / 720
    p = p * r + 1.0 / 120
    p = p * r + 1.0 / 24
    p = p * r + 1.0 / 6
    p = p * r + 0.5
    return 1.0 + (r + r * r * p)


@uncounted
def _scaled(y, n):
    """Return y times 2^n, in two steps: half the exponent is never beyond those of normal numbers."""
    half = np.floor(0.5 * n)
    return y * _power_of_2(half) * _power_of_2(n - half)


@uncounted
def _power_of_2(n):
    return np.int64((np.int64(n) + 1023) << 52).view(np.float64)


def exp2(x: Any) -> Any:
    """Return 2 to the power x, with the same bits everywhere, always in float64; exact if x is a whole number.

    Parameters
    ----------
    x : float
        Exponent.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood._kernels.numeric.elementary import exp2
    >>> float(exp2(-3.0)), round(float(exp2(0.5)), 9)
    (0.125, 1.414213562)
    """
    return _exp2_64(np.float64(x))


@overload(exp2, jit_options=UNCOUNTED, strict=False)
def _exp2(x: Any) -> Any:
    return lambda x: _exp2_64(np.float64(x))


@uncounted
def _exp2_64(x):
    x = np.minimum(np.maximum(x, -_TOO_LARGE), _TOO_LARGE)
    n = np.floor(x + 0.5)
    r = x - n
    return _scaled(_exp_near_0(r * _LN2_HIGH + r * _LN2_LOW), n)


def log(x: Any) -> Any:
    """Return the natural logarithm, with the same bits everywhere: its relative error is at most 1.5e-16.

    In float32 the error is at most 3e-7.

    Parameters
    ----------
    x : float
        A positive number, not so small that it has lost digits (below 1e-307, in float32 1e-37).

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood.extend import log
    >>> float(log(1.0))
    0.0
    """
    x = _typed(x)
    return _log32(x) if x.dtype == np.float32 else _log64(x)


@overload(log, jit_options=UNCOUNTED, strict=False)
def _log(x: Any) -> Any:
    return _log32 if x == types.float32 else lambda x: _log64(np.float64(x))


def _log32(x):
    """Exponent bits times ln(2), and 2 atanh(t) with t = (m - 1) / (m + 1) of a mantissa m in [1/sqrt(2), sqrt(2))."""
    bits = np.float32(x).view(np.int32)
    e = np.int32((bits - _SQRT_HALF_BITS32) >> np.int32(23))
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
    return np.float32(e) * np.float32(LN2) + (t + t) * p


@uncounted
def _log64(x):
    """Return the logarithm of the mantissa 1 + f plus that of the power of two, the small terms first."""
    e, m = _mantissa(x)
    f, t = m - 1.0, (m - 1.0) / (m + 1.0)
    square = 0.5 * f * f
    low = t * (square + _atanh_rest(t * t)) + e * _LN2_LOW
    return e * _LN2_HIGH - ((square - low) - f)


@uncounted
def _mantissa(x):
    """Return e and m with x = 2^e m and m in [1/sqrt(2), sqrt(2))."""
    bits = np.float64(x).view(np.int64)
    e = (bits - _SQRT_HALF_BITS) >> 52
    return np.float64(e), np.int64(bits - (e << 52)).view(np.float64)


@uncounted
def _atanh_rest(z):
    """Return 2 atanh(t) / t - 2 for z = t^2 up to 0.03: its series, until terms are too small to matter."""
    p = 2.0 / 23
    p = p * z + 2.0 / 21
    p = p * z + 2.0 / 19
    p = p * z + 2.0 / 17
    p = p * z + 2.0 / 15
    p = p * z + 2.0 / 13
    p = p * z + 2.0 / 11
    p = p * z + 2.0 / 9
    p = p * z + 2.0 / 7
    p = p * z + 2.0 / 5
    p = p * z + 2.0 / 3
    return p * z


def log2(x: np.ndarray) -> np.ndarray:
    """Return binary logarithms of positive numbers, with the same bits everywhere; exact for powers of two.

    Parameters
    ----------
    x : array of float64
        Positive numbers.

    Returns
    -------
    array of float64

    Examples
    --------
    >>> import numpy as np
    >>> from rankwood._kernels.numeric.elementary import log2
    >>> log2(np.array([1.0, 8.0])).tolist()
    [0.0, 3.0]
    """
    e, m = _mantissa(x)
    result: np.ndarray = e + _log64(m) * _INVERSE_LN2
    return result


def log1p(x: Any) -> Any:
    """Return the natural logarithm of 1 + x, with the same bits everywhere: its relative error is at most 2.3e-16.

    In float32 the error is at most 4e-7.

    Parameters
    ----------
    x : float
        A number of at least 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood._kernels.numeric.elementary import log1p
    >>> float(log1p(1e-20))
    1e-20
    """
    x = _typed(x)
    return _log1p32(x) if x.dtype == np.float32 else _log1p64(x)


@overload(log1p, jit_options=UNCOUNTED, strict=False)
def _log1p(x: Any) -> Any:
    return _log1p32 if x == types.float32 else lambda x: _log1p64(np.float64(x))


def _log1p32(x):
    """2 atanh(t) with t = x / (2 + x) of a small x, whose digits 1 + x would lose; else the logarithm of 1 + x."""
    t = x / (x + np.float32(2.0))
    t2 = t * t
    p = ((np.float32(1.0 / 7) * t2 + np.float32(1.0 / 5)) * t2 + np.float32(1.0 / 3)) * t2
    small = (t + t) * (p + np.float32(1.0))
    large = log(x + np.float32(1.0))
    return small if x < np.float32(0.25) else large


@uncounted
def _log1p64(x):
    """Return the logarithm of 1 + x as it is rounded, and what the rounding has lost."""
    rounded = 1.0 + x
    return _log64(rounded) + (x - (rounded - 1.0)) / rounded


def cos_turns(turns: Any) -> Any:
    """Return cos(2 pi t) of t turns, with the same bits everywhere: its error is at most 1e-15, in float32 2e-7.

    Parameters
    ----------
    turns : float
        A number between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from rankwood._kernels.numeric.elementary import cos_turns
    >>> [float(cos_turns(t)) for t in (0.0, 0.25, 0.5)]
    [1.0, 0.0, -1.0]
    """
    turns = _typed(turns)
    return _cos_turns32(turns) if turns.dtype == np.float32 else _cos_turns64(turns)


@overload(cos_turns, jit_options=UNCOUNTED, strict=False)
def _cos_turns(turns: Any) -> Any:
    return _cos_turns32 if turns == types.float32 else lambda turns: _cos_turns64(np.float64(turns))


def _cos_turns32(turns):
    """Return the sine of an angle between -pi/2 and pi/2: its series."""
    a = np.float32(_TWO_PI) * (abs(turns - np.float32(0.5)) - np.float32(0.25))
    z = a * a
    p = np.float32(1.0 / 6227020800)
    p = p * z - np.float32(1.0 / 39916800)
    p = p * z + np.float32(1.0 / 362880)
    p = p * z - np.float32(1.0 / 5040)
    p = p * z + np.float32(1.0 / 120)
    p = p * z - np.float32(1.0 / 6)
    return a + a * z * p


@uncounted
def _cos_turns64(turns):
    a = _TWO_PI * (abs(turns - 0.5) - 0.25)
    z = a * a
    p = 1.0 / 51090942171709440000
    p = p * z - 1.0 / 121645100408832000
    p = p * z + 1.0 / 355687428096000
    p = p * z - 1.0 / 1307674368000
    p = p * z + 1.0 / 6227020800
    p = p * z - 1.0 / 39916800
    p = p * z + 1.0 / 362880
    p = p * z - 1.0 / 5040
    p = p * z + 1.0 / 120
    p = p * z - 1.0 / 6
    return a + a * z * p


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
    >>> from rankwood._kernels.numeric.elementary import minus_log1m
    >>> round(float(minus_log1m(0.5)), 6)
    0.693147
    """
    q = _typed(q)
    return _minus_log1m32(q) if q.dtype == np.float32 else _minus_log1m64(q)


@overload(minus_log1m, jit_options=UNCOUNTED, strict=False)
def _minus_log1m(q: Any) -> Any:
    return _minus_log1m32 if q == types.float32 else _minus_log1m64


def _minus_log1m32(q):
    """Return q + q^2 g(q); g is the polynomial of degree 5 with the smallest relative error, in pairs of terms."""
    q2 = q * q
    low = np.float32(0.49987558) + np.float32(0.33793771) * q
    middle = np.float32(0.19433381) + np.float32(0.49979523) * q
    high = np.float32(-0.60088527) + np.float32(0.96764463) * q
    return q + q2 * (low + q2 * (middle + q2 * high))


def _minus_log1m64(q):
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
