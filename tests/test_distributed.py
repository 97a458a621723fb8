"""Training on a real cluster of two local workers: the same model as on one machine."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import rankwood as rw
from rankwood._core.rng import generator, generator_at, uniform_at, uniform_from
from rankwood.distributed import WorkerLost, evaluate
from rankwood.training import model_file

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
pd = pytest.importorskip("pandas")
pytest.importorskip("xgboost")

# Dask and XGBoost warn of ports and sockets that are of no consequence here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")

TRAIN, VALID = rw.make_ranking(40, seed=1), rw.make_ranking(20, seed=2)


def frame(data):
    table = pd.DataFrame(data.X, columns=[f"f{i}" for i in range(data.n_features)])
    return table.assign(label=data.y, query=data.qid)


def ranker(objective="yetirank", engine="xgboost", **params):
    params = {"n_estimators": 6, "early_stopping_rounds": 3, "n_jobs": 1, **params}
    return rw.Ranker(objective, engine=engine, **params)


def content(fitted):
    return {k: v for k, v in model_file.content_of(fitted).items() if k != "seconds"}


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def local():
    return ranker().fit(frame(TRAIN), "label", qid="query", valid=(frame(VALID), "label", "query"))


@pytest.mark.parametrize("npartitions", [1, 5])
def test_a_frame_trains_the_model_of_one_machine(client, local, npartitions):
    # Five partitions of equal rows cut queries in two: the seams are mended.
    train = dd.from_pandas(frame(TRAIN), npartitions=npartitions, sort=False)
    valid = dd.from_pandas(frame(VALID), npartitions=3, sort=False)
    made = ranker().fit(train, y="label", qid="query", valid=(valid, "label", "query"))
    assert content(made) == content(local)
    assert made.history_ == local.history_ and made.best_iteration_ == local.best_iteration_
    scores = made.predict(train)
    assert hasattr(scores, "__dask_graph__")
    expected = local.predict(frame(TRAIN))
    assert (scores.compute().to_numpy() == expected).all()
    found = evaluate("ndcg@10", train["label"], scores, qid=train["query"])
    assert found.mean() == rw.evaluate("ndcg@10", TRAIN, expected).mean()


def test_arrays_and_sampled_rows(client):
    ends = TRAIN.groups.ptr[[10, 25]].tolist()
    chunks = (ends[0], ends[1] - ends[0], len(TRAIN) - ends[1])
    X = da.from_array(TRAIN.X, chunks=(chunks, -1))
    y, qid = (da.from_array(np.asarray(v), chunks=(chunks,)) for v in (TRAIN.y, TRAIN.qid))
    params = {"subsample": 0.7, "colsample_bytree": 0.5}
    made = ranker("softmax", **params).fit(X, y, qid=qid, cluster=client)
    assert content(made) == content(ranker("softmax", **params).fit(TRAIN))
    assert (made.predict(X).compute() == made.predict(TRAIN)).all()


def test_rows_of_a_query_all_over_are_refused_or_brought_together(client):
    mixed = frame(TRAIN).sample(frac=1, random_state=0)
    parts = dd.from_pandas(mixed, npartitions=4, sort=False)
    with pytest.raises(rw.InputError, match=r"several pieces of partition 0.*shuffle_parts"):
        ranker().fit(parts, y="label", qid="query")
    made = ranker().fit(parts, y="label", qid="query", shuffle_parts=True)
    assert content(made) == content(ranker().fit(mixed, "label", qid="query"))
    ordered = frame(TRAIN)
    again = ordered[ordered["query"] == ordered["query"].iloc[0]]
    apart = dd.concat(
        [dd.from_pandas(ordered, npartitions=3, sort=False), dd.from_pandas(again, 1)]
    )
    with pytest.raises(rw.InputError, match=r"query \S+ is in partitions 0 and 3"):
        ranker().fit(apart, y="label", qid="query")


def test_what_a_cluster_cannot_do_is_said(client):
    table = dd.from_pandas(frame(TRAIN), npartitions=2)
    with pytest.raises(rw.InputError, match="engine='catboost' trains on one machine"):
        rw.Ranker(engine="catboost").fit(table, y="label", qid="query")
    with pytest.raises(rw.InputError, match="no column 'labels'"):
        ranker().fit(table, y="labels", qid="query")
    with pytest.raises(rw.InputError, match="weight can't be used on a cluster"):
        ranker().fit(table, y="label", qid="query", weight=[1.0])


def test_an_error_on_a_worker_arrives(client):
    wrong = frame(TRAIN)
    wrong.loc[len(wrong) - 1, "label"] = -1.0
    with pytest.raises(rw.InputError, match="in partition 1: "):
        ranker().fit(dd.from_pandas(wrong, npartitions=2, sort=False), y="label", qid="query")


def test_letor_files(client, tmp_path):
    half = TRAIN.groups.ids.size // 2
    names = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for name, queries in zip(names, (range(half), range(half, 2 * half)), strict=True):
        rw.save_letor(TRAIN.select(list(queries)), name)
    made = ranker().fit(names, cluster=client)
    whole = rw.RankingData.concat([rw.load_letor(name) for name in names])
    assert content(made) == content(ranker().fit(whole))


def test_a_lost_worker_is_named_and_the_cluster_goes_on(client, local):
    before = set(client.scheduler_info(n_workers=-1)["workers"])
    pids = client.run(os.getpid)
    victim = sorted(before)[1]

    def kill():
        while not any("run_rank" in key for keys in client.processing().values() for key in keys):
            time.sleep(0.1)
        time.sleep(1)
        os.kill(pids[victim], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    start = time.monotonic()
    with pytest.raises(WorkerLost, match=victim):
        ranker(n_estimators=100_000, early_stopping_rounds=None).fit(TRAIN, cluster=client)
    killer.join()
    assert (
        time.monotonic() - start < 60
    )  # the error comes within 30 s of the loss, after a start of some seconds
    assert not any("run_rank" in key for keys in client.processing().values() for key in keys)
    client.wait_for_workers(2, timeout=30)
    made = ranker().fit(frame(TRAIN), "label", qid="query", cluster=client)
    assert content(made) == content(ranker().fit(frame(TRAIN), "label", qid="query"))


def test_ranges_of_random_numbers_are_those_of_the_whole():
    whole, at = generator(3).random(50), generator_at(3, 4, 2).random(50)
    for first, last in ((0, 50), (7, 19), (12, 50)):
        assert (uniform_from(3, first, last) == whole[first:last]).all()
        assert (uniform_at(3, 4, 2, first, last) == at[first:last]).all()


# LightGBM: tests/engines/test_cluster_lightgbm.py has the rest.


def test_lightgbm_trains_one_model_however_partitions_lie(client):
    made = []
    for npartitions in (2, 5):
        train = dd.from_pandas(frame(TRAIN), npartitions=npartitions, sort=False)
        valid = dd.from_pandas(frame(VALID), npartitions=npartitions - 1, sort=False)
        one = ranker("yetirank", engine="lightgbm", subsample=0.7)
        made.append(one.fit(train, y="label", qid="query", valid=(valid, "label", "query")))
    first, second = made
    assert "[tree_learner: data]" in first.model_.text  # both workers took part
    assert first.model_.text == second.model_.text and first.history_ == second.history_
    scores = first.predict(frame(VALID))
    found = rw.evaluate("ndcg@10", VALID, scores).mean()
    assert found == first.history_["ndcg@10"][first.best_iteration_ - 1]
