"""The workers of a cluster as threads of one process: the same model for any number of them and any placement."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import rankwood as rw
from rankwood._kernels.numeric.rng import generator, generator_at, uniform_at, uniform_from
from rankwood.fit import loop
from rankwood.fit.files import model_file

pytest.importorskip("xgboost")
pytest.importorskip("distributed")
from rankwood.cluster.collective import start_tracker
from rankwood.cluster.digests import hashes_of
from rankwood.cluster.placing import deal
from rankwood.cluster.reporting import Subscription
from rankwood.cluster.worker import PartPlace, WorkerJob, train_on_worker

# XGBoost warns of sockets that are of no consequence here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")

TRAIN, VALID = rw.make_ranking(24, seed=1), rw.make_ranking(9, seed=2)


def ranker(objective, **params):
    params = {
        "n_estimators": 5,
        "early_stopping_rounds": 2,
        "n_jobs": 1,
        "verbose": False,
        **params,
    }
    return rw.Ranker(objective, engine="xgboost", **params)


NOTHING = Subscription("a run")


def pieces(data, cuts):
    """Parts of whole queries, and where they begin."""
    ends = [0, *cuts, data.groups.ids.size]
    parts = [data.select(list(range(a, b))) for a, b in pairwise(ends)]
    return parts, [PartPlace(int(data.groups.ptr[a]), a) for a in ends[:-1]]


def by_threads(given, owners, cuts, valid_owners, valid_cuts, subscription=NOTHING):
    """Train with a thread per worker; return what each returned or raised; `owners` has the worker of each part."""
    count = max(owners) + 1
    tracker, found = start_tracker(count, "127.0.0.1")
    (parts, places), (valid, valid_places) = pieces(TRAIN, cuts), pieces(VALID, valid_cuts)

    def one(worker):
        own = [i for i, owner in enumerate(owners) if owner == worker]
        mine = [i for i, owner in enumerate(valid_owners) if owner == worker]
        job = WorkerJob(
            spec=given._spec(validated=True).on_worker(1),
            number=worker,
            documents=len(TRAIN),
            places=[places[i] for i in own],
            valid_places={"valid": [valid_places[i] for i in mine]},
            valid_queries={"valid": VALID.groups.ids.size},
            subscription=subscription,
        )
        sets = {"valid": [valid[i] for i in mine]}
        return train_on_worker(
            job, found, TRAIN.X.astype(np.float32), [parts[i] for i in own], sets
        )

    try:
        with ThreadPoolExecutor(count) as threads:
            tasks = [threads.submit(one, worker) for worker in range(count)]
            return [task.exception() or task.result() for task in tasks]
    finally:
        tracker.free()


#: The owner of each part and where parts begin, for training and for validation data.
PLACEMENTS = {
    "one": ([0], [], [0], []),
    "two": ([0, 1], [11], [0, 1], [4]),
    "two, other parts, unevenly": ([1, 0, 1], [2, 5], [0, 0, 0], [1, 8]),
    "three, one without validation data": ([2, 0, 1, 0], [6, 7, 19], [2, 1], [5]),
}
#: Pairs, a noise of its own, lists, noise on scores, a part by chance.
FAMILIES = [
    "lambdarank-ndcg@10",
    "yetirank",
    "softmax",
    "stochasticrank-ndcg@10",
    "lambdamart-ex-random@5",
]


@pytest.mark.parametrize("objective", FAMILIES)
def test_the_model_of_one_machine(objective):
    local = ranker(objective, subsample=0.8, colsample_bytree=0.7)
    expected = model_file.content_of(local.fit(TRAIN, valid=VALID).result_)
    for name, placement in PLACEMENTS.items():
        found, *_ = by_threads(ranker(objective, subsample=0.8, colsample_bytree=0.7), *placement)
        for field in ("model", "history", "best_iteration", "chosen"):
            assert found[field] == expected[field], (name, field)


def test_a_run_resumes_with_other_workers(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    given = {"n_estimators": 6, "subsample": 0.8}
    stop = [lambda done: done.number == 3]
    ranker("yetirank", **given).fit(TRAIN, valid=VALID, checkpoint=path, callbacks=stop)
    subscription = Subscription(
        "a run", checkpoint=rw.Checkpoint(path), earlier=json.loads(path.read_text())
    )
    assert subscription.earlier["run"]["rounds"] == 3
    sent = []
    monkeypatch.setattr("rankwood.cluster.reporting.WorkerChannel", lambda run: Sender(sent))
    found, *others = by_threads(ranker("yetirank", **given), *PLACEMENTS["two"], subscription)
    assert others == [None]
    undisturbed = ranker("yetirank", **given).fit(TRAIN, valid=VALID)
    expected = model_file.content_of(undisturbed.result_)
    assert (found["model"], found["history"]) == (expected["model"], expected["history"])
    (kind, last), *_ = reversed(sent)
    assert kind == "checkpoint" and last["run"]["rounds"] == 6 and last["run"]["ends"] == "rounds"


def test_a_checkpoint_with_more_rounds_than_are_to_be_trained_is_named(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    ranker("softmax", n_estimators=4).fit(TRAIN, valid=VALID, checkpoint=path)
    earlier = json.loads(path.read_text())
    subscription = Subscription("a run", checkpoint=rw.Checkpoint(path), earlier=earlier)
    monkeypatch.setattr("rankwood.cluster.reporting.WorkerChannel", lambda run: Sender([]))
    errors = by_threads(ranker("softmax", n_estimators=2), *PLACEMENTS["two"], subscription)
    assert {type(error) for error in errors} == {rw.InputError}
    assert {str(error) for error in errors} == {str(errors[0])}
    assert f"{path} has done 4 rounds, more than n_estimators=2" in str(errors[0])


def test_a_missing_package_is_named(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("rankwood.cluster.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(
        rw.InputError, match=r"needs the package xgboost: pip install 'rankwood\[dask\]'"
    ):
        rw.Ranker().fit(TRAIN, cluster=2)


class Sender:
    """Stands for the line to the process that called `fit`."""

    def __init__(self, sent):
        self.send = lambda kind, content: sent.append((kind, content))

    def close(self):
        pass


def test_an_error_of_one_worker_stops_the_others(monkeypatch):
    computer_of = loop._computer

    def odd(spec, task):
        computer = computer_of(spec, task)
        if len(task.train) == small:
            computer.__class__ = type("Failing", (type(computer),), {"__call__": failing})
        return computer

    def failing(self, scores, number):
        if number == 2:
            raise rw.InputError("round 2 is odd.")
        return type(self).__mro__[1].__call__(self, scores, number)

    monkeypatch.setattr(loop, "_computer", odd)
    small = min(len(part) for part in pieces(TRAIN, [11])[0])
    given = rw.Ranker("softmax", "xgboost", n_estimators=5, n_jobs=1)
    found = by_threads(given, *PLACEMENTS["two"])
    assert sorted(type(error).__name__ for error in found) == ["InputError", "PeerFailed"]
    assert "round 2 is odd." in map(str, found)


def test_digests_of_parts_add_up_to_that_of_the_whole():
    def whole(cuts, data=TRAIN):
        parts, places = pieces(data, cuts)
        return (
            sum(hashes_of(part, *place)[0] for part, place in zip(parts, places, strict=True))
            % 2**64
        )

    assert whole([]) == whole([3]) == whole([1, 2, 20])
    other = rw.RankingData(TRAIN.X.copy(), TRAIN.y, qid=TRAIN.qid)
    other.X[5, 2] += 1
    assert whole([], other) != whole([])
    swapped = rw.RankingData(TRAIN.X[::-1], TRAIN.y[::-1], qid=TRAIN.qid[::-1])
    assert whole([], swapped) != whole([])


def test_parts_stay_where_they_are_unless_that_is_too_uneven():
    assert deal([5, 5], ["a", "b"], ["a", "b"]) == ["a", "b"]
    assert deal([5, 5, 5, 5], ["a", "a", "a", "a"], ["a", "b"]).count("b") == 2
    assert deal([9, 1], [None, None], ["a", "b"]) == ["a", "b"]


def test_ranges_of_random_numbers_are_those_of_the_whole():
    whole, at = generator(3).random(50), generator_at(3, 4, 2).random(50)
    for first, last in ((0, 50), (7, 19), (12, 50)):
        assert (uniform_from(3, first, last) == whole[first:last]).all()
        assert (uniform_at(3, 4, 2, first, last) == at[first:last]).all()
