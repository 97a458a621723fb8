"""Models in MLflow: no pickle, the same bits, names of metrics as the callback has them."""

import importlib.util
import sys

import numpy as np
import pytest

import rankwood as rw
import rankwood.mlflow as flavour
from tests.helpers.random_lists import random_lists

NEEDED = pytest.mark.skipif(not importlib.util.find_spec("mlflow"), reason="needs mlflow")
# Warnings of another program are its own matter.
pytestmark = pytest.mark.filterwarnings("ignore:::mlflow", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def data():
    X, y, sizes = random_lists(np.random.default_rng(4), queries=20, longest=20, features=4)
    return rw.RankingData(X, y, group=sizes)


@pytest.fixture(scope="module")
def named(data):
    import pandas

    frame = pandas.DataFrame(data.X, columns=["price", "stock", "clicks", "age"])
    return frame.assign(query=[f"q{i}" for i in data.qid], label=data.y)


def small(objective="lambdarank-ndcg@10", **params):
    settings = {"n_estimators": 3, "num_leaves": 5, "min_child_samples": 5, "n_jobs": 1}
    return rw.Ranker(objective, **{**settings, **params})


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A tracking store of its own, below a new folder."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.end_run()
    mlflow.set_tracking_uri(before)


@NEEDED
def test_a_saved_model_is_our_file_and_predicts_the_same_bits(data, tmp_path):
    import mlflow

    ranker = small().fit(data)
    flavour.save_model(ranker, tmp_path / "m")
    kept = {p.name for p in (tmp_path / "m").rglob("*") if p.is_file()}
    assert "model.json" in kept and not any(name.endswith((".pkl", ".pickle")) for name in kept)
    assert str(tmp_path) not in (tmp_path / "m" / "MLmodel").read_text()
    rows = np.asarray(data.X, np.float64)
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert served.predict(rows).tolist() == ranker.predict(rows).tolist()
    again = flavour.load_model(str(tmp_path / "m"))
    assert type(again) is rw.Ranker
    assert again.predict(rows).tolist() == ranker.predict(rows).tolist()
    needed = (tmp_path / "m" / "requirements.txt").read_text().split()
    assert f"rankwood=={rw.__version__}" in needed
    assert [line.partition("==")[0] for line in needed] == ["mlflow", "rankwood", "lightgbm"]


@NEEDED
def test_columns_are_matched_by_name_and_checked(named, tmp_path):
    import mlflow

    ranker = small().fit(named, y="label", qid="query")
    flavour.save_model(ranker, tmp_path / "m")
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    shuffled = named[["age", "stock", "price", "clicks"]]
    assert served.predict(shuffled).tolist() == ranker.predict(named).tolist()
    with pytest.raises(mlflow.MlflowException, match="price"):
        served.predict(named[["age", "stock", "clicks"]])


@NEEDED
@pytest.mark.parametrize("kind", ["columns", "matrix"])
def test_models_that_compare_documents_take_queries(kind, data, named, tmp_path):
    import mlflow

    first, second = small(n_estimators=2), small("bi-lambdarank-ndcg@5", engine="pairtree")
    model = rw.TwoStage(first, second, top=5, folds=2, verbose=False)
    if kind == "columns":
        model.fit(named, y="label", qid="query")
        given, params = named.rename(columns={"query": "qid"}).drop(columns="label"), {}
        expected = model.predict(given, qid="qid")
    else:
        model.fit(data)
        given = np.asarray(data.X, np.float64)
        params = {"params": {"group": data.groups.sizes.tolist()}}
        expected = model.predict(data)
    flavour.save_model(model, tmp_path / "m")
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert served.predict(given, **params).tolist() == expected.tolist()


def test_log_model_and_log_training(data, store):
    ranker = small(eval_metric=["ndcg@10", "p@3"]).fit(data, valid=data)
    with store.start_run() as run:
        flavour.log_training(ranker)
        uri = flavour.log_model(ranker, "search").model_uri
    known = store.get_run(run.info.run_id).data
    assert known.params["num_leaves"] == "5" and known.params["learning_rate"] == "0.05"
    assert {"valid/ndcg_at_10", "valid/p_at_3", "seconds/trees"} <= set(known.metrics)
    curve = store.MlflowClient().get_metric_history(run.info.run_id, "valid/ndcg_at_10")
    assert [(m.step, m.value) for m in curve] == list(enumerate(ranker.history_["ndcg@10"], 1))
    assert flavour.load_model(uri).predict(data).tolist() == ranker.predict(data).tolist()


def test_the_callback_and_log_training_use_the_same_names(data, store):
    from rankwood.callbacks import MLflow

    first, second = small(n_estimators=1), small(n_estimators=2)
    model = rw.TwoStage(first, second, top=5, folds=2, verbose=False)
    with store.start_run() as live:
        model.fit(data, valid=data, callbacks=[MLflow()])
    with store.start_run() as later:
        pass
    flavour.log_training(model, run_id=later.info.run_id)
    a, b = (store.get_run(run.info.run_id).data for run in (live, later))
    assert set(a.metrics) == {name for name in b.metrics if not name.startswith("seconds/")}
    assert {n: a.metrics[n] for n in a.metrics} == {n: b.metrics[n] for n in a.metrics}
    assert set(a.params) == set(b.params)


@NEEDED
def test_other_models_are_refused(tmp_path, data):
    import mlflow

    with pytest.raises(rw.InputError, match="expected a fitted Ranker"):
        flavour.save_model("m.json", tmp_path / "m")
    mlflow.pyfunc.save_model(
        str(tmp_path / "other"), loader_module="somewhere", data_path=__file__, pip_requirements=[]
    )
    with pytest.raises(rw.InputError, match=r"not a model that rankwood\.mlflow saved"):
        flavour.load_model(str(tmp_path / "other"))


def test_without_mlflow_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(rw.InputError, match=r"pip install 'rankwood\[mlflow\]'"):
        flavour.load_model("m")
