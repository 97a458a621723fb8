"""Objectives of pairs, `bi-...`: training and predicting, whatever the order of the documents."""

import numpy as np
import pytest
from sklearn.base import clone

import rankwood as rw
from rankwood import InputError
from rankwood.cli.training.options import tree_parameter
from rankwood.engines.pair_lists import columns_of
from tests.helpers.random_lists import random_lists

SMALL = {"n_estimators": 8, "num_leaves": 7, "learning_rate": 0.3, "min_child_samples": 5}


def ranker(engine="pairtree", objective="bi-ranknet", **params):
    return rw.Ranker(objective, engine=engine, **{**SMALL, **params})


@pytest.fixture
def data(rng):
    X, y, sizes = random_lists(rng, queries=30, longest=12, features=4, grades=3)
    X[rng.random(X.shape) < 0.05] = np.nan
    order = rng.permutation(y.size)
    qid = np.repeat(np.arange(sizes.size), sizes)
    return rw.RankingData(X[order], y[order], qid=qid[order])


def test_trains_predicts_saves_and_loads(data, tmp_path):
    fitted = ranker(early_stopping_rounds=None).fit(data, valid=data)
    scores = fitted.predict(data)
    reached = rw.evaluate("ndcg@10", data, scores).mean()["ndcg@10"]
    # What training saw of the last round is what the model predicts.
    assert fitted.history_["ndcg@10"][-1] == pytest.approx(reached, abs=1e-12)
    assert reached > rw.evaluate("ndcg@10", data, np.zeros(scores.size)).mean()["ndcg@10"] + 0.1
    fitted.save(tmp_path / "m.json")
    loaded = rw.Ranker.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(data), scores)
    assert loaded.objective_ == rw.objective("bi-ranknet")
    qid = data.groups.per_row(data.groups.ids)
    np.testing.assert_array_equal(fitted.predict(data.X, qid=qid), scores)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert clone(fitted).get_params() == fitted.get_params()


def test_scores_are_bit_identical_in_any_order_of_documents(data, rng):
    fitted = ranker().fit(data)
    qid = data.groups.per_row(data.groups.ids)
    scores, order = fitted.predict(data), rng.permutation(qid.size)
    np.testing.assert_array_equal(fitted.predict(data.X[order], qid=qid[order]), scores[order])
    # A document alone has no one to be compared with.
    assert fitted.predict(data.X[:1], qid=["a"]).tolist() == [0.0]


def test_seeds_threads_and_samples(data):
    def trees(**params):
        shared = {"subsample": 0.5, "colsample_bytree": 0.5}
        return ranker(**{**shared, **params}).fit(data).model_.text

    assert trees(n_jobs=1) == trees(n_jobs=2)
    assert trees(random_state=1) != trees(random_state=0)
    assert trees(subsample=1.0) != trees()


def test_differences_are_an_option(data):
    none = ranker(differences="none").fit(data).predict(data)
    base = ranker(differences="base").fit(data).predict(data)
    some = ranker(differences=[0, 1]).fit(data).predict(data)
    assert np.any(none != base) and np.any(some != base)
    names = ["a", "b", "a:mean", "a:sd", "a:rank", "a:z"]
    assert columns_of("base", names, 6) == [0, 1]
    assert columns_of("all", names, 6) == columns_of("base", None, 6) == list(range(6))
    assert columns_of("none", names, 6) == []
    assert columns_of(["b", 4], names, 6) == columns_of(np.array([4, 1]), names, 6) == [1, 4]
    assert columns_of("base", [*names, "extra"], 7) == [0, 1, 6]
    # On the command line it is a word too, not the absence of one.
    assert tree_parameter("differences=none") == ("differences", "none")
    assert tree_parameter("max_bin=none") == ("max_bin", None)


@pytest.mark.parametrize("wanted", [None, 0, True, b"base", np.array(1)])
def test_differences_are_a_word_or_a_list(wanted, data):
    with pytest.raises(InputError, match="differences must be 'base', 'all', 'none' or a list"):
        ranker(differences=wanted).fit(data)


def test_samples_without_a_split_are_not_the_end(data):
    def trees(data, **params):
        params = {"n_estimators": 12, "min_child_samples": 30, **params}
        return ranker(**params).fit(data).model_._forest.trees

    # Six more features, of too few values other than 0 for a split.
    poor = np.hstack([data.X, np.arange(data.y.size)[:, None] == np.arange(6)])
    poor = rw.RankingData(poor, data.y, qid=data.qid)
    for sample, lists in (({"subsample": 0.05}, data), ({"colsample_bytree": 0.05}, poor)):
        sizes = [tree.value.size for tree in trees(lists, **sample)]
        assert len(sizes) == 12 and min(sizes[:-1]) == 1 < max(sizes), sample
    # Without a sample there is nothing left to wait for.
    assert len(trees(data, min_child_samples=10_000)) == 1
    # Queries of one document have no pairs to draw.
    qid = np.where(np.arange(data.y.size) < 6, 0, np.arange(data.y.size))
    lonely = rw.RankingData(data.X, data.y, qid=qid)
    assert {int(t.leaf_count.sum()) for t in trees(lonely, subsample=0.01)} == {30}


def test_early_stopping_keeps_the_best_round(data):
    fitted = ranker(n_estimators=40, early_stopping_rounds=3).fit(data, valid=data)
    curve = fitted.history_["ndcg@10"]
    assert fitted.best_iteration_ == 1 + int(np.argmax(curve))
    reached = rw.evaluate("ndcg@10", data, fitted.predict(data)).mean()["ndcg@10"]
    assert reached == pytest.approx(max(curve), abs=1e-12)


@pytest.mark.parametrize(
    ("engine", "objective", "params", "text"),
    [
        ("pairtree", "ranknet", {}, "trains objectives of pairs only: write bi- before"),
        ("xgboost", "bi-ranknet", {}, "can't train objectives of pairs .* engine='pairtree'"),
        ("catboost", "bi-ranknet", {}, "can't train objectives of pairs"),
        ("lightgbm", "bi-ranknet", {}, "can't train objectives of pairs .* engine='pairtree'"),
        ("lightgbm", "ranknet", {"differences": "all"}, "they go with an objective bi-"),
        ("pairtree", "bi-ranknet", {"differences": "some"}, "differences must be one of 'base'"),
        ("pairtree", "bi-ranknet", {"differences": [9]}, "differences must be below 4"),
        ("pairtree", "bi-ranknet", {"num_leafs": 3}, "did you mean 'num_leaves'"),
        ("pairtree", "bi-ranknet", {"lambda_l1": 3}, "did you mean 'reg_alpha'"),
        ("pairtree", "bi-ranknet", {"min_split_gain": -1}, "^min_split_gain must be at least 0"),
        ("pairtree", "bi-ranknet", {"record": ["coherency"]}, "has no 'coherency'"),
    ],
)
def test_what_cannot_be_says_so(engine, objective, params, text, data):
    with pytest.raises(InputError, match=text):
        ranker(engine, objective, **params).fit(data)


def test_lists_are_needed(data):
    fitted = ranker().fit(data)
    with pytest.raises(InputError, match="give predict a RankingData, qid= or group="):
        fitted.predict(data.X)
    singles = rw.RankingData(data.X, data.y, qid=np.arange(data.y.size))
    with pytest.raises(InputError, match="no query has two documents"):
        ranker().fit(singles)


def test_validation_lists_may_have_one_document_each(data):
    singles = rw.RankingData(data.X, data.y, qid=np.arange(data.y.size))
    fitted = ranker().fit(data, valid=singles)
    worth = rw.evaluate("ndcg@10", singles, np.zeros(data.y.size)).mean()["ndcg@10"]
    assert fitted.history_["ndcg@10"] == [worth] * SMALL["n_estimators"]


def test_huge_and_infinite_values(data):
    X = data.X.copy()
    X[::5, 0], X[1::5, 0], X[::7, 1], X[::9, 2] = 1e300, -1e300, np.inf, -np.inf
    huge = rw.RankingData(X, data.y, qid=data.qid)  # warnings would be errors
    for train, new in ((huge, huge), (data, huge), (huge, data)):
        scores = ranker().fit(train).predict(new)
        assert np.isfinite(scores).all() and np.unique(scores).size > 50


def test_pairtree_is_the_default_engine_of_pairs(data, tmp_path):
    usual = rw.Ranker("bi-ranknet", **SMALL)
    assert (usual.engine, usual.engine_) == (None, "pairtree")
    assert rw.Ranker("ranknet").engine_ == rw.Ranker().engine_ == "lightgbm"
    assert usual.fit(data).model_.text == ranker().fit(data).model_.text
    usual.save(tmp_path / "m.json")
    loaded = rw.Ranker.load(tmp_path / "m.json")
    assert loaded.get_params() == usual.get_params() and loaded.engine_ == "pairtree"
    # The objective decides when it is needed, not when the ranker is made.
    assert clone(usual).set_params(objective="ranknet").engine_ == "lightgbm"


def test_bi_names_print_and_read_back():
    objective = rw.objective("bi-lambdarank-ndcg@5", norm=False)
    assert objective.base == rw.objective("lambdarank-ndcg@5(norm=False)")
    assert rw.objective(repr(objective)) == objective
    with pytest.raises(InputError, match="unknown objective 'lambdarank-ndgc'"):
        rw.objective("bi-lambdarank-ndgc")
