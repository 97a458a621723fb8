"""Files of pairs that LightGBM trained, by 0.1 to 0.4: they load and predict, and `pairtree` trains in their place."""

import json

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

import rankwood as rw
from tests.helpers.paths import OLD_FILES
from tests.helpers.refusals import signed
from tests.oracles import naive_stored_pairs as naive

FILE = OLD_FILES / "lightgbm_pairs_0.4.json"
CONTENT = json.loads(FILE.read_text())
TREES = json.loads(CONTENT["model"])
SIZES = [7, 1, 5, 12, 2, 9]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(sum(SIZES), 5)).round(2)
    X[:, 0] = rng.integers(0, 9, len(X))
    X[rng.random(X.shape) < 0.1] = np.nan
    return rw.RankingData(X, np.arange(len(X)) % 3, group=SIZES)


def test_scores_are_those_of_lightgbm_on_a_matrix_of_pairs(data):
    booster = lgb.Booster(model_str=TREES["lightgbm"])
    known = naive.predict(booster, data.X, SIZES, TREES["differences"])
    scores = rw.Ranker.load(FILE).predict(data)
    np.testing.assert_allclose(scores, known, rtol=1e-13, atol=1e-15)
    assert np.unique(scores).size > 15


def test_scores_are_bit_identical_in_any_order_of_documents(data, rng):
    ranker, qid = rw.Ranker.load(FILE), data.groups.per_row(data.groups.ids)
    scores, order = ranker.predict(data), rng.permutation(qid.size)
    np.testing.assert_array_equal(ranker.predict(data.X[order], qid=qid[order]), scores[order])
    assert ranker.predict(data.X[:1], qid=["a"]).tolist() == [0.0]


def test_huge_and_infinite_values(data):
    X = data.X.copy()
    X[::5, 0], X[1::5, 0], X[::7, 2], X[::9, 3] = 1e300, -1e300, np.inf, -np.inf
    assert np.isfinite(rw.Ranker.load(FILE).predict(X, group=SIZES)).all()


def test_the_file_can_be_written_again(tmp_path):
    ranker = rw.Ranker.load(FILE)
    ranker.save(tmp_path / "m.json")
    again = json.loads((tmp_path / "m.json").read_text())
    for name in ("engine", "objective", "params", "best_iteration", "model"):
        assert again[name] == CONTENT[name], name
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert type(ranker.booster_).__name__ == "Booster"


def test_pairtree_trains_in_its_place(data, tmp_path):
    ranker = rw.Ranker.load(FILE)
    for change in ({}, {"warm_start": True}):
        with pytest.raises(rw.InputError, match=r"can't train objectives of pairs .*'pairtree'"):
            ranker.set_params(**change).fit(data)
    again = clone(ranker).set_params(engine=None, warm_start=False).fit(data)
    assert again.engine_ == "pairtree"
    with pytest.raises(rw.InputError, match=r"can't be exported: .* engine='pairtree'"):
        ranker.export(tmp_path / "p.json", "json")


def test_another_number_of_features_is_refused(tmp_path):
    path = tmp_path / "m.json"
    for wrong in (4, 6):
        path.write_text(signed({**CONTENT, "n_features": wrong}))
        message = f"'n_features' is {wrong}, and its model was trained on 5 features"
        with pytest.raises(rw.InputError, match=message):
            rw.Ranker.load(path)


def test_chunks_of_pairs_keep_to_their_limit(data, monkeypatch):
    from rankwood.engines.lightgbm import old_pairs

    ranker, entries = rw.Ranker.load(FILE), []
    scores, predict = ranker.predict(data), old_pairs.LightGBMModel.predict

    def spy(self, pairs, n_jobs=None):
        entries.append(pairs.size)
        return predict(self, pairs, n_jobs=n_jobs)

    monkeypatch.setattr(old_pairs.LightGBMModel, "predict", spy)
    width = 13  # 5 features of each document, and 3 differences
    for limit in (width, 7 * width + 5, 100 * width, 10**6):
        entries.clear()
        monkeypatch.setattr(old_pairs, "_CHUNK", limit)
        np.testing.assert_array_equal(ranker.predict(data), scores)
        assert 0 < max(entries) <= limit
        assert sum(entries) == width * sum(n * (n - 1) for n in SIZES)
    assert len(entries) == 1  # small queries go together
