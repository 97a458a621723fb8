"""Checkpoints: a run that was cut off goes on to the same model file, but for its seconds."""

import json

import pytest

import rankwood as rw

ROUNDS = 9
PAIRS = {"objective": "bi-lambdarank-ndcg@5", "engine": "pairtree", "num_leaves": 5}
KINDS = {
    "lightgbm": {},
    "sampled": {"subsample": 0.7, "colsample_bytree": 0.5, "feature_fraction_bynode": 0.8},
    "yetirank": {"objective": "yetirank"},
    "langevin": {"langevin": True, "diffusion_temperature": 1e3, "model_shrink_rate": 0.1},
    "recorded": {"record": ["effective_pairs", "coherency"]},
    "xgboost": {"engine": "xgboost"},
    "xgboost-sampled": {"engine": "xgboost", "subsample": 0.7, "colsample_bytree": 0.5},
    "pairtree": PAIRS,
}


@pytest.fixture(scope="module")
def data():
    return rw.make_ranking(30, seed=2), rw.make_ranking(12, seed=3)


def ranker(kind, rounds=ROUNDS, **more):
    params = {"n_estimators": rounds, "num_leaves": 7, "n_jobs": 1}
    return rw.Ranker(**{**params, **KINDS[kind], **more})


def written(fitted, path):
    """Return a model file without what may differ: seconds, and the number of rounds that was planned."""
    fitted.save(path)
    content = json.loads(path.read_text())
    for name in ("seconds", "sha256"):
        del content[name]
    content["record"] = {n: v for n, v in content["record"].items() if not n.startswith("seconds")}
    return content


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 4, ROUNDS - 1])
def test_same_model_after_a_break(kind, k, data, tmp_path):
    train, valid = data
    whole = ranker(kind).fit(train, valid=valid)
    file = tmp_path / "run.ckpt"
    ranker(kind, rounds=k).fit(train, valid=valid, checkpoint=file)
    again = ranker(kind).fit(train, valid=valid, checkpoint=file)
    assert written(again, tmp_path / "a") == written(whole, tmp_path / "b")
    assert rw.Ranker.load(file).predict(valid).tobytes() == whole.predict(valid).tobytes()
