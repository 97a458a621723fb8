"""Functions that have the same bits on every processor: right to the last digit or two, compiled or not."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from rankwood._kernels.compile.jit import jit
from rankwood._kernels.numeric import elementary
from rankwood._kernels.numeric.aliasing import add_noalias
from rankwood._kernels.numeric.lanes import LANES, sum_in_lanes, sum_lanes, zero_lanes
from rankwood._kernels.numeric.scalars import count_if, counter_like

rng = np.random.default_rng(0)
POINTS = {
    "exp": rng.uniform(-700, 700, 400),
    "exp2": rng.uniform(-1000, 1000, 400),
    "log": np.concatenate([np.exp(rng.uniform(-600, 600, 300)), rng.uniform(0.5, 2.0, 300)]),
    "log1p": np.exp(rng.uniform(-50, 50, 400)),
}
LARGEST_ERROR = {"exp": 1.5e-16, "exp2": 1.7e-16, "log": 1.5e-16, "log1p": 2.3e-16}


def exact(name, x):
    """Return the value of a function to some 60 digits."""
    with localcontext() as context:
        context.prec = 60
        number = Decimal(float(x))
        if name == "exp":
            return number.exp()
        if name == "exp2":
            return (number * Decimal(2).ln()).exp()
        return (number + 1 if name == "log1p" else number).ln()


@pytest.mark.parametrize("name", POINTS)
def test_functions_are_right_to_the_last_digit(name):
    function = getattr(elementary, name)
    for x in POINTS[name]:
        true = exact(name, x)
        assert abs((Decimal(float(function(x))) - true) / true) < Decimal(LARGEST_ERROR[name]), x
    assert function(POINTS[name]).tolist() == [float(function(x)) for x in POINTS[name]]


def test_binary_logarithms():
    whole = np.arange(1.0, 3000.0)
    true = [float(exact("log", n) / Decimal(2).ln()) for n in whole]
    assert elementary.log2(whole) == pytest.approx(true, rel=2.3e-16, abs=0)
    assert elementary.log2(2.0 ** np.arange(50)).tolist() == list(range(50))
    assert [float(elementary.exp2(float(n))) for n in range(-1074, 1024)] == [
        math.ldexp(1.0, n) for n in range(-1074, 1024)
    ]


def test_cosines():
    turns = np.concatenate([np.linspace(0, 1, 257), rng.uniform(0, 1, 500)])
    assert elementary.cos_turns(turns) == pytest.approx(np.cos(2 * np.pi * turns), abs=1e-15)
    assert elementary.cos_turns(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [1, 0, -1, 0, 1]


@pytest.mark.parametrize(
    "name, low, high, error",
    [
        ("exp", -86.0, 86.0, 3e-7),
        ("log", 1e-30, 1e30, 2e-7),
        ("log1p", 0.0, 1e6, 4e-7),
        ("cos_turns", 0.0, 1.0, 2e-7),
    ],
)
def test_single_precision(name, low, high, error):
    function = getattr(elementary, name)
    for x in rng.uniform(low, high, 500).astype(np.float32):
        got, true = function(x), float(function(np.float64(x)))
        assert got.dtype == np.float32
        assert float(got) == pytest.approx(true, rel=error, abs=error if name != "exp" else 0)


def test_exponents_beyond_all_numbers():
    with np.errstate(over="ignore"):
        assert [float(elementary.exp(x)) for x in (-2000.0, -760.0, 710.0, 2000.0)] == [
            *(0.0, 0.0, np.inf, np.inf)
        ]
        assert float(elementary.exp(-745.0)) == math.ldexp(1.0, -1074)


@jit
def _each_of(x, out):
    for i in range(x.size):
        out[0, i] = elementary.exp(x[i])
        out[1, i] = elementary.log(abs(x[i]) + x.dtype.type(1e-3))
        out[2, i] = elementary.log1p(abs(x[i]))
        out[3, i] = elementary.cos_turns(abs(x[i]) / x.dtype.type(100.0))
        out[4, i] = elementary.exp2(x[i])


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_compiled_code_has_the_same_bits(real):
    x = rng.uniform(-80, 80, 200).astype(real)
    compiled, plain = np.empty((5, x.size), real), np.empty((5, x.size), real)
    _each_of(x, compiled)
    _each_of.py_func(x, plain)
    assert compiled.tobytes() == plain.tobytes()


@jit
def _sums(column, n, out):
    out[0] = sum_in_lanes(column)
    total = zero_lanes(column[0])
    for i in range(n):
        total[i % LANES] += column[i]
    out[1] = sum_lanes(total)


def in_order(numbers, total=None):
    for number in numbers:
        total = number if total is None else total + number
    return total


def by_halves(numbers):
    """Return the sum of sixteen numbers: 0 and 8, 1 and 9, ..., then halves again."""
    while len(numbers) > 1:
        half = len(numbers) // 2
        numbers = [numbers[i] + numbers[half + i] for i in range(half)]
    return numbers[0]


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 31, 32, 33, 100])
def test_sums_in_lanes_have_one_order(real, n):
    column = rng.normal(size=n).astype(real)
    blocks = n // 16
    expected = real(0)
    if blocks:
        expected = by_halves([in_order(column[lane : 16 * blocks : 16]) for lane in range(16)])
    for number in column[16 * blocks :]:
        expected += number
    in_lanes = [in_order(column[lane::16], real(0)) for lane in range(16)]
    out = np.empty(2, real)
    for kernel in (_sums, _sums.py_func):
        kernel(column, n, out)
        assert out.tolist() == [expected, by_halves(in_lanes)]


def test_sums_in_lanes_are_sums():
    column = rng.normal(size=1000)
    true = sum(map(Fraction, column.tolist()))
    assert sum_in_lanes(column) == pytest.approx(float(true), rel=1e-13)


@jit
def _add_and_count(push, hessian, numbers, out):
    count = counter_like(numbers[0])
    for i in range(numbers.size):
        add_noalias(push, hessian, i, -numbers[i], numbers[i] * numbers[i])
        count = count_if(count, numbers[i] > 0)
    out[0] = count


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_sums_of_two_columns_and_counts(real):
    numbers = rng.normal(size=50).astype(real)
    for kernel in (_add_and_count, _add_and_count.py_func):
        push, hessian, out = np.ones(50, real), np.zeros(50, real), np.zeros(1, np.int64)
        kernel(push, hessian, numbers, out)
        assert (push == 1 - numbers).all() and (hessian == numbers * numbers).all()
        assert out[0] == (numbers > 0).sum()
