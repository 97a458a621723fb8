"""Training on a real cluster of two local workers: the same model as on one machine."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

import rankwood as rw
from rankwood.distributed import WorkerLost, evaluate
from rankwood.fit.files import model_file

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
pytest.importorskip("xgboost")

# Dask and XGBoost warn of ports and sockets that are of no consequence here.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning"),
]

TRAIN, VALID = rw.make_ranking(40, seed=1), rw.make_ranking(20, seed=2)


def frame(data):
    table = pd.DataFrame(data.X, columns=[f"f{i}" for i in range(data.n_features)])
    return table.assign(label=data.y, query=data.qid)


def parts_of(data, npartitions):
    return dd.from_pandas(frame(data), npartitions=npartitions, sort=False)


def ranker(objective="softmax", **params):
    params = {"n_estimators": 6, "early_stopping_rounds": 3, "n_jobs": 1, **params}
    return rw.Ranker(objective, engine="xgboost", **params)


def content(fitted):
    return {
        k: v
        for k, v in model_file.content_of(fitted.result_).items()
        if k not in ("seconds", "params")
    }


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    # On a busy machine, a lost worker takes its time to come back.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "300 s"}),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def local():
    return ranker().fit(frame(TRAIN), "label", qid="query", valid=(frame(VALID), "label", "query"))


def test_a_frame_trains_the_model_of_one_machine(client, local):
    # Five partitions of equal rows cut queries in two: the seams are mended. One more is empty.
    train = parts_of(TRAIN, 5)
    train = dd.concat([train, train.partitions[0][train.partitions[0].label > 9]])
    other_order = [*frame(VALID).columns[::-1]]
    made = ranker().fit(train, y="label", qid="query", valid=parts_of(VALID, 3)[other_order])
    assert content(made) == content(local)
    assert made.history_ == local.history_ and made.best_iteration_ == local.best_iteration_
    assert made.data_size_ == local.data_size_ and made.get_params() == local.get_params()
    scores = made.predict(train)
    assert hasattr(scores, "__dask_graph__")
    expected = local.predict(frame(TRAIN))
    assert (scores.compute().to_numpy() == expected).all()
    found = evaluate("ndcg@10", train["label"], scores, qid=train["query"])
    assert found.mean() == rw.evaluate("ndcg@10", TRAIN, expected).mean()
    later = evaluate("ndcg@10", train["label"], scores, qid=train["query"], compute=False)
    assert later.compute().mean() == found.mean()
    assert made.score(train, "label", qid="query") == found.mean()["ndcg@10"]


def test_arrays_of_unknown_chunks_with_weights(client):
    table = parts_of(TRAIN, 3)
    weights = np.linspace(0.5, 2, len(TRAIN)).round(2)
    weighted = dd.from_pandas(pd.Series(weights), npartitions=3, sort=False)
    X = table.drop(columns=["label", "query"]).to_dask_array()
    y, qid, weight = (one.to_dask_array() for one in (table["label"], table["query"], weighted))
    params = {"subsample": 0.7, "colsample_bytree": 0.5}
    made = ranker("queryrmse", **params).fit(X, y, qid=qid, sample_weight=weight)
    local = ranker("queryrmse", **params).fit(
        TRAIN.X, TRAIN.y, qid=TRAIN.qid, sample_weight=weights
    )
    assert content(made) == content(local)
    assert (made.predict(X).compute() == made.predict(TRAIN)).all()


@pytest.mark.parametrize("whole", [True, False])
def test_weights_of_queries_in_pieces(client, whole):
    """In a piece of a query all rows may have one weight, and in the whole query not."""
    number = np.unique(TRAIN.qid, return_inverse=True)[1]
    weights = (
        1.0 + number % 3 if whole else np.where(number < 10, 2.0, 1.0 + np.arange(len(TRAIN)) % 3)
    )
    table = frame(TRAIN).assign(w=weights)
    given = {"qid": "query", "sample_weight": "w"}
    local = ranker("listnet", n_estimators=3).fit(table, "label", **given)
    for pieces in (3, 25):
        parts = dd.from_pandas(table, npartitions=pieces, sort=False)
        made = ranker("listnet", n_estimators=3).fit(parts, "label", **given)
        assert content(made) == content(local)


def test_rows_of_a_query_all_over_are_refused_or_brought_together(client):
    mixed = frame(TRAIN).sample(frac=1, random_state=0)
    parts = dd.from_pandas(mixed, npartitions=4, sort=False)
    with pytest.raises(rw.InputError, match=r"several pieces of partition 0.*shuffle_parts"):
        ranker().fit(parts, y="label", qid="query")
    made = content(ranker().fit(parts, y="label", qid="query", shuffle_parts=True))
    local = content(ranker().fit(mixed, "label", qid="query"))
    # The digest is that of the rows in their new order.
    assert made.pop("origin")["fingerprint"] != local.pop("origin")["fingerprint"]
    assert made == local
    ordered = frame(TRAIN)
    again = ordered[ordered["query"] == ordered["query"].iloc[0]]
    apart = dd.concat([parts_of(TRAIN, 3), dd.from_pandas(again, 1)])
    with pytest.raises(rw.InputError, match=r"query \S+ is in partition 0 and in partition 3"):
        ranker().fit(apart, y="label", qid="query")


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (None, {"y": "labels"}, r"no column 'labels' \(y\).*did you mean 'label'"),
        (None, {"weight": [1.0]}, "weight can't be used with a partition: give sample_weight"),
        (None, {"group": [3]}, "group can't be used with a partition: give qid"),
        (None, {"qid": None}, "fit needs qid: the name of a column"),
        (None, {"y": [0, 1]}, "y must be the name of a column, or a Dask collection.*got list"),
        (None, {"stream": True}, "stream reads files on one machine"),
        (None, {"retry": 1}, "did you mean 'retries'"),
        (None, {"retries": -1}, "retries must be at least 0"),
        (None, {"cluster": "two"}, "cluster must be a distributed.Client or a number"),
        ({"name": "text"}, {}, "column 'name' has values of type .*features must be numbers"),
        ({"label": np.nan}, {}, r"in partition \d: y must be finite"),
        ({"label": -1.0}, {}, r"in partition \d: y must not be negative"),
    ],
)
def test_errors_say_what_to_do(client, change, given, message):
    table = dd.from_pandas(frame(TRAIN).assign(**(change or {})), npartitions=2, sort=False)
    with pytest.raises(rw.InputError, match=message):
        ranker().fit(table, **{"y": "label", "qid": "query", **given})


def test_what_a_cluster_cannot_do_is_said(client):
    table = parts_of(TRAIN, 2)
    for wrong, message in (
        (
            rw.Ranker(engine="catboost", objective="yetirank"),
            "engine='catboost' trains on one machine",
        ),
        (rw.TwoStage(), "TwoStage trains on one machine"),
        (ranker(record=["seconds"]), "record and warm_start can't be used"),
        (ranker(booster="dart"), "omit"),
        (ranker(tree_method="exact"), "hist"),
    ):
        with pytest.raises(rw.InputError, match=message):
            wrong.fit(table, y="label", qid="query")
    with pytest.raises(rw.InputError, match=r"in the validation data.*'f3'"):
        ranker().fit(table, y="label", qid="query", valid=table.drop(columns=["f3"]))


def test_letor_files_on_a_process_of_their_own(tmp_path):
    half = TRAIN.groups.ids.size // 2
    names = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for name, queries in zip(names, (range(half), range(half, 2 * half)), strict=True):
        rw.save_letor(TRAIN.select(list(queries)), name)
    narrow = "\n".join(line.rpartition(" 20:")[0] for line in names[1].read_text().splitlines())
    names[1].write_text(narrow + "\n")  # files omit features that are 0
    made = ranker().fit(names, valid=names[1], cluster=1)
    both = [rw.load_letor(name, n_features=20) for name in names]
    assert content(made) == content(ranker().fit(rw.RankingData.concat(both), valid=both[1]))


def test_files_that_are_not_for_workers_get_advice(client, tmp_path):
    one, other = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
    for name, queries in ((one, range(10)), (other, range(5, 15))):
        rw.save_letor(TRAIN.select(list(queries)), name)
    with pytest.raises(rw.InputError, match=rf"{one} is given twice: give each file once"):
        ranker().fit([one, one], cluster=client)
    with pytest.raises(rw.InputError, match=rf"query 6 is in {one} and in {other}: "):
        ranker().fit([one, other], cluster=client)
    with pytest.raises(rw.InputError, match=r"a1.parquet is a Parquet file.*read_parquet"):
        ranker().fit(["a1.parquet", "a2.parquet"], y="label", qid="query", cluster=client)
    streamed, advice = rw.stream_files(one), "stream_files.*give the names of the files"
    with pytest.raises(rw.InputError, match=advice):
        ranker().fit(streamed, cluster=client)
    with pytest.raises(rw.InputError, match=rf"in the validation data, .*{advice}"):
        ranker().fit(one, valid=streamed, cluster=client)


def test_a_script_without_a_guard_gets_one_error(monkeypatch):
    def fail(**options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with pytest.raises(rw.InputError, match='inside `if __name__ == "__main__":`'):
        ranker().fit(TRAIN, cluster=2)
    # The process of a worker, while it imports the script once more:
    process = multiprocessing.current_process()
    monkeypatch.setattr(process, "_inheriting", True, raising=False)
    monkeypatch.setattr(process, "_name", "Dask Worker process (from Nanny)")
    with pytest.raises(SystemExit):
        ranker().fit(TRAIN, cluster=2)


def test_callbacks_progress_and_a_checkpoint_that_goes_on(client, local, tmp_path, capsys):
    train, valid, path = parts_of(TRAIN, 4), parts_of(VALID, 2), tmp_path / "run.ckpt"
    seen = []

    def stop(done):
        seen.append((done.number, done.rounds, done.value, done.ends, done.best))
        assert done.params["objective"] == "softmax"
        return done.number == 3 and done.model().best_iteration_ == 3

    given = {"y": "label", "qid": "query", "valid": (valid, "label", "query"), "checkpoint": path}
    ranker(verbose=True).fit(train, callbacks=[stop], **given)
    assert "Training" in capsys.readouterr().err
    value = local.history_["ndcg@10"]
    assert [(row[0], row[2]) for row in seen] == [(n + 1, value[n]) for n in range(3)]
    kept = rw.Ranker.load(path)
    assert len(kept.history_["ndcg@10"]) == 3 and kept.data_size_ == local.data_size_
    # Other partitions, and plain data: it is the same run.
    with pytest.raises(rw.InputError, match="belongs to a run on other training data"):
        ranker().fit(parts_of(VALID, 2), **given)
    with pytest.raises(rw.InputError, match="belongs to a run on a cluster: resume it there"):
        ranker().fit(TRAIN, valid=VALID, checkpoint=path)
    assert content(ranker().fit(parts_of(TRAIN, 2), **given)) == content(local)
    again = ranker().fit(frame(TRAIN), cluster=client, **{**given, "valid": frame(VALID)})
    assert content(again) == content(local)


def test_an_error_of_a_callback_arrives_and_the_workers_stop(client):
    def fail(done):
        raise ArithmeticError(f"round {done.number}")

    long = ranker(n_estimators=1_000_000, early_stopping_rounds=None)
    with pytest.raises(ArithmeticError, match="round 1"):
        long.fit(TRAIN, cluster=client, callbacks=[fail])
    running = client.run(lambda dask_worker: [task.key for task in dask_worker.state.executing])
    assert not any("train_on_worker" in key for keys in running.values() for key in keys)
    # Nothing is kept that Dask would miss if the cluster were closed now.
    end = time.monotonic() + 10
    while any("close_tracker" in key for key in client.run_on_scheduler(_keys)):
        assert time.monotonic() < end
        time.sleep(0.05)


def _keys(dask_scheduler):
    return [*map(str, dask_scheduler.tasks)]


# LightGBM: tests/cluster/test_lightgbm.py has the rest.


def test_lightgbm_trains_one_model_however_partitions_lie(client):
    def fit(npartitions):
        made = ranker(subsample=0.7).set_params(engine="lightgbm")
        valid = parts_of(VALID, npartitions - 1)
        return made.fit(parts_of(TRAIN, npartitions), y="label", qid="query", valid=valid)

    first, second = fit(2), fit(5)
    assert "[tree_learner: data]" in first.model_.text  # both workers took part
    assert content(first) == content(second) and first.history_ == second.history_
    found = rw.evaluate("ndcg@10", VALID, first.predict(frame(VALID))).mean()
    assert found["ndcg@10"] == first.history_["ndcg@10"][first.best_iteration_ - 1]


class Killer:
    """A callback that kills a worker, once, a moment after a round."""

    def __init__(self, client, which, number, later):
        pids = client.run(os.getpid)
        self.victim = sorted(pids)[which]
        self._pid, self._number, self._later = pids[self.victim], number, later
        self.killed = 0.0

    def __call__(self, done):
        if done.number == self._number and not self.killed:
            self.killed = time.monotonic()
            threading.Timer(self._later, os.kill, [self._pid, signal.SIGKILL]).start()


def test_a_lost_worker_is_named_and_the_cluster_goes_on(client, local):
    killer = Killer(client, 1, 5, 0.05)
    long = ranker(n_estimators=1_000_000, early_stopping_rounds=None)
    with pytest.raises(WorkerLost, match=f"worker {killer.victim} was lost"):
        long.fit(TRAIN, cluster=client, callbacks=[killer])
    assert time.monotonic() - killer.killed < 30
    assert not hasattr(long, "model_")
    assert not any(
        "train_on_worker" in key for keys in client.processing().values() for key in keys
    )
    train = frame(TRAIN)
    made = ranker().fit(train, "label", qid="query", valid=frame(VALID), cluster=client)
    assert content(made) == content(local)


def test_with_retries_and_a_checkpoint_the_model_is_that_of_an_undisturbed_run(client, tmp_path):
    # The first worker writes the checkpoints: it is the worst one to lose.
    killer = Killer(client, 0, 5, 0)
    given = {"n_estimators": 12, "early_stopping_rounds": None}
    kept = rw.Checkpoint(tmp_path / "run.ckpt", rounds=1)
    fit = {"cluster": client, "callbacks": [killer], "checkpoint": kept, "retries": 1}
    made = ranker("yetirank", **given).fit(TRAIN, valid=VALID, **fit)
    assert killer.killed
    assert content(made) == content(ranker("yetirank", **given).fit(TRAIN, valid=VALID))
