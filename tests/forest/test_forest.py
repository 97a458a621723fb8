"""A forest has the engine's own leaves and bits, on rows that are made to find one wrong comparison."""

import json

import numpy as np
import pytest
import xgboost as xgb

from tests.helpers.forest_models import MODELS, features, fitted
from tests.helpers.hard_rows import hard_rows
from tests.helpers.optional import LazyPackage

cb = LazyPackage("catboost")


@pytest.fixture(scope="module")
def rankers():
    return fitted()


def engine_leaves(ranker, X):
    """The leaves that the engine itself names, counted as a forest counts them."""
    if ranker.engine_ == "lightgbm":
        return ranker.model_.booster.predict(X, pred_leaf=True, num_threads=1).reshape(len(X), -1)
    if ranker.engine_ == "catboost":
        return ranker.model_.booster.calc_leaf_indexes(cb.Pool(X))
    kinds = [
        "c" if i in ranker.engine_params.get("categorical_feature", ()) else "q"
        for i in range(X.shape[1])
    ]
    matrix = xgb.DMatrix(
        np.where(np.isinf(X), np.nan, X), feature_types=kinds, enable_categorical=True
    )
    nodes = ranker.model_.booster.predict(matrix, pred_leaf=True).astype(int).reshape(len(X), -1)
    booster = json.loads(ranker.model_.text)["learner"]["gradient_booster"]
    trees = booster.get("gbtree", booster)["model"]["trees"]
    out = np.empty_like(nodes)
    for t, tree in enumerate(trees):
        deleted = 2**31 - 1
        kept = [
            i
            for i, f in enumerate(tree["split_indices"])
            if tree["left_children"][i] < 0 and f != deleted
        ]
        out[:, t] = [kept.index(node) for node in nodes[:, t]]
    return out


@pytest.mark.parametrize("name", MODELS)
def test_leaves_and_bits_are_the_engines(rankers, name):
    ranker = rankers[name]
    forest = ranker.forest()
    X = np.concatenate([features(100, 1), hard_rows(forest, features(), 60)])
    assert np.array_equal(forest.predict(X), ranker.model_.predict(X, n_jobs=1))
    if ranker.engine_ == "xgboost":  # its own matrices, which tell leaves, take no infinities
        X = X[(np.abs(np.nan_to_num(X, nan=0.0)) <= np.finfo(np.float32).max).all(1)]
    assert np.array_equal(forest.leaf(X), engine_leaves(ranker, X))
    assert len(forest) == forest.n_trees == ranker.best_iteration_


def test_what_the_models_are_for_is_in_them(rankers):
    forests = {name: ranker.forest() for name, ranker in rankers.items()}
    assert np.diff(forests["lightgbm-large"].first_leaf).max() > 64
    assert np.diff(forests["lightgbm-stumps"].first_leaf).max() == 2
    for name in ("lightgbm-categorical", "xgboost-categorical"):
        assert forests[name].categorical.any() and not forests[name].categorical.all(), name
    assert not forests["catboost-max"].missing_left.all()
    assert forests["catboost"].missing_left.all()
    kinds = [
        int(w)
        for line in rankers["lightgbm"].model_.text.split("\n")
        if line.startswith("decision_type=")
        for w in line[14:].split()
    ]
    assert {kind >> 2 for kind in kinds} == {0, 2}  # features without missing values, and with some
    assert (np.abs(forests["lightgbm"].threshold) < 1e-34).any()
