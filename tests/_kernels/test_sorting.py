"""Sorting: one total order, whatever was there before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwood._kernels.compile.jit import jit
from rankwood._kernels.numeric.sorting import (
    SHORT,
    counting_sort,
    make_sort_scratch,
    radix_sort,
    repair_sort,
    select_top,
    sort_down,
)

NUMBERS = [-np.inf, -1e30, -1.0, -1e-30, -0.0, 0.0, 5e-324, 0.5, 2.0, 7.5, np.inf]
several = st.lists(st.sampled_from(NUMBERS) | st.floats(allow_nan=False), min_size=1, max_size=200)


@jit
def repair(key, slot, spare, scratch):
    repair_sort(key, slot, spare, scratch)


@jit
def all_sorts(scores, slots, scratch):
    counting_sort(scores, slots[0], scratch.index)
    radix_sort(scores, slots[1], scratch)
    sort_down(scores, slots[2], scratch)


@jit
def top(key, slot, k, spare):
    select_top(key, slot, k, spare)


def order(values):
    return sorted(range(len(values)), key=lambda i: (-values[i], i))


@given(several, st.randoms())
def test_ties_go_by_slot_from_any_start(values, random):
    key, start = np.array(values), list(range(len(values)))
    random.shuffle(start)
    slot = np.array(start, np.int64)
    sorted_key = key[slot]
    repair(sorted_key, slot, np.empty(key.size), make_sort_scratch(key.size))
    assert slot.tolist() == order(values)
    assert sorted_key.tolist() == sorted(values, reverse=True)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@given(values=several)
def test_all_sorts_give_one_order(real, values):
    with np.errstate(over="ignore"):
        scores = np.array(values).astype(real)
    slots = np.empty((3, scores.size), np.int64)
    all_sorts(scores, slots, make_sort_scratch(scores.size))
    for row in slots:
        assert row.tolist() == order(scores.tolist())


@given(several, st.integers(1, 200), st.randoms())
def test_the_first_k_come_to_the_front(values, k, random):
    key, start = np.array(values), list(range(len(values)))
    random.shuffle(start)
    slot, k = np.array(start, np.int64), min(k, key.size)
    top(key, slot, k, np.empty(key.size))
    first = sorted(order(values)[:k])
    assert slot.tolist() == first + [i for i in range(key.size) if i not in first]


def test_long_lists_far_out_of_order(rng):
    key = rng.normal(size=20_000)
    assert key.size > SHORT
    for start in (key.copy(), np.sort(key)):  # random, and exactly reversed
        s, k = np.arange(key.size), start.copy()
        repair(k, s, np.empty(key.size), make_sort_scratch(key.size))
        assert (np.diff(k) <= 0).all()
        assert (start[s] == k).all()
