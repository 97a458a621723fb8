"""The file of a study: it resumes after SIGKILL, and belongs to one study."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import rankwood as rw
from rankwood.tuning.identity import StudyIdentity
from rankwood.tuning.store import StudyStore
from tests.helpers.paths import ROOT
from tests.helpers.small_study import SPACE, data, ranker, refused, same, study

TRIALS = 12
KILLED = f"""
from tests.helpers import small_study
small_study.study(storage={{path!r}}, tuner={{tuner!r}}, trials={TRIALS})
"""


#: Forks a process for each try and kills it, so that the package is imported once.
KILLED_OFTEN = f"""
import os, random, signal, sys, time
import lightgbm, optuna
from tests.helpers import small_study
path, kills = sys.argv[1], int(sys.argv[2])
draw, killed = random.Random(7), 0
while True:
    child = os.fork()
    if child == 0:
        small_study.study(storage=path, tuner="tpe", trials={TRIALS})
        os._exit(0)
    if killed == kills:
        break
    time.sleep(draw.uniform(0.05, 0.6))
    os.kill(child, signal.SIGKILL)
    killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
assert os.waitpid(child, 0)[1] == 0
"""


def count(path):
    if not path.exists():
        return 0
    with sqlite3.connect(path) as file:
        return file.execute("select count(*) from trials").fetchone()[0]


@pytest.mark.slow
def test_killed_studies_go_on(tmp_path):
    pytest.importorskip("optuna")
    path, tuner = tmp_path / "study.db", "tpe"
    code = KILLED.format(path=str(path), tuner=tuner)
    folders = [
        os.path.dirname(os.path.dirname(rw.__file__)),
        str(ROOT),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        while count(path) < 3 and process.poll() is None:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = count(path)
    assert 3 <= kept <= TRIALS
    resumed = study(storage=path, tuner=tuner, trials=TRIALS)
    assert count(path) == TRIALS
    assert same(resumed, study(tuner=tuner, trials=TRIALS))


@pytest.mark.slow
def test_ten_kills_at_random_moments_change_nothing(tmp_path):
    path = tmp_path / "study.db"
    folders = [
        os.path.dirname(os.path.dirname(rw.__file__)),
        str(ROOT),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", KILLED_OFTEN, str(path), "10"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert count(path) == TRIALS
    # Nothing is left to run, so that this is what the killed processes wrote.
    assert same(study(storage=path, tuner="tpe", trials=TRIALS), study(tuner="tpe", trials=TRIALS))


@pytest.mark.slow
@pytest.mark.parametrize("tuner", ["random", "tpe", "cfo", "random+gp"])
def test_studies_go_on_at_any_trial(tmp_path, tuner):
    path, whole = tmp_path / "study.db", study(tuner=tuner, trials=6)
    for trials in (2, 3, 6, 4):  # fewer than there are: nothing is run or lost
        resumed = study(storage=path, tuner=tuner, trials=trials)
    assert len(resumed.trials) == 6
    if tuner == "random+gp":  # the number of random trials is that of the first call
        assert resumed.trials["num_leaves"][:2].tolist() == whole.trials["num_leaves"][:2].tolist()
    else:
        assert same(resumed, whole)
    assert list(tmp_path.iterdir()) == [path]  # no temporary file is left


def test_pruned_and_failed_trials_are_resumed(tmp_path):
    path = tmp_path / "study.db"
    space = {"learning_rate": rw.spaces.Choice(0.3, 1e-9), "max_bin": rw.spaces.Choice(63, 31, -1)}
    how = {"space": space, "pruner": "median", "tuner": "tpe", "trials": 14}
    whole = study(**how)
    study(storage=path, **{**how, "trials": 9})
    assert set(whole.trials["state"]) == {"complete", "pruned", "failed"}
    resumed = study(storage=path, **how)
    names = ["number", "state", "rounds", "learning_rate", "max_bin", "message"]
    assert resumed.trials[names].tolist() == whole.trials[names].tolist()
    assert resumed.best.model_.text == whole.best.model_.text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"space": {**SPACE, "num_leaves": rw.spaces.Integer(2, 16)}}, "space"),
        ({"metric": "ndcg@3"}, "metric"),
        ({"empty": 1}, "metric"),
        ({"tuner": "tpe"}, "tuner"),
        ({"seed": 1}, "seed"),
        ({"pruner": "median"}, "pruner"),
    ],
)
def test_files_of_other_studies_are_refused(tmp_path, change, what):
    path = tmp_path / "study.db"
    study(storage=path, trials=1)
    before = path.read_bytes()
    with refused(f"has a study with another {what}; give another name"):
        study(storage=path, **change)
    assert path.read_bytes() == before


def test_other_data_and_rankers_are_refused(tmp_path):
    path = tmp_path / "study.db"
    train, valid = data()
    how = {"space": SPACE, "tuner": "random", "trials": 1, "storage": path}
    rw.tune(ranker(), train, valid, **how)
    rw.tune(ranker(n_jobs=2, verbose=False), train, valid, **how)  # these change nothing
    with refused("another data;"):
        rw.tune(ranker(), train, train, **how)
    with refused("another ranker (n_estimators is 10 there and 11 here); give another name"):
        rw.tune(ranker(n_estimators=11), train, valid, **how)


def test_files_that_are_no_study(tmp_path):
    import optuna

    text = tmp_path / "text.db"
    text.write_text("no database\n" * 100)
    with refused("not the file of a study"):
        study(storage=text)
    assert text.read_text().startswith("no database")
    other = tmp_path / "other.db"
    optuna.create_study(storage=f"sqlite:///{other}", study_name="rankwood")
    with refused("a study that rankwood didn't begin"):
        study(storage=other)
    with refused("there is no directory"):
        study(storage=tmp_path / "nowhere" / "study.db")


@pytest.mark.parametrize("name", ["100%.db", "a%41.db", "why?.db", "x#1.db", "a b.db"])
def test_odd_names_of_files(tmp_path, name):
    study(storage=tmp_path / name, trials=1)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert len(study(storage=os.fsencode(tmp_path / name), trials=2).trials) == 2
    assert count(tmp_path / name) == 2


@pytest.mark.parametrize("path", ["", 5])
def test_no_names_of_files(path):
    with refused(f"storage must be the name of a file, such as 'study.db', got {path!r}."):
        study(storage=path)


def test_two_writers(tmp_path):
    path, about = tmp_path / "study.db", StudyIdentity({"space": "x"})
    one, two = (StudyStore(path, about, "maximize", {}) for _ in range(2))
    for store in (one, two):
        trial = store.study.ask()
        store.study.tell(trial, 1.0)
    one.keep()
    with refused("being written by another process"):
        two.keep()


def test_optuna_reads_the_file(tmp_path):
    import optuna

    path = tmp_path / "study.db"
    tuning = study(storage=path, trials=3)
    found = optuna.load_study(storage=f"sqlite:///{path}", study_name=None)
    assert [trial.value for trial in found.trials] == tuning.trials["value"].tolist()
    assert found.best_trial.params == tuning.best_params


def test_full_disks(tmp_path, monkeypatch):
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import OperationalError

    path = tmp_path / "study.db"
    study(storage=path, trials=2)

    def full(*args, **how):
        raise OperationalError("insert", {}, Exception("database or disk is full"))

    with monkeypatch.context() as patch:
        patch.setattr(RDBStorage, "_create_new_trial", full)
        with refused("can't be written (database or disk is full); the trials that are in it stay"):
            study(storage=path, trials=4)
    assert count(path) == 2
    assert same(study(storage=path, trials=4), study(trials=4))


def test_own_pruners_are_remembered_by_kind(tmp_path):
    from optuna.pruners import PercentilePruner, ThresholdPruner

    path = tmp_path / "study.db"
    for _ in range(2):
        study(storage=path, trials=1, pruner=PercentilePruner(25.0))
    with refused("another pruner"):
        study(storage=path, trials=1, pruner=ThresholdPruner(lower=0.1))
