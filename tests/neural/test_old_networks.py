"""Networks that 0.4 trained: they load, predict and are written as before, though networks changed since."""

import json

import numpy as np
import pytest

import rankwood as rw
from rankwood.neural.tensors import from_text, nested
from tests.helpers.paths import OLD_FILES
from tests.helpers.program_variables import attn_din_of, setrank_of
from tests.helpers.refusals import signed
from tests.oracles import naive_networks as naive

NAMES = ("attn_din", "setrank", "setrank_induced")
SIZES = [7, 1, 5, 12, 2]


def file_of(name):
    return OLD_FILES / f"{name}_0.4.json"


@pytest.fixture
def data(rng):
    X = rng.normal(size=(sum(SIZES), 5)).round(2)
    return rw.RankingData(X, np.arange(len(X)) % 3, group=SIZES)


def by_loops(name, documents, earlier):
    """Return the scores of a list by the weights of a file, whose network has no input transform."""
    arrays = from_text(json.loads(file_of(name).read_text())["model"], name)
    w, valid = nested(arrays, "network."), [True] * len(documents)
    w = {key: value.astype(np.float64) for key, value in w.items()}
    if name == "attn_din":
        return naive.attn_din(attn_din_of(w, 1, 1, 2), documents, valid)
    blocks = {"setrank": 2, "setrank_induced": 1}[name]
    net = setrank_of(w, blocks, name == "setrank_induced", earlier)
    return naive.setrank(net, documents, valid, 2, earlier)


@pytest.mark.parametrize("name", NAMES)
def test_files_predict_with_the_network_that_they_hold(name, data):
    found = rw.NeuralRanker.load(file_of(name)).predict(data)
    lists = np.split(data.X.astype(np.float64), np.cumsum(SIZES)[:-1])
    known = np.concatenate([by_loops(name, one, earlier=True) for one in lists])
    np.testing.assert_allclose(found, known, atol=1e-5)
    if name != "attn_din":
        other = np.concatenate([by_loops(name, one, earlier=False) for one in lists])
        assert abs(found - other).max() > 0.1  # the network of this version has other scores


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_written_again_says_the_revision(name, data, tmp_path):
    ranker = rw.NeuralRanker.load(file_of(name))
    ranker.save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["fitted"]["revision"] == 1
    again = rw.NeuralRanker.load(tmp_path / "m.json")
    assert again.predict(data).tobytes() == ranker.predict(data).tobytes()


def test_a_fit_with_the_parameters_of_an_old_file_trains_the_network_of_today(data, tmp_path):
    ranker = rw.NeuralRanker.load(file_of("setrank_induced"))
    ranker.set_params(verbose=False).fit(data).save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["fitted"]["revision"] == 2
    assert not any("gather.wide" in name for name in ranker.model_.weights)


@pytest.mark.parametrize("revision", [0, 3, "2", None])
def test_revisions_that_no_version_has_written(revision, tmp_path):
    content = json.loads(file_of("attn_din").read_text())
    content["fitted"]["revision"] = revision
    path = tmp_path / "m.json"
    path.write_text(signed(content))
    with pytest.raises(rw.InputError, match=rf"revision {revision!r}, .* knows 1 to 2: update"):
        rw.NeuralRanker.load(path)
