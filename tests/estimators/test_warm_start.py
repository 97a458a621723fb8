"""warm_start: more rounds on top of a fitted model are those of one longer run."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rankwood as rw


@pytest.fixture(scope="module")
def data():
    return rw.make_ranking(30, seed=2), rw.make_ranking(12, seed=3)


def ranker(rounds, **more):
    settings = {"early_stopping_rounds": None, "num_leaves": 7, "n_jobs": 1, "warm_start": True}
    return rw.Ranker(n_estimators=rounds, **{**settings, **more})


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"engine": "xgboost", "subsample": 0.7},
        {"objective": "bi-ranknet", "engine": "pairtree", "record": "seconds"},
    ],
)
def test_more_rounds_are_those_of_a_longer_run(how, data, tmp_path):
    train, valid = data
    whole = ranker(7, **how).fit(train, valid=valid)
    short = ranker(3, **how).fit(train, valid=valid)
    short.save(tmp_path / "m.json")
    loaded = rw.Ranker.load(tmp_path / "m.json")
    for some in (short, loaded):
        some.set_params(n_estimators=7).fit(train, valid=valid)
        assert some.best_iteration_ == 7 and some.history_ == whole.history_
        assert some.predict(valid).tobytes() == whole.predict(valid).tobytes()
        assert {name: len(curve) for name, curve in some.record_.items()} == {
            name: 7 for name in whole.record_
        }


def test_as_many_rounds_are_left_as_they_are(data):
    train, _ = data
    fitted = ranker(3).fit(train)
    before = fitted.model_
    with pytest.warns(UserWarning, match="adds no trees: the model has 3"):
        assert fitted.fit(train).model_ is before
    assert clone(fitted).fit(train).model_ is not before  # a clone starts from no tree
    assert fitted.set_params(warm_start=False).fit(train).model_ is not before


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"n_estimators": 2}, "the model has 3 trees, and n_estimators=2 is less"),
        ({"engine": "catboost", "objective": "yetirank"}, "can't be used with engine='catboost'"),
        ({"langevin": True}, "Langevin"),
        ({"engine": "xgboost"}, "trained by engine='lightgbm', and now it is 'xgboost'"),
        ({"boosting": "dart"}, "a run with boosting='dart' can't be resumed"),
        ({"warm_start": "yes"}, "warm_start must be one of"),
    ],
)
def test_what_cannot_go_on(how, match, data):
    train, _ = data
    fitted = ranker(3).fit(train)
    fitted.set_params(**{"n_estimators": 5, **how})
    with pytest.raises(rw.InputError, match=match):
        fitted.fit(train)


def test_other_data_is_taken_if_its_features_are_the_same(data):
    train, valid = data
    fitted = ranker(3).fit(train, valid=valid)
    with pytest.raises(rw.InputError, match="give the same validation sets and metrics"):
        fitted.set_params(n_estimators=5).fit(train)
    narrow = rw.RankingData(train.X[:, :4], train.y, qid=train.qid)
    with pytest.raises(rw.InputError, match="other features"):
        fitted.fit(narrow, valid=rw.RankingData(valid.X[:, :4], valid.y, qid=valid.qid))
    with pytest.raises(rw.InputError, match="evaluated on other validation data"):
        fitted.fit(train, valid=train)
    assert fitted.best_iteration_ == 3
    trees = fitted.model_.booster.predict(valid.X)
    fitted.fit(valid, valid=valid)
    assert fitted.best_iteration_ == 5
    assert np.array_equal(fitted.model_.booster.predict(valid.X, num_iteration=3), trees)


def test_other_categories_are_refused():
    frame = pd.DataFrame({"x": range(60), "c": pd.Categorical(["b", "c", "d"] * 20)})
    y, qid = [0, 1, 2] * 20, [i // 6 for i in range(60)]
    ranker = rw.Ranker(n_estimators=2, n_jobs=1, warm_start=True, min_child_samples=1)
    ranker.fit(frame, y, qid=qid)
    frame["c"] = pd.Categorical(["a", *["c", "d", "b"] * 19, "b", "c"])
    with pytest.raises(rw.InputError, match="other categories"):
        ranker.set_params(n_estimators=3).fit(frame, y, qid=qid)


def test_a_record_that_is_new_has_no_values_of_the_rounds_before(data, tmp_path):
    train, _ = data
    some = ranker(3).fit(train)
    some.set_params(n_estimators=5, record="effective_pairs").fit(train)
    curve = np.array(some.record_["effective_pairs"])
    assert np.isnan(curve).tolist() == [True] * 3 + [False] * 2
    some.save(tmp_path / "m.json")
    loaded = np.array(rw.Ranker.load(tmp_path / "m.json").record_["effective_pairs"], float)
    assert np.array_equal(loaded, curve, equal_nan=True)
