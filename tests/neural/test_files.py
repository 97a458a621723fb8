"""NeuralRanker on disk: models, checkpoints, two stages, the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwood as rw
from cli_calls import answer, caller, complaint
from neural.small import SMALL, small, some_data
from rankwood.neural.tensors import from_text, to_text
from rankwood.report.card import read_card
from rankwood.training import model_file


def changed(path, **fields):
    """Return a copy of a file with other fields and a checksum that is right."""
    content = json.loads(Path(path).read_text())
    for name in ("format", "format_version", "rankwood", "sha256"):
        del content[name]
    kind = content.pop("kind")
    model_file.write_content({**content, **fields}, f"{path}.changed", kind)
    return f"{path}.changed"


@pytest.mark.parametrize("architecture", SMALL)
def test_a_file_predicts_the_same_bits(architecture, train, valid, tmp_path):
    X = train.X.copy()
    X[3, 2] = np.nan
    ranker = small(architecture, transform=("log1p", "quantile"))
    ranker.fit(rw.RankingData(X, train.y, qid=train.qid), valid=valid)
    ranker.save(tmp_path / "m.json")
    loaded = rw.NeuralRanker.load(tmp_path / "m.json")
    assert loaded.predict(valid).tobytes() == ranker.predict(valid).tobytes()
    for name in (
        "history_",
        "best_iteration_",
        "seconds_",
        "stopped_",
        "objective_",
        "n_features_in_",
    ):
        assert getattr(loaded, name) == getattr(ranker, name)
    assert (
        loaded.set_params(hidden=ranker.hidden, transform=ranker.transform).get_params()
        == ranker.get_params()
    )
    loaded.save(tmp_path / "again.json")
    content = json.loads((tmp_path / "m.json").read_text())
    assert (content["format"], content["kind"]) == ("rankwood-model", "NeuralRanker")
    assert set(from_text(content["model"], "x")) >= {"transform.missing", "transform.1.quantiles"}


def test_a_file_is_of_the_model_not_of_later_parameters(train, tmp_path):
    ranker = small().fit(train)
    scores = ranker.predict(train)
    ranker.set_params(hidden=(3,), transform=None, random_state=9).save(tmp_path / "m.json")
    loaded = rw.NeuralRanker.load(tmp_path / "m.json")
    assert loaded.predict(train).tobytes() == scores.tobytes()
    assert loaded.hidden == [3] and loaded.random_state == 9
    text = read_card(tmp_path / "m.json").to_markdown()
    assert "neural, " in text and "epoch" in text and "| torch |" in text
    assert loaded.card().to_markdown().startswith("# Model card: ")
    with pytest.raises(rw.InputError, match="a network has no trees"):
        loaded.explain(train)


def test_damaged_files(train, tmp_path):
    path = tmp_path / "m.json"
    small().fit(train).save(path)
    content = json.loads(path.read_text())
    arrays = from_text(content["model"], path)
    name = "network.tower.layers.0.weight"
    other = {**arrays, name: arrays[name][:, :-1]}
    fewer = {key: a for key, a in arrays.items() if key != name}
    cases = {
        "have shape (16, 7), and a network with its parameters has (16, 8)": {
            "model": to_text(other)
        },
        "'tower.layers.0.weight' are missing": {"model": to_text(fewer)},
        "has no weights 'more'": {"model": to_text({**arrays, "network.more": np.zeros(2)})},
        "not in the safetensors format": {"model": "AAAA"},
        "not in base64": {"model": "?"},
        "its input transform isn't one of 9 features": {"n_features": 9},
        "has no parameter 'trees'": {"params": {"trees": 3}},
        "'history' is of the wrong kind": {"history": []},
        "unknown architecture 'rnn'": {"fitted": {**content["fitted"], "architecture": "rnn"}},
    }
    for message, fields in cases.items():
        with pytest.raises(rw.InputError) as error:
            rw.NeuralRanker.load(changed(path, **fields))
        wanted = "not in the safetensors format" if "base64" in message else message
        assert "is damaged" in str(error.value) and wanted in str(error.value)
    path.write_text(path.read_text().replace("0", "1", 1))
    with pytest.raises(rw.InputError, match="doesn't match its checksum"):
        rw.NeuralRanker.load(path)
    with pytest.raises(
        rw.InputError, match=r"holds a NeuralRanker, not a Ranker: read it with NeuralRanker.load"
    ):
        small().fit(train).save(path)
        rw.Ranker.load(path)


KILLED = """
import os, signal, sys
sys.path[:0] = sys.argv[3:]
from neural.small import small, some_data
from rankwood.neural import checkpoint
write, kills = checkpoint.EpochFile.write, int(sys.argv[2])
def killed(self, run):
    if run.state.epochs_done == kills:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, run)
checkpoint.EpochFile.write = killed
small("attn-din", epochs=5).fit(some_data(), valid=some_data(1), checkpoint=sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_goes_on(train, valid, tmp_path):
    """Whatever is lost with the process, the next one ends with the same weights."""
    file = tmp_path / "c.json"
    words = [sys.executable, "-c", KILLED, str(file), "3", *(p for p in sys.path if p)]
    done = subprocess.run(
        words, capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert json.loads(file.read_text())["epochs_done"] == 2
    undisturbed = small("attn-din", epochs=5).fit(train, valid=valid)
    resumed = small("attn-din", epochs=5).fit(train, valid=valid, checkpoint=file)
    for name, weights in undisturbed.model_.weights.items():
        assert weights.tobytes() == resumed.model_.weights[name].tobytes(), name
    assert resumed.history_ == undisturbed.history_
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_a_run_goes_on_from_every_epoch(train, valid, tmp_path, optimizer, epoch, monkeypatch):
    from rankwood.neural.run import NeuralRun

    how = {"optimizer": optimizer, "schedule": "cosine", "epochs": 4, "early_stopping_rounds": 3}
    undisturbed = small(**how).fit(train, valid=valid)
    one, calls = NeuralRun._epoch, []

    def stopped(self):
        if len(calls) == epoch:
            raise RuntimeError("a fault")
        calls.append(1)
        one(self)

    with monkeypatch.context() as patch:
        patch.setattr(NeuralRun, "_epoch", stopped)
        if epoch < 4:
            with pytest.raises(RuntimeError, match="a fault"):
                small(**how).fit(train, valid=valid, checkpoint=tmp_path / "c.json")
        else:
            small(**how).fit(train, valid=valid, checkpoint=tmp_path / "c.json")
    resumed = small(**how, n_jobs=2).fit(train, valid=valid, checkpoint=tmp_path / "c.json")
    assert resumed.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()
    assert (resumed.history_, resumed.stopped_) == (undisturbed.history_, undisturbed.stopped_)


def test_checkpoints_of_other_runs(train, valid, tmp_path):
    path = tmp_path / "c.json"
    small(epochs=1).fit(train, checkpoint=path)
    with pytest.raises(rw.InputError, match=r"holds a checkpoint.*: give it as checkpoint='.*'\.$"):
        rw.NeuralRanker.load(path)
    before = path.read_bytes()
    cases = [
        (
            small(epochs=1, learning_rate=0.5),
            train,
            None,
            "with learning_rate=None, and now it is 0.5",
        ),
        (small(epochs=1), valid, None, "to a run on other data"),
        (small(epochs=1), train, valid, "to a run on other data"),
    ]
    for ranker, data, other, message in cases:
        with pytest.raises(rw.InputError, match=message):
            ranker.fit(data, valid=other, checkpoint=path)
    assert path.read_bytes() == before
    with pytest.raises(rw.InputError, match="there is no directory"):
        small().fit(train, checkpoint=tmp_path / "no" / "c.json")
    with pytest.raises(rw.InputError, match="holds a NeuralRanker, not a checkpoint"):
        small(epochs=1).fit(train).save(path)
        small(epochs=1).fit(train, checkpoint=path)


@pytest.mark.parametrize("ideal", ["full", "list"])
def test_networks_as_stages(train, valid, tmp_path, ideal):
    trees = rw.Ranker("softmax", n_estimators=3, num_leaves=4, n_jobs=1)
    for first, second in (
        (trees, small("setrank")),
        (small(), trees),
        (small(), small("attn-din")),
    ):
        model = rw.TwoStage(first, second, top=5, folds=2, ideal=ideal, verbose=False)
        model.fit(train, valid=valid).save(tmp_path / "two.json")
        loaded = rw.TwoStage.load(tmp_path / "two.json")
        assert loaded.predict(valid).tobytes() == model.predict(valid).tobytes()
        assert [type(r) for r in loaded.first_] == [type(first)] * 2
        assert type(loaded.second_) is type(loaded.second) is type(second)
        assert 0 < model.score(valid) <= 1
    with pytest.raises(rw.InputError, match="in second, networks score documents"):
        rw.TwoStage(trees, small(objective="bi-softmax"), folds=2).fit(train)
    with pytest.raises(rw.InputError, match="in second, a stage can't be a TwoStage"):
        rw.TwoStage(trees, rw.TwoStage(), folds=2).fit(train)


@pytest.fixture
def call(capsys, train, valid, monkeypatch, tmp_path):
    (tmp_path / "in").mkdir()
    rw.save_letor(train, tmp_path / "in" / "train.txt")
    rw.save_letor(valid, tmp_path / "in" / "valid.txt")
    monkeypatch.chdir(tmp_path)
    return caller(capsys, tmp_path / "in")


def test_the_command_line(call, valid):
    pytest.importorskip("safetensors")
    words = "train @train.txt --valid @valid.txt --engine neural --objective softmax --architecture attn-din "
    words += "--n-estimators 3 --param hidden=16 --param layers=1 --param size=8 --threads 1 --model m.json"
    code, _, err = call(words)
    assert (code, err) == (0, "")
    assert tuple(rw.NeuralRanker.load("m.json").hidden) == (16,)
    found = answer(call(words.replace("hidden=16", "hidden=16,8") + " --checkpoint c.json --json"))
    assert (found["engine"], found["rounds"], found["n_estimators"]) == ("neural", 3, 3)
    code, out, _ = call("predict m.json @valid.txt")
    loaded = rw.NeuralRanker.load("m.json")
    data = rw.load_letor("in/valid.txt")
    assert [float(line) for line in out.splitlines()] == loaded.predict(data).tolist()
    mean = answer(call("evaluate @valid.txt m.json --metric ndcg@10 --json"))["metrics"]["ndcg@10"]
    assert mean == pytest.approx(loaded.score(data), abs=1e-12)
    call(
        "train @train.txt --model t.json --objective softmax --n-estimators 3 --num-leaves 4 --threads 1"
    )
    both = answer(call("compare @valid.txt m.json t.json --metric ndcg@10 --json"))
    assert {"m", "t"} <= set(str(both).replace("'", " ").split())
    code, out, err = call("report @valid.txt m.json t.json --output r.html")
    assert (code, err) == (0, "")
    page = Path("r.html").read_text()
    assert "NeuralRanker" in page and "epochs" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--engine neural --num-leaves 7", "--num-leaves is of trees"),
        ("--engine neural --record seconds", "networks have no record"),
        ("--engine neural --param trees=3", "a network has no parameter 'trees'"),
        ("--engine neural --architecture din", "unknown architecture 'din'"),
        ("--engine neural --objective bi-softmax", "leave out bi-"),
        ("--architecture dnn", "--architecture is of networks"),
    ],
)
def test_command_lines_that_make_no_sense(call, words, message):
    assert message in complaint(call(f"train @train.txt --model m.json {words}"))


def test_ranker_names_the_class_of_networks():
    with pytest.raises(rw.InputError, match="networks are trained by NeuralRanker"):
        rw.Ranker(engine="neural").fit(some_data())
