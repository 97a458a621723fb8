"""Models that versions 0.1 to 0.4 saved: they load, and predict what those versions predicted."""

import json

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.envelope import checksum
from tests.helpers.paths import OLD_FILES

#: Scores by file, as those versions computed them.
SCORES = json.loads((OLD_FILES / "scores.json").read_text())


def documents():
    """The data that the models were trained on; its numbers are exact in binary."""
    i, j = np.arange(240)[:, None], np.arange(5)[None, :]
    X = ((i * (7 + 2 * j) + 13 * j * j + i * i) % 32) / 32
    X[::9, 2] = np.nan
    y = ((X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.7)).astype(float)
    return rw.RankingData(X, y, qid=np.repeat(np.arange(30), 8))


def load(path):
    if path.name.startswith(("network", "setrank", "attn")):
        pytest.importorskip("torch")
        pytest.importorskip("safetensors")
    return rw.load(path)


@pytest.mark.parametrize("file", SCORES)
def test_old_files_predict_as_before(file, tmp_path):
    model, data = load(OLD_FILES / file), documents()
    two, network = file.startswith("two_stage"), file.startswith("network")
    assert type(model) is (rw.TwoStage if two else rw.NeuralRanker if network else rw.Ranker)
    expected = np.array([float.fromhex(text) for text in SCORES[file]])
    scores = model.predict(data)
    if file.startswith(
        "network"
    ):  # products of matrices are PyTorch's, and depend on the processor
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    else:
        assert scores.tobytes() == expected.tobytes()
    model.save(tmp_path / file)  # a copy that this version writes predicts the same
    assert load(tmp_path / file).predict(data).tobytes() == scores.tobytes()
    assert np.unique(scores).size > 5  # the models aren't constant


def test_names_of_features_without_names(tmp_path):
    """0.4 and before called the first feature of a second stage x0; now it is f1."""
    model = load(OLD_FILES / "two_stage_0.4.json")
    assert model.second_.result_.schema.names[:6] == ["f1", "f2", "f3", "f4", "f5", "score"]
    assert model.result_.second.ranked_importances()[0][0].startswith(("f", "score"))
    content = json.loads((OLD_FILES / "two_stage_0.4.json").read_text())
    content["params"]["second"] |= {"differences": ["x0", "score"], "monotone": {"x1:rank": 1}}
    content["sha256"] = checksum(content)
    (tmp_path / "m.json").write_text(json.dumps(content))
    params = rw.TwoStage.load(tmp_path / "m.json").second.get_params()
    assert params["differences"] == ["f1", "score"] and params["monotone"] == {"f2:rank": 1}


def test_rankers_on_listwise_features_of_data_without_names():
    data = documents()
    more = rw.listwise_features(data)
    former = [f"x{int(name[1]) - 1}{name[2:]}" for name in more.feature_names]
    assert former[0] == "x0" and "x4:z" in former
    then = rw.RankingData(more.X, more.y, qid=more.qid, feature_names=former)
    ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(then)
    assert ranker.predict(more).tobytes() == ranker.predict(then).tobytes()
    plain = rw.RankingData(
        data.X, data.y, qid=data.qid, feature_names=["x0", "x1", "x2", "x3", "x4"]
    )
    named = rw.RankingData(
        data.X, data.y, qid=data.qid, feature_names=["f1", "f2", "f3", "f4", "f5"]
    )
    with pytest.raises(rw.InputError, match="X lacks the column 'x0'"):  # names that a person gave
        rw.Ranker(n_estimators=3, n_jobs=1).fit(plain).predict(named)
