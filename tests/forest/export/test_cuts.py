"""The five rules, number by number, against comparisons in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwood.forest.export import cuts
from rankwood.forest.export.exported_model import (
    features_by_missing,
    lowest_score,
    with_missing_as_zero,
)
from tests.helpers.made_forests import ODD, documents, made_forest

FLT_MAX = float(np.finfo(np.float32).max)
any_double = st.one_of(st.floats(allow_nan=False), st.sampled_from(ODD))
any_float = st.floats(allow_nan=False, width=32)
finite_float = st.floats(allow_nan=False, allow_infinity=False, width=32)


def beside32(x):
    """Return float32 numbers from two steps below to two steps above."""
    with np.errstate(all="ignore"):
        at = np.float32(x)
        low, high = np.nextafter(at, np.float32(-np.inf)), np.nextafter(at, np.float32(np.inf))
        found = [np.nextafter(low, np.float32(-np.inf)), low, at, high]
        found.append(np.nextafter(high, np.float32(np.inf)))
    return [v for v in found if np.isfinite(v)]


def beside64(x):
    """Return doubles from two steps below to two steps above."""
    with np.errstate(all="ignore"):
        low, high = np.nextafter(x, -np.inf), np.nextafter(x, np.inf)
        found = [np.nextafter(low, -np.inf), low, x, high, np.nextafter(high, np.inf)]
    return [float(v) for v in found if np.isfinite(v)]


def one(function, t, *more):
    """Return threshold and exchanged sides of one number."""
    cuts = function(np.array([t]), *more)
    assert np.isfinite(cuts.threshold[0])
    assert not (cuts.threshold[0] == 0 and np.signbit(cuts.threshold[0]))
    return cuts.threshold[0], bool(cuts.swapped[0])


@given(any_double)
def test_rule_1_floor_and_next_float32(t):
    floor, above = cuts.floor32(np.array([t]))[0], cuts.above32(np.array([t]))[0]
    assert floor.dtype == above.dtype == np.float32
    assert float(floor) <= t
    if np.isfinite(t) and np.isfinite(floor) and np.isfinite(above):
        assert Fraction(float(floor)) <= Fraction(t) < Fraction(float(above))
        assert np.nextafter(floor, np.float32(np.inf)) == above


@given(any_double, finite_float)
def test_rules_1_and_2_at_most_in_float32(t, x):
    threshold, swapped = one(cuts.at_most_float32, t)
    for value in [np.float32(x), *beside32(t), np.float32(FLT_MAX), np.float32(-FLT_MAX)]:
        assert (bool(value <= threshold) != swapped) == (float(value) <= t)


@given(any_double, finite_float)
def test_rules_1_and_2_below_in_float32(t, x):
    threshold, swapped = one(cuts.below_float32, t)
    for value in [np.float32(x), *beside32(t), np.float32(FLT_MAX), np.float32(-FLT_MAX)]:
        assert (bool(value < threshold) != swapped) == (float(value) <= t)


@given(any_double, st.floats(allow_nan=False, allow_infinity=False))
def test_rule_2_at_most_in_float64(t, x):
    threshold, swapped = one(cuts.at_most_float64, t, False)
    for value in [x, *beside64(t), np.finfo(float).max, -np.finfo(float).max]:
        assert ((value <= threshold) != swapped) == (value <= t)


@given(any_float, st.floats(allow_nan=False, allow_infinity=False))
def test_rule_5_float32_models_on_doubles(t, x):
    threshold, swapped = one(cuts.at_most_float64, float(t), True)
    values = [x, *beside64(threshold), *map(float, beside32(t)), 2.0**128, -(2.0**128)]
    with np.errstate(over="ignore", under="ignore"):
        for value in values:
            assert ((value <= threshold) != swapped) == (np.float32(value) <= np.float32(t))


@given(any_double, finite_float)
def test_solr_thresholds(t, x):
    solr = cuts.at_most_solr(np.array([t]))
    with np.errstate(over="ignore"):
        compared = np.float32(solr.threshold[0] + np.float32(1e-6))
    wanted = cuts.at_most_float32(np.array([t]))
    assert solr.swapped[0] == wanted.swapped[0]
    assert compared <= wanted.threshold[0]
    if solr.exact[0]:
        assert compared == wanted.threshold[0]
    else:  # sums are 1.2e-13 apart next to 0, and omit some float32 elsewhere
        step = float(np.spacing(np.abs(wanted.threshold[0])))
        assert float(wanted.threshold[0]) - float(compared) <= max(1.2e-13, step)


def test_where_solr_meets_thresholds():
    """The page says: not within 1e-5 of 0, and not within 1e-6 above a negative power of two."""
    rng = np.random.default_rng(0)
    t = rng.standard_normal(20_000) * 10.0 ** rng.integers(-6, 38, 20_000)
    t = np.concatenate([t, np.arange(-40, 40, 0.125), -(2.0 ** np.arange(-16, 9))])
    power = 2.0 ** np.ceil(np.log2(np.maximum(-t, 1e-300)))
    beside_power = (t < 0) & (power + t <= 1.1e-6)
    fine = (np.abs(t) > 1e-5) & ~beside_power
    exact = cuts.at_most_solr(t).exact
    assert exact[fine].all() and not exact.all() and fine.sum() > 15_000


@pytest.mark.parametrize("seed", range(3))
def test_rule_4_missing_as_zero(seed):
    forest = made_forest(seed)
    zero = with_missing_as_zero(forest)
    X = documents()
    assert np.isnan(X).any()
    np.testing.assert_array_equal(zero.leaf(X), forest.leaf(np.nan_to_num(X, nan=0.0)))
    assert features_by_missing(forest).size and not features_by_missing(zero).size


@given(any_float)
def test_numbers_can_not_be_rounded_twice(value):
    if np.isfinite(value):
        text = repr(cuts.as_written(np.array([value]))[0])
        assert float(text) == float(np.float32(text)) == value


def test_lowest_score_is_below_all_sums():
    forest = made_forest(5)
    smallest = [
        forest.leaf_value[a:b].min()
        for a, b in zip(forest.first_leaf, forest.first_leaf[1:], strict=False)
    ]
    assert lowest_score(forest) == pytest.approx(sum(smallest) + forest.base, abs=1e-5)
    narrow = np.float32(0)
    for value in smallest:
        narrow = np.float32(narrow + np.float32(value))
    assert lowest_score(forest) <= min(sum(smallest), float(narrow)) + forest.base
