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
from rankwood._util.envelope import write_content
from rankwood.neural.learner import NetworkLearner
from rankwood.neural.tensors import from_text, to_text
from rankwood.report.card import read_card
from tests.helpers.cli_calls import answer, caller, complaint
from tests.helpers.small_networks import SMALL, small, some_data


def changed(path, **fields):
    """Return a copy of a file with other fields and a checksum that is right."""
    content = json.loads(Path(path).read_text())
    for name in ("format", "format_version", "rankwood", "sha256"):
        del content[name]
    kind = content.pop("kind")
    write_content({**content, **fields}, f"{path}.changed", kind)
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
    assert loaded.hidden == list(small().hidden) and loaded.random_state == small().random_state
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
from tests.helpers.small_networks import small, some_data
import rankwood as rw
from rankwood.fit.files.run_file import RunFile
write, kills = RunFile.write, int(sys.argv[2])
def killed(self, content, run):
    if run["rounds"] == kills:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, content, run)
RunFile.write = killed
file = rw.Checkpoint(sys.argv[1], rounds=1)
small("attn-din", epochs=5).fit(some_data(), valid=some_data(1), checkpoint=file)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_resumes(train, valid, tmp_path):
    """Whatever is lost with the process, the next one ends with the same weights."""
    file = tmp_path / "c.json"
    words = [sys.executable, "-c", KILLED, str(file), "3", *(p for p in sys.path if p)]
    done = subprocess.run(
        words, capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert json.loads(file.read_text())["run"]["rounds"] == 2
    undisturbed = small("attn-din", epochs=5).fit(train, valid=valid)
    resumed = small("attn-din", epochs=5).fit(train, valid=valid, checkpoint=file)
    for name, weights in undisturbed.model_.weights.items():
        assert weights.tobytes() == resumed.model_.weights[name].tobytes(), name
    assert resumed.history_ == undisturbed.history_
    assert resumed.result_.resumed_after == 2
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_a_run_resumes_from_every_epoch(train, valid, tmp_path, optimizer, epoch, monkeypatch):
    from rankwood.neural.learner import NetworkLearner

    how = {"optimizer": optimizer, "schedule": "cosine", "epochs": 4, "early_stopping_rounds": 3}
    undisturbed = small(**how).fit(train, valid=valid)
    step, calls = NetworkLearner.step, []

    def stopped(self, gradients):
        if len(calls) == epoch:
            raise RuntimeError("a fault")
        calls.append(1)
        return step(self, gradients)

    with monkeypatch.context() as patch:
        patch.setattr(NetworkLearner, "step", stopped)
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
    ranker = small(epochs=1).fit(train, checkpoint=path)
    loaded = rw.NeuralRanker.load(path)  # a checkpoint is a model file with one more field
    assert loaded.predict(train).tobytes() == ranker.predict(train).tobytes()
    before = path.read_bytes()
    cases = [
        (
            small(epochs=1, learning_rate=0.5),
            train,
            None,
            "with learning_rate=None, and now it is 0.5",
        ),
        (small(epochs=1), valid, None, "to a run on other training data"),
        (small(epochs=1), train, valid, "to a run with other sets of validation data"),
    ]
    for ranker, data, other, message in cases:
        with pytest.raises(rw.InputError, match=message):
            ranker.fit(data, valid=other, checkpoint=path)
    assert path.read_bytes() == before
    with pytest.raises(rw.InputError, match="there is no directory"):
        small().fit(train, checkpoint=tmp_path / "no" / "c.json")
    with pytest.raises(rw.InputError, match="is a model, not a checkpoint: give another file"):
        small(epochs=1).fit(train).save(path)
        small(epochs=1).fit(train, checkpoint=path)


class Fault(Exception):
    """Ends a run as no one has planned."""


def fails_after(epochs):
    """Return a callback that ends a run with an error after some epochs."""

    def callback(round):
        if round.number == epochs:
            raise Fault

    return callback


def rounds_in(path):
    """Return the number of epochs of the run in a checkpoint."""
    return json.loads(Path(path).read_text())["run"]["rounds"]


def test_resume_must_and_never(train, tmp_path):
    path = tmp_path / "c.json"
    with pytest.raises(rw.InputError, match=r"there is no checkpoint .*c\.json to resume from"):
        small(epochs=1).fit(train, checkpoint=rw.Checkpoint(path, resume="must"))
    assert not path.exists()
    small(epochs=2).fit(train, checkpoint=path)
    undisturbed = small(epochs=3).fit(train)
    resumed = small(epochs=3).fit(train, checkpoint=rw.Checkpoint(path, resume="must"))
    assert resumed.result_.resumed_after == 2
    assert resumed.predict(train).tobytes() == undisturbed.predict(train).tobytes()
    # A run that starts anew need not suit the file.
    other = small(epochs=1, learning_rate=0.5).fit(
        train, checkpoint=rw.Checkpoint(path, resume="never")
    )
    assert other.result_.resumed_after == 0 and rounds_in(path) == 1
    assert rw.NeuralRanker.load(path).predict(train).tobytes() == other.predict(train).tobytes()


@pytest.mark.parametrize(
    ("how", "written"),
    [({"rounds": 2}, [2, 4, 5]), ({"seconds": 0}, [1, 2, 3, 4, 5]), ({"seconds": 3600}, [5])],
)
def test_how_often_a_checkpoint_of_a_network_is_written(train, tmp_path, monkeypatch, how, written):
    from rankwood.fit.files.run_file import RunFile

    write, rounds = RunFile.write, []

    def noted(self, content, run):
        rounds.append(run["rounds"])
        write(self, content, run)

    monkeypatch.setattr(RunFile, "write", noted)
    small(epochs=5).fit(train, checkpoint=rw.Checkpoint(tmp_path / "c.json", **how))
    assert rounds == written and rounds_in(tmp_path / "c.json") == 5


def test_an_error_writes_the_epochs_that_are_complete(train, valid, tmp_path):
    path = tmp_path / "c.json"
    with pytest.raises(Fault):
        small(epochs=5).fit(
            train, valid=valid, checkpoint=rw.Checkpoint(path, rounds=4), callbacks=[fails_after(3)]
        )
    assert rounds_in(path) == 3
    undisturbed = small(epochs=5).fit(train, valid=valid)
    resumed = small(epochs=5).fit(train, valid=valid, checkpoint=path)
    assert resumed.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()


def test_a_run_that_a_callback_ended_resumes(train, valid, tmp_path):
    path = tmp_path / "c.json"
    ended = small(epochs=4).fit(
        train, valid=valid, checkpoint=path, callbacks=[lambda round: round.number == 2]
    )
    assert ended.stopped_ == "callback" and rounds_in(path) == 2
    undisturbed = small(epochs=4).fit(train, valid=valid)
    resumed = small(epochs=4).fit(train, valid=valid, checkpoint=path)
    assert (resumed.stopped_, resumed.history_) == ("epochs", undisturbed.history_)
    assert resumed.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()


def test_two_runs_on_one_checkpoint(train, tmp_path):
    pytest.importorskip("fcntl")
    path, complaints = tmp_path / "c.json", []

    def second_run(round):
        with pytest.raises(rw.InputError, match=f"another run .process {os.getpid()}.") as error:
            small(epochs=3).fit(train, checkpoint=path)
        complaints.append(str(error.value))

    small(epochs=2).fit(train, checkpoint=path, callbacks=[second_run])
    assert len(complaints) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]  # the lock is gone
    assert small(epochs=3).fit(train, checkpoint=path).result_.resumed_after == 2


def test_a_full_disk_does_not_end_training(train, valid, tmp_path, monkeypatch):
    from rankwood.fit.files import run_file

    path = tmp_path / "c.json"
    small(epochs=1).fit(train, valid=valid, checkpoint=path)
    before = path.read_bytes()

    def full(content, path, kind):
        raise rw.InputError(f"{path} can't be written: No space left on device.")

    monkeypatch.setattr(run_file, "write_content", full)
    with pytest.warns(RuntimeWarning) as warned:
        ranker = small(epochs=4).fit(train, valid=valid, checkpoint=rw.Checkpoint(path, rounds=1))
    (warning,) = warned
    assert "training continues" in str(warning.message) and "No space left" in str(warning.message)
    undisturbed = small(epochs=4).fit(train, valid=valid)
    assert ranker.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()
    assert path.read_bytes() == before


def test_a_checkpoint_with_more_epochs_than_are_to_be_trained(train, tmp_path):
    path = tmp_path / "c.json"
    small(epochs=3).fit(train, checkpoint=path)
    before = path.read_bytes()
    ranker = small(epochs=2)
    with pytest.raises(
        rw.InputError, match=r"has done 3 rounds, more than epochs=2: .*larger epochs"
    ):
        ranker.fit(train, checkpoint=path)
    assert not hasattr(ranker, "result_") and path.read_bytes() == before


def test_other_schedules_depend_on_the_number_of_epochs(train, tmp_path):
    path = tmp_path / "c.json"
    small(epochs=2, schedule="cosine").fit(train, checkpoint=path)
    with pytest.raises(rw.InputError, match="with epochs=2, and now it is 3"):
        small(epochs=3, schedule="cosine").fit(train, checkpoint=path)


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


def test_stages_resume(train, valid, tmp_path):
    def stages():
        second = small("attn-din", epochs=4)
        return rw.TwoStage(small(epochs=3), second, top=5, folds=2, verbose=False)

    def fails(round):
        if (round.stage, round.number) == ("second", 2):
            raise Fault

    path = tmp_path / "c.json"
    with pytest.raises(Fault):
        stages().fit(train, valid=valid, checkpoint=path, callbacks=[fails])
    resumed, undisturbed = (
        stages().fit(train, valid=valid, checkpoint=path),
        stages().fit(train, valid=valid),
    )
    assert [ranker.resumed_after_ for ranker in (*resumed.first_, resumed.second_)] == [3, 3, 2]
    assert resumed.predict(valid).tobytes() == undisturbed.predict(valid).tobytes()
    assert resumed.second_.history_ == undisturbed.second_.history_


def test_the_module_is_a_copy(train, tmp_path):
    ranker = small(epochs=1).fit(train)
    scores = ranker.predict(train)
    ranker.save(tmp_path / "m.json")
    for weights in ranker.module_.parameters():
        weights.data.fill_(0.0)
    assert ranker.predict(train).tobytes() == scores.tobytes()
    ranker.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


@pytest.fixture
def call(capsys, train, valid, monkeypatch, tmp_path):
    (tmp_path / "in").mkdir()
    rw.save_letor(train, tmp_path / "in" / "train.txt")
    rw.save_letor(valid, tmp_path / "in" / "valid.txt")
    monkeypatch.chdir(tmp_path)
    return caller(capsys, tmp_path / "in")


@pytest.mark.slow
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
        (
            "--engine neural --num-leaves 7",
            "--num-leaves applies to trees and can't be combined with --engine neural",
        ),
        ("--engine neural --record seconds", "networks have no record"),
        ("--engine neural --param trees=3", "a network has no parameter 'trees'"),
        ("--engine neural --architecture din", "unknown architecture 'din'"),
        ("--engine neural --objective bi-softmax", "omit bi-"),
        ("--architecture dnn", "--architecture needs --engine neural"),
    ],
)
def test_command_lines_that_make_no_sense(call, words, message):
    assert message in complaint(call(f"train @train.txt --model m.json {words}"))


def test_ranker_names_the_class_of_networks():
    with pytest.raises(rw.InputError, match="networks are trained by NeuralRanker"):
        rw.Ranker(engine="neural").fit(some_data())


def test_an_interrupt_within_an_epoch_keeps_the_epochs_before(train, valid, tmp_path, monkeypatch):
    whole = small(epochs=6, early_stopping_rounds=None).fit(train, valid=valid)
    steps = NetworkLearner._steps

    def interrupted(self):
        done = steps(self)  # the weights have moved, and the epoch isn't complete
        if self._epochs == 4:
            raise KeyboardInterrupt
        return done

    file = rw.Checkpoint(tmp_path / "run", rounds=3)
    monkeypatch.setattr(NetworkLearner, "_steps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small(epochs=6, early_stopping_rounds=None).fit(train, valid=valid, checkpoint=file)
    monkeypatch.undo()
    assert json.loads((tmp_path / "run").read_text())["run"]["rounds"] == 4
    resumed = small(epochs=6, early_stopping_rounds=None).fit(train, valid=valid, checkpoint=file)
    assert resumed.resumed_after_ == 4
    assert resumed.predict(valid).tobytes() == whole.predict(valid).tobytes()


def test_a_checkpoint_of_another_revision(train, tmp_path):
    path = tmp_path / "c.json"
    small(epochs=2).fit(train, checkpoint=path)
    run = json.loads(path.read_text())["run"]
    state = json.loads(run["state"])
    del state["revision"]  # as 0.4 wrote it
    os.replace(changed(path, run={**run, "state": json.dumps(state)}), path)
    with pytest.raises(rw.InputError, match="of a network as earlier versions built it"):
        small(epochs=4).fit(train, checkpoint=path)
