"""Parameters that are left open: what training takes for them, who wins, and what files remember."""

import itertools
import json
import re

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

import rankwood as rw
from rankwood._util import envelope
from rankwood.engines.round_seeds import LightGBMSeeds
from rankwood.estimators.parameters import chosen, engine_params, rounds_of
from rankwood.reproduce.models import make_ranker

SMALL = {"n_estimators": 3, "num_leaves": 4, "n_jobs": 1}


@pytest.fixture(scope="module")
def data():
    return rw.make_ranking(30, seed=3)


def used(ranker, name):
    """Return the value of a parameter that LightGBM itself wrote into its model."""
    return re.search(rf"^\[{name}: (.*)\]$", ranker.model_.text, re.MULTILINE)[1]


def test_usual_trees_are_those_of_lightgbm_with_extra_trees(data):
    ranker = rw.Ranker("queryrmse", shuffle=False, **SMALL).fit(data)
    params = {
        **{"num_leaves": 4, "learning_rate": 0.05, "extra_trees": True, "seed": 0},
        **{"objective": "none", "deterministic": True, "force_col_wise": True, "verbosity": -1},
        "num_threads": 1,
    }
    booster = lgb.Booster(params, lgb.Dataset(data.X, data.y, params=params))
    starts = np.cumsum([0, *data.groups.sizes])

    def squared(scores, _):
        """The squared error up to a constant for each query, in plain numpy."""
        rest = scores - data.y
        for a, b in itertools.pairwise(starts):
            rest[a:b] -= rest[a:b].mean()
        return rest, np.ones_like(rest)

    seeds = LightGBMSeeds(params, resumable=True)
    for number in range(3):
        booster.reset_parameter(seeds.at(number))
        booster.update(fobj=squared)
    np.testing.assert_allclose(ranker.predict(data), booster.predict(data.X), rtol=0, atol=1e-5)
    assert ranker.chosen_ == {"learning_rate": 0.05, "extra_trees": True}


@pytest.mark.parametrize("given", [{"extra_trees": False}, {"extra_tree": False}])
def test_what_is_given_wins(data, given):
    ranker = rw.Ranker(**SMALL, learning_rate=0.3, **given).fit(data)
    assert used(ranker, "extra_trees") == "0" and float(used(ranker, "learning_rate")) == 0.3
    assert ranker.chosen_ == {}
    left = rw.Ranker(**SMALL).fit(data)
    assert used(left, "extra_trees") == "1" and float(used(left, "learning_rate")) == 0.05
    assert left.predict(data).tobytes() != ranker.predict(data).tobytes()


def test_none_is_left_open(data):
    left, none = rw.Ranker(**SMALL), rw.Ranker(**SMALL, extra_trees=None, learning_rate=None)
    assert left.fit(data).predict(data).tobytes() == none.fit(data).predict(data).tobytes()
    assert left.chosen_ == none.chosen_


@pytest.mark.parametrize(
    ("objective", "engine", "expected"),
    [
        ("queryrmse", "xgboost", {"learning_rate": 0.05}),
        ("queryrmse", "catboost", {"learning_rate": 0.05}),
        ("bi-ranknet", "pairtree", {"learning_rate": 0.01}),
    ],
)
def test_other_engines_and_pairs_have_no_extra_trees(data, objective, engine, expected):
    ranker = rw.Ranker(objective, engine, **SMALL).fit(data)
    assert ranker.chosen_ == expected


def test_parameters_stay_as_they_are_given(data):
    ranker = rw.Ranker(num_leaves=4, n_jobs=1)
    before = ranker.get_params()
    assert before["n_estimators"] is None and before["learning_rate"] is None
    assert "extra_trees" not in before
    assert repr(ranker) == "Ranker(n_jobs=1, num_leaves=4)"
    ranker.fit(data)
    assert ranker.get_params() == before == clone(ranker).get_params()
    assert not hasattr(clone(ranker), "chosen_")


@pytest.mark.parametrize(
    ("validated", "patience", "given", "rounds"),
    [(True, 50, None, 500), (True, None, None, 100), (False, 50, None, 100), (True, 50, 7, 7)],
)
def test_rounds_are_many_only_if_something_stops_them(data, validated, patience, given, rounds):
    options = {"n_estimators": given, "early_stopping_rounds": patience}
    ranker = rw.Ranker(**options, num_leaves=2, n_jobs=1)
    assert rounds_of(ranker, validated) == rounds
    ranker.fit(data, valid=data if validated else None)
    assert ranker.chosen_.get("n_estimators") == (rounds if given is None else None)
    if patience is None or not validated:
        assert ranker.best_iteration_ == rounds


def test_files_keep_what_was_chosen(data, tmp_path):
    ranker = rw.Ranker(num_leaves=2, n_jobs=1).fit(data)
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.chosen_ == ranker.chosen_
    assert again.chosen_ == {"learning_rate": 0.05, "extra_trees": True, "n_estimators": 100}
    assert again.get_params() == ranker.get_params()


@pytest.mark.parametrize(
    ("objective", "engine", "rate"),
    [
        ("lambdarank-ndcg@10", "lightgbm", 0.1),
        ("queryrmse", "xgboost", 0.1),
        ("bi-ranknet", "pairtree", 0.01),
    ],
)
def test_older_files_predict_the_same_and_train_as_before(data, tmp_path, objective, engine, rate):
    before = {"extra_trees": False} if engine == "lightgbm" else {}
    old = rw.Ranker(objective, engine, **SMALL, learning_rate=rate, **before).fit(data)
    old.save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    # As older versions wrote it: without what was chosen, and these parameters left out.
    del content["chosen"]
    content["params"] |= {"learning_rate": None}
    content["params"].pop("extra_trees", None)
    content["sha256"] = envelope.checksum(content)
    (tmp_path / "m.json").write_text(json.dumps(content))
    loaded = rw.Ranker.load(tmp_path / "m.json")
    assert loaded.predict(data).tobytes() == old.predict(data).tobytes()
    assert clone(loaded).fit(data).predict(data).tobytes() == old.predict(data).tobytes()


@pytest.mark.parametrize(
    ("objective", "engine"),
    [
        ("lambdarank-ndcg@10", "lightgbm"),
        ("lambdarank-ndcg@10", "xgboost"),
        ("yetirank", "catboost"),
        ("bi-ranknet", "pairtree"),
    ],
)
def test_reproductions_leave_nothing_open(objective, engine):
    spec = {
        **{"objective": objective, "engine": engine, "rounds": 5, "stop": None, "patience": 0},
        **{"shuffle": True, "seed": 0, "params": {}},
    }
    ranker = make_ranker(spec)
    assert chosen(ranker) == {} and ranker.n_estimators == 5
    assert not engine_params(ranker).get("extra_trees", False)
    spec["params"] = {"learning_rate": 0.7}
    assert engine_params(make_ranker(spec))["learning_rate"] == 0.7
