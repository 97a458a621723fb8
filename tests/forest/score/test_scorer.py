"""The scorer: the engine's bits, on hard rows, on random forests, for every number of documents and on threads."""

import gc
import pickle
import threading
import weakref
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankwood as rw
from rankwood.estimators import scoring
from rankwood.forest.score.fast import prepared
from rankwood.testing import interpreted
from tests.helpers.examples import examples
from tests.helpers.forest_models import MODELS, SMALL, data, features, fitted
from tests.helpers.hard_rows import hard_rows
from tests.helpers.random_forests import random_forest
from tests.oracles.naive_forest import score, walk

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
    assert np.array_equal(pickle.loads(pickle.dumps(scorer))(X), scorer(X))
    few = features(33, 2).astype(np.float32)
    assert np.array_equal(scorer(few), ranker.model_.predict(few, n_jobs=1))
    # Sparse matrices are the engine's own business.
    some = sparse.csr_matrix(np.nan_to_num(few))
    assert np.array_equal(scorer(some), ranker.model_.predict(some, n_jobs=1))


@pytest.mark.parametrize("engine", ENGINES)
@examples(25)
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
        forest.predict(X),
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
    whole = forest.predict(X)
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
    # The engine's object that users get is a copy: what they do to it changes no score.
    copied = ranker.booster_.set_leaf_output(0, 0, 100.0)
    assert copied.predict(X).max() > 50.0
    assert np.array_equal(ranker.predict(X), expected) and len(calls) == 1
    assert np.array_equal(ranker.model_.predict(X, n_jobs=1), expected)


def test_copies_and_memory():
    ranker, X = rw.Ranker(**SMALL).fit(data()), features(50, 4)
    score = ranker.scorer()
    expected = score(X)
    for other in (deepcopy(ranker), pickle.loads(pickle.dumps(ranker))):
        assert other.model_ not in scoring._FAST
        assert np.array_equal(other.predict(X), expected)
    forest = weakref.ref(scoring._FAST[ranker.model_])
    ranker.set_params(n_estimators=3).fit(data())
    assert np.array_equal(score(X), expected)  # it keeps the model that it was made from
    del score
    gc.collect()
    assert forest() is None


def test_a_scorer_takes_files(tmp_path):
    data = rw.make_ranking(8, seed=1)
    rw.save_letor(data, tmp_path / "a.txt")
    files = rw.stream_files([tmp_path / "a.txt"])
    ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(data)
    assert ranker.scorer()(files).tobytes() == ranker.predict(files).tobytes()
