"""The number of features in a model file is that of the engine's text, or the file isn't read."""

import json

import pytest

import rankwood as rw
from tests.helpers.refusals import signed

MODELS = {
    "lightgbm": "lambdarank-ndcg@10",
    "xgboost": "lambdarank-ndcg@10",
    "catboost": "queryrmse",
    "pairtree": "bi-ranknet",
}


@pytest.mark.parametrize("engine", MODELS)
def test_another_number_of_features_is_refused_by_load(engine, tmp_path):
    path = tmp_path / "m.json"
    pytest.importorskip("rankwood" if engine == "pairtree" else engine)
    data = rw.make_ranking(12, seed=1)
    ranker = rw.Ranker(MODELS[engine], engine, n_estimators=1, num_leaves=4, n_jobs=1).fit(data)
    ranker.save(path)
    assert rw.Ranker.load(path).model_.n_features == data.n_features
    content = json.loads(path.read_text())
    for wrong in (data.n_features - 1, data.n_features + 1):
        path.write_text(signed({**content, "n_features": wrong}))
        message = f"m.json is damaged: 'n_features' is {wrong}, and its model was trained on {data.n_features} features"
        with pytest.raises(rw.InputError, match=message):
            rw.Ranker.load(path)
