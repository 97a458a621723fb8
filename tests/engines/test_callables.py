"""Objectives in the training loops of LightGBM and XGBoost themselves."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

import rankwood as rw

ROUNDS = 5


@pytest.fixture(scope="module")
def data():
    return rw.make_ranking(25, seed=4)


def of_lightgbm(train, spec, **more):
    params = {
        **{"objective": rw.engine_objective(spec, n_jobs=1), "num_leaves": 7, "verbosity": -1},
        **{"learning_rate": 0.05, "num_threads": 1, "seed": 0, "min_data_in_leaf": 20},
    }
    matrix = lgb.Dataset(train.X, train.y, group=train.groups.sizes, **more)
    return lgb.train(params, matrix, num_boost_round=ROUNDS).predict(train.X)


def of_xgboost(train, spec, **more):
    params = {
        **{"max_leaves": 7, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"},
        **{"learning_rate": 0.05, "min_child_weight": 1e-3, "reg_lambda": 0.0, "base_score": 0.0},
        **{"nthread": 1, "disable_default_eval_metric": True},
    }
    matrix = xgb.QuantileDMatrix(train.X, train.y, qid=train.qid, max_bin=256, **more)
    booster = xgb.train(params, matrix, ROUNDS, obj=rw.engine_objective(spec, n_jobs=1))
    return booster.predict(matrix, output_margin=True)


@pytest.mark.parametrize("spec", ["lambdaloss-ndcg++@10", "yetirank", "softmax"])
@pytest.mark.parametrize(("engine", "theirs"), [("lightgbm", of_lightgbm), ("xgboost", of_xgboost)])
def test_their_loop_grows_our_trees(engine, theirs, spec, data):
    own = {"extra_trees": False} if engine == "lightgbm" else {}
    ranker = rw.Ranker(spec, engine, n_estimators=ROUNDS, num_leaves=7, n_jobs=1, **own).fit(data)
    found = theirs(data, spec)
    assert np.ptp(found) > 0
    assert np.array_equal(ranker.predict(data), found)


def test_weights_of_queries_and_documents(data):
    by_query = np.linspace(0.5, 2, data.groups.ids.size)
    scores = np.linspace(-1, 1, len(data))
    # XGBoost's bins depend on weights too, so that trees can't be compared: only gradients.
    plain, weighted = (
        rw.engine_objective("softmax", n_jobs=1)(
            scores, xgb.DMatrix(data.X, data.y, qid=data.qid, weight=weight)
        )
        for weight in (None, by_query)
    )
    for before, after in zip(plain, weighted, strict=True):
        np.testing.assert_allclose(
            after, before * np.repeat(by_query, data.groups.sizes), rtol=0, atol=1e-6
        )
    by_row = np.repeat(by_query, data.groups.sizes)
    once = rw.RankingData(data.X, data.y, qid=data.qid, sample_weight=by_row)
    params = {"n_estimators": ROUNDS, "num_leaves": 7, "n_jobs": 1, "extra_trees": False}
    for spec in ("softmax", "lambdarank-ndcg@10"):
        trees = rw.Ranker(spec, **params).fit(once)
        assert np.array_equal(trees.predict(data), of_lightgbm(data, spec, weight=by_row))


def test_another_run_begins_with_other_data_and_after_a_copy(data):
    objective = rw.engine_objective("yetirank", n_jobs=1)
    scores = np.zeros(len(data))
    sets = [xgb.DMatrix(data.X, data.y, qid=data.qid) for _ in range(2)]
    first, second = objective(scores, sets[0]), objective(scores, sets[0])
    assert not np.array_equal(first[0], second[0])  # another round, other draws
    copy = pickle.loads(pickle.dumps(objective))
    for again in (objective(scores, sets[1]), copy(scores, sets[1])):
        assert np.array_equal(first[0], again[0])
    # Folds take turns: each data set has rounds of its own.
    assert np.array_equal(second[0], objective(scores, sets[1])[0])
    assert "Yeti" in repr(objective) or "Lambda" in repr(objective)


def test_what_is_refused(data):
    theirs = lgb.LGBMRanker(objective=rw.engine_objective("softmax"), n_estimators=1, verbose=-1)
    with pytest.raises(
        rw.InputError, match="the scikit-learn classes of these libraries pass arrays"
    ):
        theirs.fit(data.X, data.y, group=data.groups.sizes)
    with pytest.raises(rw.InputError, match="of pairs"):
        rw.engine_objective("bi-ranknet")
    with pytest.raises(rw.InputError, match="did you mean"):
        rw.engine_objective("lambdarank-ndcgg")
    for matrix in (xgb.DMatrix(data.X, data.y), lgb.Dataset(data.X, data.y).construct()):
        with pytest.raises(rw.InputError, match="no queries: give"):
            rw.engine_objective("softmax")(np.zeros(len(data)), matrix)
