"""Models that versions 0.1 to 0.4 saved: they load, and predict what those versions predicted."""

import json

import numpy as np
import pytest

import rankwood as rw
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
    if path.name.startswith("network"):
        pytest.importorskip("torch")
        pytest.importorskip("safetensors")
        return rw.NeuralRanker.load(path)
    return (rw.TwoStage if path.name.startswith("two_stage") else rw.Ranker).load(path)


@pytest.mark.parametrize("file", SCORES)
def test_old_files_predict_as_before(file, tmp_path):
    model, data = load(OLD_FILES / file), documents()
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
