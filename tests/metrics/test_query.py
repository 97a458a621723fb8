"""Sorting: one total order, whatever was there before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankwood._core.jit import jit
from rankwood._core.sorting import arrange


@jit
def _arrange(key, slot):
    arrange(key, slot)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.5]), max_size=200), st.randoms())
def test_ties_go_by_slot_from_any_start(values, random):
    key = np.array(values)
    order = list(range(len(values)))
    random.shuffle(order)
    slot = np.array(order, np.int64)
    sorted_key = key[slot]
    _arrange(sorted_key, slot)
    assert slot.tolist() == sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert sorted_key.tolist() == sorted(values, reverse=True)


def test_long_lists_far_out_of_order(rng):
    key = rng.normal(size=20_000)
    slot = np.arange(key.size)
    for start in (key.copy(), np.sort(key)):  # random, and exactly reversed
        s, k = slot.copy(), start.copy()
        _arrange(k, s)
        assert (np.diff(k) <= 0).all()
        assert (start[s] == k).all()
