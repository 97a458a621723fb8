"""Gradients on a grid: sums are exact in any order, and models are the same on any number of threads."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood.engines import exact_sums
from rankwood.engines.exact_sums import on_grid, unit_of_grid

FLOATS = st.floats(-(2.0**100), 2.0**100, width=32)
TINY = st.floats(-(2.0**-120), 2.0**-120, width=32)


@given(st.lists(st.one_of(FLOATS, TINY), max_size=60), st.randoms(use_true_random=False))
def test_sums_are_exact_in_any_order(values, rng):
    rounded = on_grid(np.array(values, np.float32)).tolist()
    exact = sum(map(Fraction, rounded), Fraction())
    rng.shuffle(rounded)
    total = 0.0
    for value in rounded:
        total += value
    assert total == exact == math.fsum(rounded)


@given(st.lists(st.one_of(FLOATS, TINY), min_size=1, max_size=60))
def test_rounding_is_small_and_is_done_once(values):
    given_values = np.array(values, np.float32)
    kept = given_values.copy()
    rounded = on_grid(given_values)
    largest = float(np.abs(given_values).max())
    unit = unit_of_grid(largest, len(values))
    assert np.array_equal(given_values, kept) and rounded.dtype == np.float32
    for before, after in zip(given_values.tolist(), rounded.tolist(), strict=True):
        assert Fraction(after) == round(Fraction(before) / Fraction(unit)) * Fraction(
            unit
        )  # ties to even
        assert abs(after - before) <= largest * 2.0**-24
    assert np.array_equal(on_grid(rounded, largest, len(values)), rounded)


@pytest.mark.parametrize("count", [1, 2**29, 2**29 + 1, 2**35])
def test_many_documents_have_a_coarser_grid(count):
    unit = unit_of_grid(1.0, count)
    assert count * 1.0 <= 2**53 * unit  # the largest sum
    assert unit == unit_of_grid(1.0, 1) * max(1, 2 ** math.ceil(math.log2(count / 2**29)))


def test_what_cannot_be_rounded_is_left():
    for values in ([], [0.0, 0.0], [1.0, np.nan], [np.inf, 2.0]):
        assert np.array_equal(on_grid(np.array(values, np.float32)), values, equal_nan=True)


def texts(engine, **sampled):
    """Return the different models that threads and kinds of histograms give."""
    plain = rw.make_ranking(60, seed=2)
    # Gradients of very different sizes: sums of similar ones are exact in float64 without any grid.
    weight = 2.0 ** np.random.default_rng(0).uniform(-30, 0, 60)
    data = rw.RankingData(plain.X, plain.y, qid=plain.qid, weight=weight)
    ways = [{"n_jobs": 1}, {"n_jobs": 2}]
    if engine == "lightgbm":
        ways += [{"n_jobs": 2, "force_row_wise": True}, {"n_jobs": 2, "force_col_wise": True}]
    rankers = [
        rw.Ranker(engine=engine, n_estimators=4, num_leaves=15, **way, **sampled) for way in ways
    ]
    settings = re.compile(r"\[(?:num_threads|force_\w+): [^\]]*\]")
    return {settings.sub("", ranker.fit(data).model_.text) for ranker in rankers}


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("sampled", [{}, {"subsample": 0.7, "colsample_bytree": 0.6}])
def test_threads_and_histograms_change_no_bit(engine, sampled):
    assert len(texts(engine, **sampled)) == 1


def test_without_the_grid_they_do(monkeypatch):
    monkeypatch.setattr(exact_sums, "on_grid", lambda values, *_, **__: np.float32(values))
    assert len(texts("lightgbm")) > 1
