"""Checkpoints: a run that was cut off goes on to the same model file, but for its seconds."""

import json
import os
import subprocess
import sys

import lightgbm
import numpy as np
import pytest
import xgboost

import rankwood as rw
from rankwood._util.envelope import write_content
from rankwood.engines.pairtree import forest
from rankwood.fit.files import run_file
from rankwood.objectives.families.registry import OBJECTIVES

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
def test_same_model_after_several_breaks(kind, data, tmp_path):
    train, valid = data
    whole = ranker(kind).fit(train, valid=valid)
    file = tmp_path / "run.ckpt"
    before = 0
    for rounds in (1, 4, ROUNDS - 1, ROUNDS):
        fitted = ranker(kind, rounds).fit(train, valid=valid, checkpoint=file)
        assert fitted.resumed_after_ == before
        before = rounds
    assert written(fitted, tmp_path / "a") == written(whole, tmp_path / "b")
    assert rw.Ranker.load(file).predict(valid).tobytes() == whole.predict(valid).tobytes()


@pytest.mark.parametrize("kind", ["lightgbm", "langevin", "xgboost", "pairtree"])
@pytest.mark.parametrize("grown", [False, True])
def test_an_interrupt_in_a_round_leaves_the_rounds_before_it(
    kind, grown, data, tmp_path, monkeypatch
):
    """Python sees Ctrl-C when the engine returns: the tree of the round may be there, or not."""
    train, valid = data
    whole = ranker(kind).fit(train, valid=valid)
    owner, name = {
        "xgboost": (xgboost.Booster, "update"),
        "pairtree": (forest.PairForest, "add"),
    }.get(kind, (lightgbm.Booster, "update"))
    real, calls = getattr(owner, name), []

    def interrupted(*given, **named):
        calls.append(None)
        if len(calls) == 4 and grown:
            real(*given, **named)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*given, **named)

    file = tmp_path / "run.ckpt"
    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker(kind).fit(train, valid=valid, checkpoint=file)
    monkeypatch.undo()
    again = ranker(kind).fit(train, valid=valid, checkpoint=file)
    assert again.resumed_after_ == 3
    assert written(again, tmp_path / "a") == written(whole, tmp_path / "b")


def test_an_interrupt_in_the_first_resumed_round(data, tmp_path, monkeypatch):
    train, _ = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 2).fit(train, checkpoint=file)

    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(lightgbm, "train", interrupted)
    before = file.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        ranker("lightgbm").fit(train, checkpoint=file)
    assert file.read_bytes() == before


def test_a_run_that_a_callback_ended_goes_on(data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm").fit(train, checkpoint=file, callbacks=[lambda done: done.number == 3])
    assert json.loads(file.read_text())["run"]["ends"] == "callback"
    again = ranker("lightgbm").fit(train, checkpoint=file)
    assert (again.best_iteration_, again.resumed_after_) == (ROUNDS, 3)


def test_the_working_directory_may_change(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inside").mkdir()
    train, _ = data
    ranker("lightgbm", 3).fit(
        train,
        checkpoint=rw.Checkpoint("run.ckpt", rounds=1),
        callbacks=[lambda done: os.chdir(tmp_path / "inside")],
    )
    assert json.loads((tmp_path / "run.ckpt").read_text())["run"]["rounds"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside", "run.ckpt"]


def test_resume_chooses(data, tmp_path, monkeypatch):
    train, _ = data
    file = tmp_path / "run.ckpt"
    with pytest.raises(rw.InputError, match="there is no checkpoint"):
        ranker("lightgbm").fit(train, checkpoint=rw.Checkpoint(file, resume="must"))
    ranker("lightgbm", 2).fit(train, checkpoint=file)
    never = ranker("lightgbm", 3).fit(train, checkpoint=rw.Checkpoint(file, resume="never"))
    assert never.resumed_after_ == 0
    monkeypatch.setattr(run_file, "version_of", lambda package: "0.1")
    with pytest.raises(rw.InputError, match=r"to a run with lightgbm='\d.*set resume='force'"):
        ranker("lightgbm").fit(train, checkpoint=file)
    force = ranker("lightgbm", 4).fit(train, checkpoint=rw.Checkpoint(file, resume="force"))
    assert force.resumed_after_ == 3


def test_early_stopping_goes_on_too(data, tmp_path):
    train, valid = data
    settings = {"learning_rate": 0.5, "early_stopping_rounds": 4}
    whole = ranker("lightgbm", 60, **settings).fit(train, valid=valid)
    done = len(whole.history_["ndcg@10"])
    assert whole.best_iteration_ + 4 == done < 60
    for k in (1, whole.best_iteration_ + 1, done):
        file = tmp_path / f"{k}.ckpt"
        ranker("lightgbm", k, **settings).fit(train, valid=valid, checkpoint=file)
        again = ranker("lightgbm", 60, **settings).fit(train, valid=valid, checkpoint=file)
        assert written(again, tmp_path / "a") == written(whole, tmp_path / "b")


def test_a_run_that_has_ended_is_read_and_may_be_prolonged(data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"
    first = ranker("lightgbm").fit(train, checkpoint=file)
    before = file.read_bytes()
    calls = []
    again = ranker("lightgbm", n_jobs=2).fit(train, checkpoint=file, callbacks=[calls.append])
    assert calls == [] and file.read_bytes() == before
    assert again.predict(train).tobytes() == first.predict(train).tobytes()
    assert again.get_params()["n_jobs"] == 2
    ranker("lightgbm", ROUNDS + 2).fit(train, checkpoint=file, callbacks=[calls.append])
    assert [done.number for done in calls] == [ROUNDS + 1, ROUNDS + 2]


def test_two_stages_keep_each_run(data, tmp_path):
    train, valid = data
    file = tmp_path / "run.ckpt"

    def model():
        return rw.TwoStage(
            ranker("lightgbm", 4), ranker("pairtree", 3), top=5, folds=2, verbose=False
        )

    whole = model().fit(train, valid=valid)

    class Killed(Exception):
        pass

    def kill(done):
        if done.stage == "second" and done.number == 2:
            raise Killed

    with pytest.raises(Killed):
        model().fit(train, valid=valid, checkpoint=rw.Checkpoint(file, rounds=1), callbacks=[kill])
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "run.ckpt.fold-1",
        "run.ckpt.fold-2",
        "run.ckpt.second",
    ]
    seen = []
    again = model().fit(train, valid=valid, checkpoint=file, callbacks=[seen.append])
    assert [(done.stage, done.number) for done in seen] == [("second", 3)]
    for fitted in (again, rw.TwoStage.load(file)):
        assert fitted.predict(valid).tobytes() == whole.predict(valid).tobytes()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"num_leaves": 9}, "num_leaves=7, and now it is 9"),
        ({"rounds": 1}, "has done 2 rounds, more than n_estimators=1"),
        ({"objective": "softmax"}, "objective='lambdarank-ndcg@10', and now it is 'softmax'"),
        ({"engine": "catboost", "objective": "yetirank"}, "keeps no checkpoint"),
    ],
)
def test_other_parameters_are_refused(change, match, data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 2).fit(train, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(rw.InputError, match=match):
        ranker("lightgbm", **change).fit(train, checkpoint=file)
    assert file.read_bytes() == before


def test_a_name_that_means_something_else_is_refused(data, tmp_path):
    train, _ = data
    file, name = tmp_path / "run.ckpt", "checkpoint-own"
    try:
        rw.extend.register_objective(name)(lambda: rw.objective("lambdarank-ndcg@5"))
        ranker("lightgbm", 2, objective=name).fit(train, checkpoint=file)
        assert ranker("lightgbm", 3, objective=name).fit(train, checkpoint=file).resumed_after_ == 2
        change = rw.extend.register_objective(name, replace=True)
        change(lambda: rw.objective("lambdarank-ndcg@3"))
        before = file.read_bytes()
        with pytest.raises(
            rw.InputError, match=r"whose objective was .*k=5.*, and now it is .*k=3"
        ):
            ranker("lightgbm", 4, objective=name).fit(train, checkpoint=file)
        assert file.read_bytes() == before
    finally:
        OBJECTIVES.pop(name, None)


@pytest.mark.parametrize(
    ("kind", "how", "match"),
    [
        ("lightgbm", {"boosting": "dart"}, "with boosting='dart' can't be resumed: later rounds"),
        ("lightgbm", {"linear_tree": True, "extra_trees": False}, "with linear_tree"),
        ("lightgbm", {"data_sample_strategy": "goss"}, "goss"),
        ("xgboost", {"booster": "dart"}, "with booster='dart'"),
        ("xgboost", {"colsample_bynode": 0.5}, "with colsample_bynode"),
        ("xgboost", {"sampling_method": "gradient_based", "subsample": 0.5}, "gradient_based"),
    ],
)
def test_runs_that_cannot_go_on_are_refused_at_once(kind, how, match, data, tmp_path):
    train, _ = data
    with pytest.raises(rw.InputError, match=match):
        ranker(kind, early_stopping_rounds=None, **how).fit(train, checkpoint=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_other_data_is_refused(data, tmp_path):
    train, valid = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 2).fit(train, valid=valid, checkpoint=file)
    y, X = train.y.copy(), train.X.copy()
    y[0] = 4 - y[0]
    X[-1, -1] += 1
    for other in (
        rw.RankingData(train.X, y, qid=train.qid),
        rw.RankingData(X, train.y, qid=train.qid),
    ):
        with pytest.raises(rw.InputError, match="on other training data"):
            ranker("lightgbm").fit(other, valid=valid, checkpoint=file)
    with pytest.raises(rw.InputError, match="on other validation data"):
        ranker("lightgbm").fit(train, valid=train, checkpoint=file)
    with pytest.raises(rw.InputError, match="other sets of validation data"):
        ranker("lightgbm").fit(train, checkpoint=file)
    file = tmp_path / "two.ckpt"
    ranker("lightgbm", 2).fit(train, valid={"a": valid, "b": train}, checkpoint=file)
    with pytest.raises(
        rw.InputError, match=r"with ndcg@10, b ndcg@10: give validation sets of the"
    ):
        ranker("lightgbm").fit(train, valid={"a": valid, "c": train}, checkpoint=file)
    with pytest.raises(rw.InputError, match="early_stopping_rounds=50, and 2 might have ended"):
        ranker("lightgbm", early_stopping_rounds=2).fit(
            train, valid={"a": valid, "b": train}, checkpoint=file
        )


def test_warm_start_is_refused(data, tmp_path):
    train, _ = data
    fitted = ranker("lightgbm", 2, warm_start=True).fit(train, checkpoint=tmp_path / "a")
    with pytest.raises(rw.InputError, match="can't be combined with warm_start"):
        fitted.set_params(n_estimators=4).fit(train, checkpoint=tmp_path / "a")


def test_files_that_are_no_checkpoint(data, tmp_path):
    train, _ = data
    file = tmp_path / "m.json"
    fitted = ranker("lightgbm", 2).fit(train)
    fitted.save(file)
    for content, match in (
        (file.read_bytes(), "is a model, not a checkpoint"),
        (b"{", "not JSON"),
        (b"", "JSON"),
    ):
        file.write_bytes(content)
        with pytest.raises(rw.InputError, match=match):
            ranker("lightgbm").fit(train, checkpoint=file)
        assert file.read_bytes() == content
    with pytest.raises(rw.InputError, match=r"no checkpoint .* to resume from"):
        ranker("lightgbm").fit(train, checkpoint=rw.Checkpoint(tmp_path / "none", resume="must"))
    with pytest.raises(rw.InputError, match="there is no directory"):
        ranker("lightgbm").fit(train, checkpoint=tmp_path / "no" / "c")
    for wrong in ({"resume": "often"}, {"rounds": 0}, {"seconds": -1}, {"seconds": "x"}):
        with pytest.raises(rw.InputError):
            rw.Checkpoint("c", **wrong)


def test_a_renamed_validation_set_is_refused(data, tmp_path):
    train, valid = data
    file = tmp_path / "run.ckpt"
    first = ranker("lightgbm", 2).fit(train, valid=valid, checkpoint=file)
    with pytest.raises(rw.InputError, match=r"run with ndcg@10: give validation sets of the same"):
        ranker("lightgbm").fit(train, valid={"recent": valid}, checkpoint=file)
    with pytest.raises(rw.InputError, match="give the same validation sets and metrics"):
        first.set_params(n_estimators=4, warm_start=True).fit(train, valid={"recent": valid})


def test_parameters_that_are_dictionaries(data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"
    settings = {"monotone": {2: 1, 10: np.int64(-1)}}
    ranker("lightgbm", 2, **settings).fit(train, checkpoint=file)
    again = ranker("lightgbm", 3, **settings).fit(train, checkpoint=file)
    assert again.resumed_after_ == 2
    again.save(tmp_path / "model")
    assert np.array_equal(rw.Ranker.load(tmp_path / "model").predict(train), again.predict(train))


def test_one_process_at_a_time(data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"

    def another(done):
        with pytest.raises(rw.InputError, match=r"another run \(process \d+\) trains"):
            ranker("lightgbm").fit(train, checkpoint=file)

    ranker("lightgbm", 1).fit(train, checkpoint=file, callbacks=[another])
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"]


def test_a_full_disk_does_not_end_training(data, tmp_path, monkeypatch):
    train, _ = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 1).fit(train, checkpoint=file)
    before = file.read_bytes()

    def full(*_):
        raise rw.InputError("run.ckpt can't be written: no space left on device.")

    monkeypatch.setattr(run_file, "write_content", full)
    with pytest.warns(RuntimeWarning, match="training continues") as caught:
        fitted = ranker("lightgbm", 4).fit(train, checkpoint=rw.Checkpoint(file, rounds=1))
    assert len(caught) == 1 and fitted.best_iteration_ == 4 and file.read_bytes() == before


_KILLED = """
import os, sys
import rankwood as rw
from rankwood.fit.files import model_file, run_file
from rankwood._util import atomic
real, left = os.replace, [int(sys.argv[2])]
def replace(*args):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), 9)
    real(*args)
    if left[0] == 1 and len(sys.argv) > 3:
        os.kill(os.getpid(), 9)
os.replace = replace
rw.Ranker(n_estimators=6, num_leaves=7, n_jobs=1).fit(
    rw.make_ranking(30, seed=2), checkpoint=rw.Checkpoint(sys.argv[1], rounds=1)
)
"""


@pytest.mark.slow
def test_kill_9_while_the_file_is_replaced(data, tmp_path):
    train, _ = data
    file = tmp_path / "run.ckpt"
    whole = ranker("lightgbm", 6).fit(train)
    for writes, after in ((2, []), (2, ["after"])):
        words = [sys.executable, "-c", _KILLED, str(file), str(writes), *after]
        assert subprocess.run(words).returncode == -9
        assert rw.Ranker.load(file).best_iteration_ >= 1
    again = ranker("lightgbm", 6).fit(train, checkpoint=file)
    assert written(again, tmp_path / "a") == written(whole, tmp_path / "b")


def test_a_finished_run_without_patience_keeps_all_rounds(data, tmp_path):
    """A run that kept its best round, resumed with early_stopping_rounds=None, is the run without early stopping."""
    train, valid = data
    params = {"num_leaves": 31, "learning_rate": 0.5, "min_child_samples": 1}
    file = tmp_path / "run.ckpt"
    first = ranker("lightgbm", 30, early_stopping_rounds=30, **params)
    first.fit(train, valid=valid, checkpoint=file)
    assert first.best_iteration_ < 30  # it overfits
    every = ranker("lightgbm", 30, early_stopping_rounds=None, **params)
    whole = every.fit(train, valid=valid).predict(valid)
    again = ranker("lightgbm", 30, early_stopping_rounds=None, **params)
    again.fit(train, valid=valid, checkpoint=file)
    assert again.best_iteration_ == 30 and again.resumed_after_ == 30
    assert again.predict(valid).tobytes() == whole.tobytes()


def test_a_checkpoint_that_names_the_default_engine(data, tmp_path):
    """No engine and the engine that is the default are one; files of 0.4 always name one."""
    train, _ = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 2, engine="lightgbm").fit(train, checkpoint=file)
    resumed = ranker("lightgbm", 4, engine=None).fit(train, checkpoint=file)
    assert resumed.resumed_after_ == 2
    assert (
        resumed.predict(train).tobytes()
        == ranker("lightgbm", 4).fit(train).predict(train).tobytes()
    )


def test_a_history_that_is_too_short(data, tmp_path):
    train, valid = data
    file = tmp_path / "run.ckpt"
    ranker("lightgbm", 3).fit(train, valid=valid, checkpoint=file)
    content = json.loads(file.read_text())
    for name in ("format", "format_version", "rankwood", "sha256", "kind"):
        del content[name]
    content["history"]["ndcg@10"].pop()
    write_content(content, file, "Ranker")
    with pytest.raises(rw.InputError, match="damaged: 'history' is shorter than 'rounds'"):
        ranker("lightgbm", 5).fit(train, valid=valid, checkpoint=file)
