"""Runs that share binned data, plans and orders grow the trees that they would grow alone."""

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.run_cache import RunCache
from rankwood.estimators.parameters import check_shared
from rankwood.fit.context import FitContext
from rankwood.fit.validation import ValidationSets
from tests.helpers import small_study

KINDS = [
    ("lightgbm", "lambdarank-ndcg@10", {"feature_pre_filter": False}),
    ("lightgbm", "yetirank", {}),
    ("xgboost", "lambdarank-ndcg@10", {}),
    ("catboost", "yetirank", {}),
    ("pairtree", "bi-lambdarank-ndcg@5", {"differences": "all"}),
]
#: Each run changes something; the third bins anew, and the fourth bins as the first did.
RUNS = [
    {"num_leaves": 7},
    {"num_leaves": 4, "learning_rate": 0.3},
    {"max_bin": 15},
    {"num_leaves": 7},
    {"reg_lambda": 3.0, "random_state": 5},
    {"reg_lambda": 0.5, "shuffle": False},
]


@pytest.mark.parametrize(
    ("engine", "objective", "own"), KINDS, ids=[f"{k[0]}-{k[1]}" for k in KINDS]
)
def test_shared_runs_have_the_bits_of_lone_runs(engine, objective, own):
    train, valid = rw.make_ranking(30, seed=5).split(0.4)
    shared = RunCache()
    for params in RUNS:
        known = {"n_estimators": 5, "n_jobs": 1, "eval_metric": "ndcg@5", **own, **params}
        alone = rw.Ranker(objective, engine, **known).fit(train, valid=valid)
        together = rw.Ranker(objective, engine, **known)
        together._fit(train, ValidationSets.single(valid), FitContext(shared))
        assert together.history_ == alone.history_
        assert np.array_equal(together.predict(valid), alone.predict(valid))
        if engine != "catboost":  # its text has the time of training
            assert together.model_.text == alone.model_.text


def test_smallest_leaves_differ():
    """With LightGBM's own filter, features are dropped by the smallest leaf; without it, one binning serves all."""
    train, valid = small_study.data()
    for filtered in (True, False):
        shared = RunCache()
        for least in (40, 2, 40):
            how = {"min_child_samples": least, "feature_pre_filter": filtered}
            alone = small_study.ranker(**how).fit(train, valid=valid)
            together = small_study.ranker(**how)
            together._fit(train, ValidationSets.single(valid), FitContext(shared))
            assert together.model_.text == alone.model_.text


def test_data_is_binned_once(monkeypatch):
    from rankwood.engines.lightgbm import engine

    made = []
    real = engine._datasets
    monkeypatch.setattr(engine, "_datasets", lambda *args: made.append(args) or real(*args))
    assert len(small_study.study(trials=5).trials) == 5
    assert len(made) == 1


def test_memory_is_that_of_one_binning():
    shared, made = RunCache(), []
    for key in (1, 1, 2, 1):
        shared.once("binned", key, lambda key=key: made.append(key) or key)
    assert made == [1, 2, 1]
    shared.begin("other")
    shared.begin("other")
    assert shared.once("binned", 1, lambda: "anew") == "anew"


def test_a_callback_ends_training_and_fit_alone_is_as_before():
    train, valid = small_study.data()
    ranker, seen = small_study.ranker(early_stopping_rounds=None), []
    check_shared(ranker)
    callback = [lambda done: seen.append(done.value) or done.number == 4]
    ranker._fit(train, ValidationSets.single(valid), FitContext(callbacks=callback))
    assert ranker.best_iteration_ == 4
    assert ranker.history_["ndcg@5"] == seen
    whole = small_study.ranker(early_stopping_rounds=None).fit(train, valid=valid)
    assert whole.history_["ndcg@5"][:4] == seen
    assert whole.best_iteration_ == 10
