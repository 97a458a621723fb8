"""The callbacks that the package has: logging, CSV, a live curve, Optuna, MLflow, TensorBoard."""

import csv
import logging
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import rankwood as rw
from rankwood.callbacks import CSV, LiveCurve, Log, MLflow, OptunaPruning, TensorBoard
from tests.helpers.random_lists import random_lists


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(4)
    parts = (random_lists(rng, queries=20, longest=20, features=4) for _ in range(3))
    return [rw.RankingData(X, y, group=sizes) for X, y, sizes in parts]


def small(**params):
    return rw.Ranker(
        **{"n_estimators": 4, "num_leaves": 7, "min_child_samples": 5, "n_jobs": 1, **params}
    )


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_log(sets, caplog):
    train, valid, later = sets
    with caplog.at_level(logging.INFO, "rankwood"):
        model = small().fit(train, valid={"near": valid, "later": later}, callbacks=[Log(every=3)])
    near, far = model.history_["ndcg@10"], model.history_["later ndcg@10"]
    assert [record.getMessage() for record in caplog.records] == [
        f"round 3 of 4, near ndcg@10 {near[2]:.6f}, later ndcg@10 {far[2]:.6f}",
        f"round 4 of 4, near ndcg@10 {near[3]:.6f}, later ndcg@10 {far[3]:.6f}, the last: rounds",
    ]


def test_csv_is_complete_after_each_round(sets, tmp_path):
    train, valid, later = sets
    path, lengths = tmp_path / "rounds.csv", []
    path.write_text("of another run\n")

    def look(done):
        text = path.read_text()
        assert text.endswith("\n")
        lengths.append(len(rows_of(path)))

    named = {"near": valid, "later": later}
    model = small().fit(train, valid=named, callbacks=[CSV(path), look])
    assert lengths == [1, 2, 3, 4]
    rows = rows_of(path)
    assert list(rows[0]) == ["round", "seconds", "near ndcg@10", "later ndcg@10"]
    assert [float(row["near ndcg@10"]) for row in rows] == model.history_["ndcg@10"]
    assert [float(row["later ndcg@10"]) for row in rows] == model.history_["later ndcg@10"]


def test_csv_of_two_stages_and_of_another_run(sets, tmp_path):
    train, valid, _ = sets
    log = CSV(tmp_path / "rounds.csv")
    second = small(eval_metric=["p@3"], n_estimators=2)
    rw.TwoStage(small(n_estimators=1), second, top=5, folds=2, verbose=False).fit(
        train, valid=valid, callbacks=[log]
    )
    rows = rows_of(log.path)
    assert [(row["stage"], row["fold"], row["round"]) for row in rows] == [
        *(("first", "1", "1"), ("first", "2", "1"), ("second", "", "1"), ("second", "", "2")),
    ]
    assert all(row["valid ndcg@10"] and not row["valid p@3"] for row in rows[:2])
    assert all(row["valid p@3"] and not row["valid ndcg@10"] for row in rows[2:])
    small(n_estimators=1).fit(train, callbacks=[log])
    assert [list(row) for row in rows_of(log.path)] == [["round", "seconds"]]
    with pytest.raises(rw.InputError, match="there is no directory"):
        CSV(tmp_path / "nowhere" / "rounds.csv")


@pytest.fixture
def notebook(monkeypatch):
    """A stand-in for IPython's display: what was shown first, and what in its place."""
    shown = []

    def display(figure, display_id):
        assert display_id is True
        shown.append([figure])
        return SimpleNamespace(update=shown[-1].append)

    module = ModuleType("IPython.display")
    module.display = display
    package = ModuleType("IPython")
    package.version_info = (9, 0)  # matplotlib looks at it
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def test_live_curve(sets, notebook):
    train, valid, later = sets
    metrics = ["ndcg@10", "map"]
    model = small(eval_metric=metrics).fit(
        train, valid={"near": valid, "later": later}, callbacks=[LiveCurve(seconds=0)]
    )
    (figures,) = notebook
    assert len(figures) == 5  # one per round, and the last one when training is over
    for number, figure in enumerate(figures[:4], 1):
        assert [ax.get_title() for ax in figure.axes] == metrics
        for ax, metric in zip(figure.axes, metrics, strict=True):
            lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
            assert list(lines["near"]) == model.history_[metric][:number]
            assert list(lines["later"]) == model.history_[f"later {metric}"][:number]
    assert f"round 4 of 4, best {model.best_iteration_}" in figures[-1].get_suptitle()
    notebook.clear()
    small().fit(train, valid=valid, callbacks=[LiveCurve(seconds=3600)])
    (figures,) = notebook
    assert [f.get_suptitle()[:7] for f in figures] == ["round 1", "round 4"]


def test_live_curve_needs_a_notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(rw.InputError, match="pip install ipython"):
        LiveCurve()


def test_optuna_prunes(sets):
    import optuna

    train, valid, _ = sets
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    fitted = []

    class Third(optuna.pruners.BasePruner):
        """Prunes the second trial after its third round."""

        def prune(self, study, trial):
            return trial.number == 1 and trial.last_step == 3

    def objective(trial):
        model = small(learning_rate=trial.suggest_float("learning_rate", 0.1, 0.2))
        fitted.append(model)
        model.fit(train, valid=valid, callbacks=[OptunaPruning(trial)])
        return max(model.history_["ndcg@10"])

    study = optuna.create_study(direction="maximize", pruner=Third())
    study.optimize(objective, n_trials=2)
    done, pruned = study.trials
    assert done.intermediate_values == dict(enumerate(fitted[0].history_["ndcg@10"], 1))
    assert pruned.state == optuna.trial.TrialState.PRUNED
    assert pruned.intermediate_values == dict(enumerate(fitted[1].history_["ndcg@10"], 1))
    assert len(fitted[1].history_["ndcg@10"]) == 3 and fitted[1].best_iteration_ <= 3
    with pytest.raises(rw.InputError, match="give fit valid="):
        small().fit(train, callbacks=[OptunaPruning(study.ask())])
    with pytest.raises(rw.InputError, match="takes a trial"):
        OptunaPruning(study)


@pytest.fixture
def mlflow(monkeypatch):
    """A stand-in that keeps what is logged, and has MLflow's rule for names."""
    module = ModuleType("mlflow")
    module.params, module.metrics = [], []
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /:")

    def log_metrics(values, step, run_id=None):
        assert all(set(name) <= allowed for name in values)
        module.metrics.append((run_id, step, values))

    module.log_params = lambda params, run_id=None: module.params.append((run_id, params))
    module.log_metrics = log_metrics
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return module


def test_mlflow(sets, mlflow):
    train, valid, later = sets
    metrics = ["ndcg@10", "dcg@5(gain='linear')"]
    model = small(eval_metric=metrics, n_estimators=2)
    model.fit(train, valid={"near": valid, "later on": later}, callbacks=[MLflow("abc")])
    ((run, params),) = mlflow.params
    assert run == "abc" and params["n_estimators"] == "2" and params["learning_rate"] == "0.05"
    assert [step for _, step, _ in mlflow.metrics] == [1, 2]
    keys = ["near/ndcg_at_10", "near/dcg_at_5_gain_linear"]
    keys += ["later_on/ndcg_at_10", "later_on/dcg_at_5_gain_linear"]
    for _, step, values in mlflow.metrics:
        assert list(values) == keys
        assert values["later_on/ndcg_at_10"] == model.history_["later on ndcg@10"][step - 1]
    mlflow.metrics.clear()
    one = small(n_estimators=1)
    stages = rw.TwoStage(one, one, top=5, folds=2, verbose=False)
    stages.fit(train, valid=valid, callbacks=[MLflow()])
    assert [list(values) for _, _, values in mlflow.metrics] == [
        ["first/fold1/valid/ndcg_at_10"],
        ["first/fold2/valid/ndcg_at_10"],
        ["second/valid/ndcg_at_10"],
    ]
    assert {name.partition(".")[0] for _, params in mlflow.params[1:] for name in params} == {
        *("first", "second"),
    }


def test_tensorboard(sets, monkeypatch):
    train, valid, _ = sets
    calls = []

    class SummaryWriter:
        def __init__(self, folder):
            calls.append(("open", folder))

        def add_scalar(self, name, value, step):
            calls.append((name, value, step))

        def flush(self):
            calls.append(("flush",))

        def close(self):
            calls.append(("close",))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    model = small(n_estimators=2).fit(train, valid=valid, callbacks=[TensorBoard("runs/a")])
    first, second = model.history_["ndcg@10"]
    name = "valid/ndcg_at_10"
    assert calls == [
        ("open", "runs/a"),
        *((name, first, 1), ("flush",)),
        *((name, second, 2), ("flush",)),
        ("close",),
    ]


@pytest.mark.parametrize(
    ("module", "make", "message"),
    [
        ("mlflow", MLflow, "pip install mlflow"),
        (
            "torch.utils.tensorboard",
            lambda: TensorBoard("runs"),
            "pip install torch tensorboard",
        ),
        ("optuna", lambda: OptunaPruning(None), r"pip install 'rankwood\[tune\]'"),
    ],
)
def test_missing_packages(monkeypatch, module, make, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(rw.InputError, match=message):
        make()
