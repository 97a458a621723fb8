"""The plain walker: comparisons of other programs, categories, and the types that kernels are compiled for."""

import numpy as np
import pytest

from rankwood.engines.model_trees import walking
from rankwood.engines.model_trees.arrays import TreeArrays, min_category
from rankwood.testing import interpreted

VALUES = np.array([-np.inf, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.inf])


def one_split(threshold=0.0, categories=(), lowest=-1.0):
    """Return a tree with a single split, whose missing values go right."""
    return TreeArrays(
        feature=np.zeros(1, np.int32),
        threshold=np.array([threshold]),
        missing_left=np.zeros(1, bool),
        left=np.array([~0], np.int32),
        right=np.array([~1], np.int32),
        leaf_value=np.zeros(2),
        first_node=np.array([0, 1]),
        first_leaf=np.array([0, 2]),
        category_first=np.array([0, len(categories)]),
        category=np.array(categories, np.int64),
        categorical=np.array([bool(categories)]),
        min_category=lowest,
    ).for_kernels()


def goes_left(trees, values, comparison=walking.AT_MOST):
    return (walking.leaves(trees, np.array(values).reshape(-1, 1), comparison)[:, 0] == 0).tolist()


@pytest.mark.parametrize("threshold", VALUES)
def test_comparisons(threshold):
    trees = one_split(threshold)
    assert goes_left(trees, VALUES) == (threshold >= VALUES).tolist()
    assert goes_left(trees, VALUES, walking.BELOW) == (threshold > VALUES).tolist()
    # In this order, a number goes left if it isn't after the threshold; -0.0 is before 0.0.
    place = next(
        i
        for i, value in enumerate(VALUES)
        if value == threshold and np.signbit(value) == np.signbit(threshold)
    )
    expected = [i <= place for i in range(VALUES.size)]
    assert goes_left(trees, VALUES, walking.AT_MOST_IN_JAVA) == expected
    with interpreted():
        assert goes_left(trees, VALUES, walking.AT_MOST_IN_JAVA) == expected


@pytest.mark.parametrize("engine, half", [("lightgbm", True), ("xgboost", False)])
def test_categories(engine, half):
    trees = one_split(categories=(0, 3, 7), lowest=min_category(engine))
    values = [0.0, 0.9, 1.0, 3.5, 7.0, 8.0, -1.0, np.nan, np.inf, -np.inf, 2.0**31, 1e300]
    expected = [True, True, False, True, True, *[False] * 7]
    assert goes_left(trees, values) == expected
    assert goes_left(trees, [-0.5]) == [half]


def test_kernels_get_one_type_of_arrays():
    narrow = one_split()._replace(threshold=np.zeros(1, np.float32), left=np.array([~0]))
    arrays = narrow.for_kernels()
    assert arrays.threshold.dtype == np.float64 and arrays.left.dtype == np.int32
    assert not any(array.flags.writeable for array in arrays[:-1])
