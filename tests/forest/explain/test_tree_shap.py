"""SHAP values: equal to the definition in plain loops, to those of the engines, and to the score when added."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.forest.explain.tree_shap import TreeShap, last_split_first
from rankwood.testing import interpreted
from tests.helpers.hard_rows import hard_rows
from tests.helpers.random_forests import forest_with_covers
from tests.oracles.naive_shap import shapley, value_of

SMALL = {"n_jobs": 1, "verbose": False, "early_stopping_rounds": None, "n_estimators": 10}
MODELS = {
    "lightgbm": {"num_leaves": 15, "min_child_samples": 5},
    "lightgbm-deep": {"num_leaves": 200, "min_child_samples": 1, "n_estimators": 3},
    "lightgbm-categorical": {"categorical_feature": [4], "min_data_per_group": 5, "cat_smooth": 1},
    "lightgbm-dart": {"boosting": "dart", "drop_rate": 0.5},
    "xgboost": {"engine": "xgboost"},
    "xgboost-dart": {"engine": "xgboost", "booster": "dart", "rate_drop": 0.5},
    "xgboost-categorical": {"engine": "xgboost", "categorical_feature": [4]},
    "catboost": {"engine": "catboost", "objective": "queryrmse", "max_depth": 5},
}


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6))
    X[:, 4] = rng.integers(0, 9, 600)
    X[rng.random(600) < 0.3, 1] = np.nan
    own = X[:, 0] * X[:, 2] + np.nan_to_num(X[:, 1], nan=1.0) + X[:, 4] % 3
    return rw.RankingData(X, np.digitize(own, [0.0, 1.5, 3.0]), group=[20] * 30)


@pytest.fixture(scope="module")
def rankers(train):
    return {name: rw.Ranker(**{**SMALL, **given}).fit(train) for name, given in MODELS.items()}


def documents(rng, rows=3):
    X = np.round(rng.normal(size=(rows, 4)), 1)
    X[0, 1] = np.nan
    X[1] = [0.0, 2.0, 1.7, -0.5]  # categories, with decimals and below 0
    return X


@pytest.mark.parametrize("kind", ["plain", "nobody was there", "categories", "long paths"])
def test_values_are_those_of_the_definition(kind, rng):
    options = {
        "nobody was there": {"empty": 0.4},
        "categories": {"categories": True},
        "long paths": {"leaves": 40, "trees": 1},
    }.get(kind, {})
    for _ in range(6):
        forest = forest_with_covers(rng, **{"leaves": 9, **options})
        X, shap = documents(rng), TreeShap(forest)
        expected = np.array([shapley(forest, x) for x in X])
        np.testing.assert_allclose(shap.values(X, 1), expected, rtol=0, atol=1e-12)
        assert shap.base == pytest.approx(value_of(forest, X[0], set()), abs=1e-12)


def test_many_features_on_a_path_need_many_points(rng):
    """A tree that is one long path, on 20 features: more than one vector of points."""
    n, rows = 20, 5
    numbers = np.arange(n - 1)
    left = np.append(~numbers, ~np.array([n - 1]))
    forest = rw.Forest(
        engine="lightgbm",
        feature=np.arange(n),
        threshold=np.zeros(n),
        missing_left=np.ones(n, bool),
        left=left,
        right=np.append(numbers + 1, ~n),
        leaf_value=rng.normal(size=n + 1),
        first_node=[0, n],
        first_leaf=[0, n + 1],
        cover=np.arange(n + 1, 1, -1),
        leaf_cover=np.ones(n + 1),
        gain=np.zeros(n),
        category_first=np.zeros(n + 1, int),
        category=[],
        categorical=np.zeros(n, bool),
        base=0.0,
        float32_input=False,
        float32_sum=False,
        n_features=n,
    )
    X, shap = rng.normal(size=(rows, n)), TreeShap(forest)
    values = shap.values(X, 1)
    np.testing.assert_allclose(values.sum(1) + shap.base, forest.predict(X), rtol=0, atol=1e-12)
    # The Shapley value of the root by integrating over t in many steps, in place of a few points.
    share = (n - np.arange(n)) / (n + 1 - np.arange(n))  # of those that go right, by node
    t = (np.arange(200_000) + 0.5) / 200_000
    for x, own in zip(X, values, strict=True):
        right = (x > 0).astype(float)
        total, before = 0.0, np.ones_like(t)
        for leaf in range(n + 1):
            if leaf < n:
                z, o = 1 - share[leaf], 1 - right[leaf]
                at = before if leaf == 0 else before * (t * o + (1 - t) * z)
            else:
                at = before
            root = (1 - right[0]) - (1 - share[0]) if leaf == 0 else right[0] - share[0]
            total += forest.leaf_value[leaf] * root * at.mean()
            if 0 < leaf < n:
                before = before * (t * right[leaf] + (1 - t) * share[leaf])
        assert own[0] == pytest.approx(total, abs=1e-8)


def own_values(name, ranker, X):
    """Return the engine's own SHAP values, with the base as the last column, and their precision."""
    booster = ranker.model_.booster
    if name.startswith("lightgbm"):
        return booster.predict(X, pred_contrib=True), 1e-11
    if name.startswith("xgboost"):
        import xgboost

        kinds = ["c" if "categorical" in name and i == 4 else "q" for i in range(X.shape[1])]
        matrix = xgboost.DMatrix(X, feature_types=kinds, enable_categorical=True)
        return booster.predict(matrix, pred_contribs=True), 5e-6
    import catboost

    return booster.get_feature_importance(catboost.Pool(X), type="ShapValues"), 1e-9


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_the_engine(name, rankers, train):
    ranker, X = rankers[name], train.X[:100]
    found = ranker.explain(X)
    expected, precision = own_values(name, ranker, X)
    np.testing.assert_allclose(found.values, expected[:, :-1], rtol=0, atol=precision)
    np.testing.assert_allclose(found.base, expected[:, -1], rtol=0, atol=precision)


@pytest.mark.parametrize("name", MODELS)
def test_values_add_up_to_the_score_on_hard_rows(name, rankers, train):
    ranker = rankers[name]
    X = hard_rows(ranker.forest(), train.X, splits=20)
    found = ranker.explain(X)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, found.scores, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.scores + found.rounding, ranker.predict(X))
    # Beside float32 sums, which only XGBoost has, nothing is rounded away.
    assert np.abs(found.rounding).max() < (1e-5 if name.startswith("xgboost") else 1e-12)


def test_threads_and_interpreting_change_nothing(rankers, train):
    ranker = rankers["lightgbm"]
    values = [TreeShap(ranker.forest()).values(train.X, jobs) for jobs in (1, 2, 5)]
    assert all((one == values[0]).all() for one in values)
    with interpreted():
        plain = TreeShap(ranker.forest()).values(train.X[:3], 1)
    np.testing.assert_allclose(plain, values[0][:3], rtol=0, atol=1e-13)


def test_trees_without_a_split(train):
    found = rw.Ranker(**SMALL, engine="xgboost", gamma=1e9).fit(train).explain(train)
    assert not found.values.any() and (found.scores == found.base).all()


def test_levels_of_symmetric_trees_can_be_turned_round(rankers, train):
    forest = rankers["catboost"].forest()
    turned = last_split_first(forest)
    assert (turned.predict(train.X) == forest.predict(train.X)).all()
    assert (turned.leaf(train.X) != forest.leaf(train.X)).any()
    again = last_split_first(turned)
    for name in ("feature", "threshold", "missing_left", "leaf_value", "leaf_cover", "cover"):
        np.testing.assert_allclose(getattr(again, name), getattr(forest, name), rtol=1e-12)
