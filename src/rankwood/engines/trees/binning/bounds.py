"""Bounds of bins by LightGBM's rule [ke2017].

Negative numbers, zero and positive numbers have bins of their own: zero is what lies within 1e-35 of it. Each side has
as many bins as it has of the other values. If its distinct values fit, there is a bound between any two; otherwise
values that are as frequent as a mean bin have a bin each, and the others fill bins of equal counts.
"""

from typing import NamedTuple

import numpy as np

from rankwood._kernels.compile.jit import jit, uncounted
from rankwood._kernels.numeric.plain import bits_of, float_of, larger, smaller
from rankwood._kernels.pointers import MemoryLayout

#: LightGBM reads numbers as near to 0 as this as 0, when it predicts too.
ZERO = float(np.float32(1e-35))
_BEFORE_ZERO = float(np.nextafter(-ZERO, -np.inf))
MOST_BINS = 255
_RADIX_BITS, _RADIX_PASSES = 11, 3
#: Counters that `sort_floats` needs.
RADIX = 1 << _RADIX_BITS
_SIGN = np.uint32(0x80000000)

BOUNDS = MemoryLayout(
    "bounds",
    arrays={
        "values": np.float64,  # a sorted sample without missing values, of which distinct values are kept
        "counts": np.int64,  # of distinct values
        "out": np.float64,  # upper bounds of bins, the last of which is infinite
    },
    integers=("size", "max_bin", "min_data"),
)
_open = BOUNDS.opened


class Side(NamedTuple):
    """Distinct values `first` to `end`, and how many documents have one of them."""

    first: int
    end: int
    documents: int


@jit
def sort_floats(bits, keys, other_keys, counts):
    """Sort float32 numbers, given as their bits: three passes over keys whose order is that of the numbers."""
    size = np.uint64(bits.size)
    for i in range(size):
        x = bits[i]
        keys[i] = ~x if x & _SIGN else x | _SIGN
    for p in range(_RADIX_PASSES):
        shift, mask = np.uint32(_RADIX_BITS * p), np.uint32(RADIX - 1)
        for k in range(RADIX):
            counts[k] = 0
        for i in range(size):
            counts[np.uint64((keys[i] >> shift) & mask)] += 1
        at = 0
        for k in range(RADIX):
            count = counts[k]
            counts[k] = at
            at += count
        for i in range(size):
            digit = np.uint64((keys[i] >> shift) & mask)
            other_keys[np.uint64(counts[digit])] = keys[i]
            counts[digit] += 1
        keys, other_keys = other_keys, keys
    for i in range(size):
        x = keys[i]
        bits[i] = x ^ _SIGN if x & _SIGN else ~x


@jit
def find_bounds(table):
    """Write the upper bounds of bins; return how many there are."""
    task = _open(table)
    if task.size == 0:
        task.out[0] = np.inf
        return 1
    distinct = _keep_distinct(task)
    left = right = 0
    negative = zero = 0
    while left < distinct and task.values[left] < -ZERO:
        negative += task.counts[left]
        left += 1
    right = left
    while right < distinct and task.values[right] <= ZERO:
        zero += task.counts[right]
        right += 1
    n = 0
    if left > 0 and task.max_bin > 1:
        share = np.float64(negative) / (task.size - zero) * (task.max_bin - 1)
        n = _fill(task, Side(0, left, negative), larger(1, np.int64(share)), n)
        task.out[n - 1] = _BEFORE_ZERO
    if right < distinct and task.max_bin - 1 - n > 0:
        task.out[n] = ZERO
        n = _fill(
            task, Side(right, distinct, task.size - negative - zero), task.max_bin - 1 - n, n + 1
        )
    else:
        task.out[n] = np.inf
        n += 1
    return n


@uncounted
def _keep_distinct(task):
    """Keep the distinct values of a sorted sample, and count them."""
    k = 0
    task.counts[0] = 1
    for i in range(1, task.size):
        if task.values[i] != task.values[k]:
            k += 1
            task.values[k] = task.values[i]
            task.counts[k] = 0
        task.counts[k] += 1
    return k + 1


@uncounted
def _fill(task, side, max_bin, n):
    """Append the bounds of one side, of which there are n before; return how many there are then."""
    if side.end - side.first <= max_bin:
        return _between_all(task, side, n)
    if task.min_data > 0:
        max_bin = larger(1, smaller(max_bin, side.documents // task.min_data))
    return _of_equal_counts(task, side, max_bin, n)


@uncounted
def _next_above(x):
    """Return the smallest float64 above x."""
    if x == 0.0:
        return float_of(np.int64(1))
    if x == np.inf:
        return x
    return float_of(bits_of(x) + (1 if x > 0.0 else -1))


@uncounted
def _append_between(task, i, n, first):
    """Append a bound between two values, if it is above the one before it; return the number of bounds."""
    bound = _next_above((task.values[i] + task.values[i + 1]) / 2.0)
    if n == first or bound > _next_above(task.out[n - 1]):
        task.out[n] = bound
        n += 1
    return n


@uncounted
def _between_all(task, side, n):
    """Append a bound between any two values, as soon as there are enough values in the bin."""
    first, count = n, 0
    for i in range(side.first, side.end - 1):
        count += task.counts[i]
        if count >= task.min_data:
            before = n
            n = _append_between(task, i, n, first)
            count = count if n == before else 0
    task.out[n] = np.inf
    return n + 1


@uncounted
def _of_equal_counts(task, side, max_bin, n):
    """Append bounds of at most `max_bin` bins of about equal counts; frequent values have bins of their own."""
    first, bins, count = n, 0, 0
    frequent = np.float64(side.documents) / max_bin
    bins_left, left = max_bin, side.documents
    for i in range(side.first, side.end):
        if task.counts[i] >= frequent:
            bins_left -= 1
            left -= task.counts[i]
    mean = np.float64(left) / bins_left if bins_left > 0 else np.inf
    for i in range(side.first, side.end - 1):
        alone = task.counts[i] >= frequent
        if not alone:
            left -= task.counts[i]
        count += task.counts[i]
        before_frequent = task.counts[i + 1] >= frequent and count >= larger(1.0, mean * 0.5)
        if alone or count >= mean or before_frequent:
            n = _append_between(task, i, n, first)
            bins += 1
            if bins >= max_bin - 1:
                break
            count = 0
            if not alone:
                bins_left -= 1
                mean = np.float64(left) / bins_left if bins_left > 0 else np.inf
    task.out[n] = np.inf
    return n + 1
