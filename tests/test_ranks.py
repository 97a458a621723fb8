"""The workers of a cluster as threads of one process: the same model for any number of them and any placement."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import rankwood as rw
from rankwood._core.rng import generator, generator_at, uniform_at, uniform_from
from rankwood.training import model_file

pytest.importorskip("xgboost")
pytest.importorskip("distributed")
from rankwood.distributed.collective import start_tracker
from rankwood.distributed.digests import hashes_of
from rankwood.distributed.placing import deal
from rankwood.distributed.rank import Place, RankJob, run_rank
from rankwood.distributed.reporting import Wanted

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


NOTHING = Wanted("a run")


def pieces(data, cuts):
    """Parts of whole queries, and where they begin."""
    ends = [0, *cuts, data.groups.ids.size]
    parts = [data.select(list(range(a, b))) for a, b in pairwise(ends)]
    return parts, [Place(int(data.groups.ptr[a]), a) for a in ends[:-1]]


def by_threads(given, owners, cuts, valid_owners, valid_cuts, wanted=NOTHING):
    """Train with a thread per worker; return what each returned or raised; `owners` has the worker of each part."""
    count = max(owners) + 1
    tracker, found = start_tracker(count, "127.0.0.1")
    (parts, places), (valid, valid_places) = pieces(TRAIN, cuts), pieces(VALID, valid_cuts)

    def one(worker):
        own = [i for i, owner in enumerate(owners) if owner == worker]
        mine = [i for i, owner in enumerate(valid_owners) if owner == worker]
        job = RankJob(
            ranker=given,
            number=worker,
            documents=len(TRAIN),
            places=[places[i] for i in own],
            valid_places={"valid": [valid_places[i] for i in mine]},
            valid_queries={"valid": VALID.groups.ids.size},
            n_jobs=1,
            wanted=wanted,
        )
        sets = {"valid": [valid[i] for i in mine]}
        return run_rank(job, found, TRAIN.X.astype(np.float32), [parts[i] for i in own], sets)

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
    expected = model_file.content_of(local.fit(TRAIN, valid=VALID))
    for name, placement in PLACEMENTS.items():
        found, *_ = by_threads(ranker(objective, subsample=0.8, colsample_bytree=0.7), *placement)
        for field in ("model", "history", "best_iteration", "chosen"):
            assert found[field] == expected[field], (name, field)


def test_a_run_goes_on_with_other_workers(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    given = {"n_estimators": 6, "subsample": 0.8}
    stop = [lambda done: done.number == 3]
    ranker("yetirank", **given).fit(TRAIN, valid=VALID, checkpoint=path, callbacks=stop)
    wanted = Wanted("a run", checkpoint=rw.Checkpoint(path), earlier=json.loads(path.read_text()))
    assert wanted.earlier["run"]["rounds"] == 3
    sent = []
    monkeypatch.setattr("rankwood.distributed.reporting.ReportLine", lambda run: Sender(sent))
    found, *others = by_threads(ranker("yetirank", **given), *PLACEMENTS["two"], wanted)
    assert others == [None]
    expected = model_file.content_of(ranker("yetirank", **given).fit(TRAIN, valid=VALID))
    assert (found["model"], found["history"]) == (expected["model"], expected["history"])
    (kind, last), *_ = reversed(sent)
    assert kind == "checkpoint" and last["run"]["rounds"] == 6 and last["run"]["ends"] == "rounds"


def test_a_missing_package_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name, name="xgboost")

    monkeypatch.setattr("rankwood.training.estimator.import_module", missing)
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


def test_an_error_of_one_worker_stops_the_others(capfd, caplog):
    class Odd(rw.Ranker):
        def _computer(self, objective, train, groups, share=None):
            made = super()._computer(objective, train, groups, share)
            if len(train) == small:
                made.__class__ = type("Failing", (type(made),), {"__call__": failing})
            return made

    def failing(self, scores, number):
        if number == 2:
            raise rw.InputError("round 2 is odd.")
        return type(self).__mro__[1].__call__(self, scores, number)

    small = min(len(part) for part in pieces(TRAIN, [11])[0])
    given = Odd("softmax", "xgboost", n_estimators=5, n_jobs=1)
    found = by_threads(given, *PLACEMENTS["two"])
    assert sorted(type(error).__name__ for error in found) == ["InputError", "PeerFailed"]
    assert "round 2 is odd." in map(str, found)
    # Neither the ranks are printed, nor, on a worker of Dask, that one stopped because of the other.
    assert "got rank" not in "".join(capfd.readouterr())
    for error in found:
        logging.getLogger("distributed.worker").error("Exception: %r", repr(error))
    assert [record.args for record in caplog.records] == [
        (repr(error),) for error in found if type(error) is rw.InputError
    ]


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
