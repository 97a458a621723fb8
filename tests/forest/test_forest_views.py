"""What a forest refuses to hold, and how it shows itself: a table, a picture, names."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import rankwood as rw
from rankwood.forest.convert import from_lightgbm
from rankwood.forest.tree_picture import tree_boxes
from tests.helpers.forest_models import SMALL, data, features
from tests.helpers.random_forests import random_forest
from tests.oracles.naive_forest import walk

REFUSED = {
    "linear": ({"linear_tree": True, "extra_trees": False}, "linear functions into leaves"),
    "zero": ({"zero_as_missing": True}, "sends 0 where missing values go"),
    "categories": (
        {"engine": "catboost", "objective": "queryrmse", "categorical_feature": [5]},
        "categorical features into numbers",
    ),
    "growing": (
        {"engine": "catboost", "objective": "queryrmse", "grow_policy": "Depthwise"},
        "symmetric trees only",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_forest_can_not_hold(name):
    given, message = REFUSED[name]
    ranker = rw.Ranker(**{**SMALL, "n_estimators": 3, **given}).fit(data())
    with pytest.raises(rw.InputError, match=message):
        ranker.forest()
    # The scorer leaves these to the engine.
    scorer, X = ranker.scorer(), features(40, 1)
    assert not scorer.is_fast
    assert np.array_equal(scorer(X), ranker.model_.predict(X, n_jobs=1))


def test_a_mean_of_trees():
    text = rw.Ranker(**{**SMALL, "n_estimators": 1}).fit(data()).model_.text
    with pytest.raises(rw.InputError, match="mean of its trees"):
        from_lightgbm.to_forest(text.replace("\nversion=", "\naverage_output\nversion="), None)


def test_models_without_trees_on_documents():
    small = rw.Ranker(**{**SMALL, "n_estimators": 2})
    stages = rw.TwoStage(small, small, top=5, folds=1, listwise=False).fit(data())
    for name in ("forest", "scorer"):
        with pytest.raises(rw.InputError, match=rf"use first_\[0\].{name}"):
            getattr(stages, name)()
    pairs = stages.second_
    result = pairs.result_
    pairs.result_ = replace(result, model=SimpleNamespace(needs_groups=True, text=""))
    for call in (pairs.forest, pairs.scorer):
        with pytest.raises(rw.InputError, match="model of pairs"):
            call()
    pairs.result_ = replace(result, model=SimpleNamespace(needs_groups=False))
    for call in (pairs.forest, pairs.scorer):
        with pytest.raises(rw.InputError, match="has no trees"):
            call()


def test_langevin_on_catboost_that_is_truncated_keeps_its_bits():
    train = data()
    given = {"n_jobs": 1, "verbose": False, "n_estimators": 30, "early_stopping_rounds": 2}
    ranker = rw.Ranker("queryrmse", "catboost", learning_rate=0.9, langevin=True, **given)
    ranker.fit(train, valid=rw.RankingData(features(100, 7), np.arange(100) % 3, group=[20] * 5))
    assert ranker.booster_.get_scale_and_bias()[0] != 1.0
    X = features(60, 8)
    forest = ranker.forest()
    assert np.allclose(forest.predict(X), ranker.predict(X), rtol=1e-12)
    assert np.array_equal(ranker.scorer()(X), ranker.predict(X))


def test_the_table_has_the_trees():
    forest = random_forest(np.random.default_rng(9), "lightgbm", 4, 9, 3, np.arange(5.0))
    frame = forest.to_frame()
    assert len(frame) == forest.feature.size + forest.leaf_value.size
    for row in np.random.default_rng(1).normal(2, 2, (20, 3)):
        for t, leaf in enumerate(walk(forest, row)):
            own = frame[frame.tree == t]
            nodes, leaves = own[~own.leaf].set_index("node"), own[own.leaf].set_index("node")
            at = 0 if len(nodes) else -1
            while at >= 0:
                node = nodes.loc[at]
                at = int(
                    node.left if row[int(node.feature[1:]) - 1] <= node.threshold else node.right
                )
            assert ~at == leaf
            assert leaves.loc[leaf].value == forest.leaf_value[forest.first_leaf[t] + leaf]


def test_names_are_those_of_the_table():
    import pandas as pd

    names = [f"column {i}" for i in range(10)]
    table = pd.DataFrame(features(), columns=names)
    ranker = rw.Ranker(**SMALL).fit(table, data().y, group=[20] * 30)
    forest = ranker.forest()
    assert forest.feature_names == forest.names == tuple(names)
    other = table[names[::-1]]
    assert np.array_equal(forest.predict(other), ranker.predict(table))
    with pytest.raises(rw.InputError, match="has no column 'column 3'"):
        forest.leaf(table.drop(columns="column 3"))
    with pytest.raises(rw.InputError, match="X has 4 features, but the forest has 10"):
        forest.predict(features()[:, :4])


def test_pictures():
    matplotlib.use("Agg")
    forest = random_forest(np.random.default_rng(9), "lightgbm", 4, 9, 3, np.arange(5.0))
    sizes = np.diff(forest.first_node) * 2 + 1
    for t in range(4):
        axes = forest.plot_tree(t, depth=None)
        assert len(axes.texts) == len(tree_boxes(forest, t, None)) == sizes[t]
        matplotlib.pyplot.close(axes.figure)
    deepest = int(np.argmax(sizes))
    assert max(box.level for box in tree_boxes(forest, deepest, 2)) == 2
    for tree, message in ((4, "tree must be below 4"), (-1, "tree must be at least 0")):
        with pytest.raises(rw.InputError, match=message):
            forest.plot_tree(tree)
    with pytest.raises(rw.InputError, match="depth must be at least 1"):
        forest.plot_tree(0, depth=0)
