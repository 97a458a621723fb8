"""The scorer: the engine's bits, on hard rows, on random forests, for every number of documents and on threads."""

import gc
import pickle
import threading
import weakref
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import rankwood as rw
from forest_models import MODELS, SMALL, data, features, fitted
from hard_rows import hard_rows
from naive_forest import random_forest, score, walk
from rankwood.forest import EarlyExit, walking
from rankwood.forest.early_exit import ExitingForest
from rankwood.forest.fast import prepared
from rankwood.testing import interpreted
from rankwood.training import scoring

ENGINES = ("lightgbm", "xgboost", "catboost")


@pytest.fixture(scope="module")
def rankers():
    return fitted()


@pytest.mark.parametrize("name", MODELS)
def test_bits_are_those_of_the_engine(rankers, name):
    ranker = rankers[name]
    forest = ranker.forest()
    X = np.concatenate([features(100, 1), hard_rows(forest, features(), 60)])
    scorer = ranker.scorer()
    assert scorer.is_fast == ("categorical" not in name)
    assert np.array_equal(scorer(X), ranker.model_.predict(X, n_jobs=1))
    assert np.array_equal(scorer.score(X[:1]), ranker.model_.predict(X[:1], n_jobs=1))
    few = features(33, 2).astype(np.float32)
    assert np.array_equal(scorer(few), ranker.model_.predict(few, n_jobs=1))
    # Sparse matrices are the engine's own business.
    some = sparse.csr_matrix(np.nan_to_num(few))
    assert np.array_equal(scorer(some), ranker.model_.predict(some, n_jobs=1))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_forests_against_a_plain_walk(engine, seed):
    rng = np.random.default_rng(seed)
    thresholds = np.array([0.0, -1.5, 2.25, 1e-40, 3e38, np.inf, -np.inf, *rng.standard_normal(20)])
    forest = random_forest(
        rng, engine, int(rng.integers(1, 11)), int(rng.choice([2, 9, 64])), 3, thresholds
    )
    own = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *forest.threshold[:20]])
    n = int(rng.choice([1, 2, 3, 32, 33, 65, 129]))
    X = rng.choice(own, (n, 3))
    expected = [score(forest, row) for row in X]
    assert forest.leaf(X).tolist() == [walk(forest, row) for row in X]
    assert forest.predict(X).tolist() == expected
    fast = prepared(forest)
    assert (fast is None) == (forest.feature.size == 0)
    if fast is not None:
        assert fast.scores(X).tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_large_trees_and_many_thresholds(engine):
    rng = np.random.default_rng(5)
    forest = random_forest(rng, engine, 12, 256, 2, rng.standard_normal(700))
    X = np.concatenate([rng.standard_normal((100, 2)), rng.choice(forest.threshold, (80, 2))])
    X[rng.random(X.shape) < 0.1] = np.nan
    assert np.unique(forest.threshold[forest.feature == 0]).size > 255 or engine == "catboost"
    assert np.array_equal(
        prepared(forest).scores(X),
        walking.scores(forest, X.astype(np.float32 if forest.float32_input else np.float64)),
    )


def test_what_can_not_be_prepared_falls_back():
    rng = np.random.default_rng(1)
    assert prepared(random_forest(rng, "lightgbm", 1, 1, 3, np.zeros(1))) is None  # no split
    large = next(
        f
        for f in (random_forest(rng, "lightgbm", 1, 2000, 3, np.arange(9.0)) for _ in range(99))
        if f.leaf_value.size > 256
    )
    assert prepared(large) is None
    many = random_forest(rng, "lightgbm", 60, 256, 1, rng.standard_normal(10**6))
    assert np.unique(many.threshold).size > 8 * 255
    assert prepared(many) is None


@pytest.mark.parametrize("engine", ENGINES)
def test_every_number_of_documents(engine):
    rng = np.random.default_rng(2)
    forest = random_forest(rng, engine, 7, 16, 4, rng.standard_normal(30))
    X = rng.standard_normal((300, 4))
    fast = prepared(forest)
    whole = walking.scores(forest, X.astype(np.float32 if forest.float32_input else np.float64))
    for n in (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 300):
        assert np.array_equal(fast.scores(X[:n]), whole[:n]), n
    assert np.array_equal(fast.scores(np.asfortranarray(X), 2), whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_without_compilation(engine):
    rng = np.random.default_rng(4)
    forest = random_forest(rng, engine, 6, 8, 3, rng.standard_normal(9))
    X = rng.standard_normal((70, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    expected = forest.predict(X)
    with interpreted():
        fast = prepared(forest)
        for n in (2, 30, 50, 70):
            assert np.array_equal(fast.scores(X[:n]), expected[:n]), n
        exiting = ExitingForest(forest, fast, EarlyExit(3, at=(0.5,)))
        best = np.argsort(-expected)[:3]
        assert np.array_equal(exiting.scores(X, np.array([0, 70]))[best], expected[best])


def test_threads_share_one_ranker(rankers):
    ranker, X = rankers["lightgbm"], features(400, 3)
    score, expected, wrong = ranker.scorer(), ranker.model_.predict(X, n_jobs=1), []

    def work(seed):
        rng = np.random.default_rng(seed)
        for n in rng.integers(1, 400, 40):
            if not np.array_equal(score(X[:n]), expected[:n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_predict_prepares_once_it_pays_and_keeps_the_bits(monkeypatch):
    ranker, X = rw.Ranker(**SMALL).fit(data()), features(200, 4)
    expected = ranker.model_.predict(X, n_jobs=1)
    calls = []
    engine = type(ranker.model_).predict
    monkeypatch.setattr(
        type(ranker.model_), "predict", lambda *a, **k: calls.append(1) or engine(*a, **k)
    )
    monkeypatch.setattr(scoring, "_COMPILING", 0.0)
    assert np.array_equal(ranker.predict(X), expected) and len(calls) == 1
    monkeypatch.setattr(scoring, "_PREPARING", 0.0)
    assert np.array_equal(ranker.predict(X), expected) and len(calls) == 1
    # A user who takes the engine's object may change it, so it scores from then on.
    ranker.booster_.set_leaf_output(0, 0, 100.0)
    assert ranker.predict(X).max() > 50.0 and len(calls) == 2


def test_copies_and_memory():
    ranker, X = rw.Ranker(**SMALL).fit(data()), features(50, 4)
    score = ranker.scorer()
    expected = score(X)
    for other in (deepcopy(ranker), pickle.loads(pickle.dumps(ranker))):
        assert other.model_ not in scoring._KEPT
        assert np.array_equal(other.predict(X), expected)
    forest = weakref.ref(scoring._KEPT[ranker.model_].fast)
    ranker.set_params(n_estimators=3).fit(data())
    assert np.array_equal(score(X), expected)  # it keeps the model that it was made from
    del score
    gc.collect()
    assert forest() is None


def test_early_exit_by_bounds_loses_nothing(rankers):
    X = features(600, 5)
    group = [60] * 10
    for name in ("lightgbm", "xgboost", "catboost"):
        ranker = rankers[name]
        whole = ranker.scorer()(X).reshape(10, 60)
        for at in ((0.5,), (0.3, 0.6, 0.9)):
            left = ranker.scorer(stop=EarlyExit(3, at=at))(X, group=group).reshape(10, 60)
            for a, b in zip(whole, left, strict=True):
                first = np.argsort(-a, kind="stable")[:3]
                assert np.array_equal(np.argsort(-b, kind="stable")[:3], first)
                assert np.array_equal(a[first], b[first])


def test_early_exit_drops_and_keeps_the_rest_below(rankers):
    forest = rankers["lightgbm"].forest()
    X = features(200, 6)
    exiting = ExitingForest(forest, prepared(forest), EarlyExit(5, margin=0.05, at=(0.25,)))
    found, whole = exiting.scores(X, np.array([0, 150, 200])), forest.predict(X)
    for part in (slice(0, 150), slice(150, 200)):
        same = found[part] == whole[part]
        assert 5 <= same.sum() < same.size  # some were dropped
        assert found[part][~same].max() < found[part][same].min()
    rows = np.random.default_rng(0).permutation(200)
    qid = np.repeat([1, 2], [150, 50])
    score = rankers["lightgbm"].scorer(stop=EarlyExit(5, margin=0.05, at=(0.25,)))
    assert np.array_equal(score(X[rows], qid=qid[rows]), found[rows])


@pytest.mark.parametrize("stop", ["10", True, 0, -1, 2.5])
def test_bad_stop(rankers, stop):
    with pytest.raises(rw.InputError, match=r"stop must be|top must be"):
        rankers["lightgbm"].scorer(stop=stop)


@pytest.mark.parametrize("at", [(0.5, 0.2), (0.0,), (1.0,), (np.nan,), ("a",)])
def test_bad_places(at):
    with pytest.raises(rw.InputError, match="at must"):
        EarlyExit(10, at=at)


def test_bad_margin():
    with pytest.raises(rw.InputError, match="margin must be above 0, got 0"):
        EarlyExit(10, margin=0)
