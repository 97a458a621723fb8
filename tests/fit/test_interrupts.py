"""Ctrl-C at any moment of a fit: a small version of `benchmarks.interrupt_training`, and moments that were wrong."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import rankwood as rw
from rankwood.fit.files import checkpoint as checkpoints
from rankwood.objectives.gradients import GradientComputer
from rankwood.spaces import Choice

CAMPAIGN = """
import sys
from benchmarks.interrupt_training import run
found = run(sys.argv[1], 5, 12)
print(found.moments, found.died, *sorted(set(found.wrong)))
"""


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def data():
    return rw.make_ranking(30, seed=1).split(0.4, seed=1)


def small(engine="lightgbm", rounds=6, **more):
    objective = "bi-lambdarank-ndcg@5" if engine == "pairtree" else "yetirank"
    return rw.Ranker(objective, engine=engine, n_estimators=rounds, num_leaves=7, n_jobs=1, **more)


def test_an_interrupt_right_after_the_lock_was_taken_leaves_no_lock(data, tmp_path, monkeypatch):
    lock = checkpoints._lock

    def and_interrupt(*args):
        descriptor = lock(*args)
        interrupt()
        return descriptor

    monkeypatch.setattr(checkpoints, "_lock", and_interrupt)
    with pytest.raises(KeyboardInterrupt) as kept:  # as its traceback keeps what it has
        small().fit(data[0], checkpoint=tmp_path / "run.ckpt")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    small().fit(data[0], checkpoint=tmp_path / "run.ckpt")
    assert kept.value is not None


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost", "pairtree"])
def test_an_interrupt_within_a_round_comes_after_it(engine, data, tmp_path, monkeypatch):
    compute = GradientComputer.__call__

    def and_interrupt(self, scores, number):
        if number == 3:
            interrupt()
        return compute(self, scores, number)

    ranker = small(engine, early_stopping_rounds=None)
    monkeypatch.setattr(GradientComputer, "__call__", and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data[0], valid=data[1], checkpoint=tmp_path / "run.ckpt")
    monkeypatch.undo()
    assert ranker.best_iteration_ == len(ranker.history_["ndcg@10"]) == 4
    few = small(engine, 4, early_stopping_rounds=None).fit(data[0], valid=data[1])
    assert ranker.predict(data[1]).tobytes() == few.predict(data[1]).tobytes()
    again = small(engine, early_stopping_rounds=None)
    again.fit(data[0], valid=data[1], checkpoint=tmp_path / "run.ckpt")
    assert again.resumed_after_ == 4


def test_an_interrupt_while_xgboost_makes_its_matrices(data, monkeypatch):
    """XGBoost asks for batches from C, by ctypes: an exception there ended the process."""
    xgboost = pytest.importorskip("xgboost")
    reset = xgboost.data.SingleBatchInternalIter.reset

    def and_interrupt(self):
        interrupt()
        return reset(self)

    monkeypatch.setattr(xgboost.data.SingleBatchInternalIter, "reset", and_interrupt)
    ranker = small("xgboost")
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data[0])
    monkeypatch.undo()
    assert not hasattr(ranker, "result_")
    ranker.fit(data[0])
    assert (
        ranker.predict(data[1]).tobytes()
        == small("xgboost").fit(data[0]).predict(data[1]).tobytes()
    )


def test_a_callback_is_interrupted_at_once(data):
    def callback(done):
        if done.number == 2:
            interrupt()
            pytest.fail("the interrupt has to come before this line")

    ranker = small()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data[0], callbacks=[callback])
    assert ranker.best_iteration_ == 2


def test_an_interrupt_at_the_end_leaves_the_whole_model(data, monkeypatch):
    def and_interrupt(self, result):
        interrupt()
        return keep(self, result)

    keep = rw.Ranker._set_result
    monkeypatch.setattr(rw.Ranker, "_set_result", and_interrupt)
    ranker = small()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data[0])
    assert ranker.best_iteration_ == 6


def test_an_epoch_is_interrupted_between_two_batches(data, monkeypatch):
    pytest.importorskip("torch")
    from rankwood.neural.passes import PlainPass

    backward, calls = PlainPass.backward, []

    def and_interrupt(self, gradient):
        calls.append(gradient)
        if len(calls) == per_epoch + 2:
            interrupt()
        return backward(self, gradient)

    network = rw.NeuralRanker(epochs=3, hidden=(4,), batch_documents=64, device="cpu")
    monkeypatch.setattr(PlainPass, "backward", and_interrupt)
    per_epoch = 10**9
    network.fit(data[0])
    per_epoch = len(calls) // 3
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        network.fit(data[0])
    assert per_epoch > 3 and len(calls) == per_epoch + 2 and network.best_iteration_ == 1


def test_an_interrupted_study_has_its_trials_even_if_the_last_one_is_done(data, monkeypatch):
    pytest.importorskip("optuna")
    from rankwood.tuning.loop import Loop

    def and_interrupt(self):
        interrupt()
        return finished(self)

    finished = Loop._finished
    monkeypatch.setattr(Loop, "_finished", and_interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        rw.tune(
            small(), data[0], data[1], space={"num_leaves": Choice(3, 7)}, tuner="random", trials=2
        )
    assert np.isfinite(caught.value.tuning.trials["value"]).all()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("kind", ["lightgbm", "xgboost", "catboost", "pairtree", "cluster", "tune"])
def test_random_moments(kind):
    needed = {"cluster": "distributed", "tune": "optuna"}.get(kind, kind)
    if needed != "pairtree":
        pytest.importorskip(needed)
    done = subprocess.run(
        [sys.executable, "-c", CAMPAIGN, kind], capture_output=True, text=True, timeout=1200
    )
    assert done.stdout.split() == ["12", "0"], done.stdout + done.stderr
