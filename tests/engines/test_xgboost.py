"""Our gradients inside XGBoost give what XGBoost's own objectives give, and its trees are kept as they are."""

import numpy as np
import pytest
import xgboost as xgb

import rankwood as rw
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists

LEAVES = {"tree_method": "hist", "max_depth": 3, "learning_rate": 1.0, "reg_lambda": 0.0}


def small(**params):
    given = {"n_estimators": 12, "num_leaves": 7, "n_jobs": 1, "engine": "xgboost", **params}
    return rw.Ranker(**given)


@pytest.fixture
def data(lists):
    X, y, sizes = lists
    return rw.RankingData(X, y, group=sizes)


def native_leaves(objective, X, y, qid, scores, **params):
    """Grow one tree with an objective of XGBoost's own: the leaf of each document, and its value."""
    matrix = xgb.DMatrix(X, y, qid=qid, base_margin=scores)
    own = {"objective": objective, "base_score": 0.0, "min_child_weight": 0.0, "nthread": 1}
    booster = xgb.train({**LEAVES, **own, "lambdarank_pair_method": "topk", **params}, matrix, 1)
    leaf = booster.predict(matrix, pred_leaf=True).astype(int).ravel()
    return leaf, booster.predict(matrix, output_margin=True) - scores


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("k", [3, 32])
@pytest.mark.parametrize("name", ["ndcg", "map"])
def test_one_tree_has_the_leaves_of_the_native_objective(rng, name, k, norm, flat):
    X, y, sizes = random_lists(rng, queries=25, longest=20)
    qid = np.repeat(np.arange(sizes.size), sizes)
    scores = np.zeros(y.size) if flat else rng.normal(size=y.size)
    scores = scores.astype(np.float32)
    objective = f"lambdarank-ndcg@{k}(norm={norm}, hessian=2.0)"
    if name == "map":
        y = (y >= 2).astype(float)
        objective = f"lambdarank-map(truncation={k}, norm={norm}, hessian=2.0)"
    norms = {"lambdarank_normalization": norm, "lambdarank_score_normalization": norm}
    leaf, theirs = native_leaves(
        f"rank:{name}", X, y, qid, scores, lambdarank_num_pair_per_sample=k, **norms
    )
    with interpreted():
        grad, hess = rw.gradients(objective, y, scores, qid=qid)
    sums, curvature = np.bincount(leaf, grad), np.bincount(leaf, hess)
    assert np.unique(leaf).size > 3
    ours = -sums[leaf] / curvature[leaf]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("method", "policy", "depth"),
    [
        ("hist", "lossguide", 0),
        ("exact", "depthwise", 3),
    ],  # approx bins by Hessians, to the last bit
)
def test_training_is_the_native_training(rng, method, policy, depth):
    X, y, sizes = random_lists(rng, queries=60)
    X = X.astype(np.float32)
    trees = {"tree_method": method, "grow_policy": policy, "max_depth": depth}
    same = {"n_estimators": 10, "learning_rate": 0.1, "shuffle": False}
    ranker = small(objective="lambdarank-ndcg@10(hessian=2.0)", **same, **trees)
    ours = ranker.fit(X, y, group=sizes).predict(X)
    params = {
        **{"objective": "rank:ndcg", "lambdarank_pair_method": "topk", "base_score": 0.0},
        **{"lambdarank_num_pair_per_sample": 10, "learning_rate": 0.1, "max_leaves": 7},
        **{"min_child_weight": 1e-3, "reg_lambda": 0.0, **trees},
    }
    matrix = (xgb.QuantileDMatrix if method == "hist" else xgb.DMatrix)(X, y, group=sizes)
    theirs = xgb.train({**params, "nthread": 1}, matrix, 10).predict(matrix, output_margin=True)
    assert np.ptp(theirs) > 0.3
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_best_round_is_kept_to_the_bit(rng, tmp_path):
    X, y, sizes = random_lists(rng, queries=30)
    Xv, yv, sv = random_lists(rng, queries=30)
    valid = rw.RankingData(Xv, yv, group=sv)
    ranker = small(n_estimators=200, learning_rate=0.5, early_stopping_rounds=5)
    ranker.fit(X, y, group=sizes, valid=valid)
    curve = ranker.history_["ndcg@10"]
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 == len(curve) - 5 < 195
    assert ranker.score(valid) == max(curve)
    assert ranker.model_.loaded().num_boosted_rounds() == ranker.best_iteration_
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.predict(valid).tobytes() == ranker.predict(valid).tobytes()
    assert again.engine == "xgboost"


def test_parameters_mean_what_they_say(data):
    model = small(num_leaves=5, random_state=3, n_estimators=3, gamma=0.01).fit(data).model_
    for tree in model.loaded().get_dump():
        assert tree.count("leaf=") <= 5
    deep = small(num_leaves=64, max_depth=2, n_estimators=2).fit(data).model_.loaded()
    assert all(tree.count("leaf=") <= 4 for tree in deep.get_dump())
    plain = small().fit(data).predict(data)
    changes = {"reg_lambda": 5.0, "reg_alpha": 0.5, "subsample": 0.5, "colsample_bytree": 0.4}
    for name, value in {**changes, "min_child_weight": 5.0, "max_bin": 4, "eta": 0.3}.items():
        assert not np.array_equal(small(**{name: value}).fit(data).predict(data), plain), name


def test_nothing_to_split_ends_training(data):
    flat = small(n_estimators=50).fit(np.ones((len(data), 2)), data.y, qid=data.qid)
    assert flat.best_iteration_ == 1
    assert np.unique(flat.predict(np.ones((3, 2)))).size == 1


def test_dart_can_not_keep_the_best_round(data):
    dart = {"booster": "dart", "rate_drop": 0.3}
    ranker = small(**dart, early_stopping_rounds=None).fit(data, valid=data)
    assert rw.evaluate("ndcg@10", data, ranker.predict(data)).mean()["ndcg@10"] == pytest.approx(
        ranker.history_["ndcg@10"][-1]
    )
    with pytest.raises(rw.InputError, match="set early_stopping_rounds=None"):
        small(**dart).fit(data, valid=data)


def test_other_tree_methods(data):
    for method, depth in (("approx", -1), ("exact", 3)):
        ranker = small(tree_method=method, max_depth=depth, grow_policy="depthwise")
        ranker.fit(data, valid=data)
        # The validation data is in matrices of another kind, and its scores are those of the model.
        assert ranker.score(data) == pytest.approx(max(ranker.history_["ndcg@10"]), abs=1e-9)
        usual = small(max_depth=depth, grow_policy="depthwise").fit(data)
        assert ranker.score(data) > usual.score(data) - 0.02
        assert not np.array_equal(ranker.predict(data), usual.predict(data))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"learning_rat": 0.1},
            "nor XGBoost has a parameter 'learning_rat'; did you mean 'learning_rate'",
        ),
        ({"num_boost_round": 5}, "num_boost_round is set by Ranker itself: use n_estimators="),
        (
            {"iterations": 5},
            "nor XGBoost has a parameter 'iterations'; did you mean 'n_estimators'",
        ),
        ({"seed": 5}, "seed is set by Ranker itself: use random_state="),
        ({"scale_pos_weight": 5}, "scale_pos_weight means nothing to a ranker"),
        ({"min_child_samples": 5}, "XGBoost has no min_child_samples: .* min_child_weight"),
        (
            {"lambdarank_normalization": True},
            r"belongs to XGBoost's own objective, .*10\(norm=...\)",
        ),
        ({"rate_drop": 0.1}, "rate_drop needs booster='dart'"),
        ({"booster": "gblinear"}, "booster must be 'gbtree' or 'dart', got 'gblinear'"),
        ({"max_bin": 1}, "XGBoost can't train: value 1 for Parameter max_bin"),
        ({"grow_policy": "up"}, "XGBoost can't train: Invalid Input: 'up'"),
        (
            {"categorical_feature": [8]},
            "categorical_feature must be below 8, the number of features, got 8",
        ),
    ],
)
def test_bad_parameters_get_one_plain_sentence(data, params, message):
    with pytest.raises(rw.InputError, match=message) as error:
        small(**params).fit(data)
    assert "\n" not in str(error.value)


def test_bad_features_get_one_plain_sentence(lists):
    X, y, sizes = lists
    X = X.copy()
    X[3, 2] = np.inf
    with pytest.raises(rw.InputError, match="a feature is infinite or beyond float32"):
        small().fit(X, y, group=sizes)
    X[:, 2] = np.where(y > 1, 3.0, -1)
    with pytest.raises(rw.InputError, match="it takes categories as whole numbers from 0"):
        small(categorical_feature=2).fit(X, y, group=sizes)
