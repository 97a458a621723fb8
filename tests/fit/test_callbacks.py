"""Callbacks once a round, of every engine and estimator."""

import numpy as np
import pytest

import rankwood as rw
from rankwood.callbacks import Round
from tests.helpers.random_lists import random_lists

ENGINES = {
    "lightgbm": {"objective": "lambdarank-ndcg@10", "min_child_samples": 5},
    "xgboost": {"objective": "lambdarank-ndcg@10"},
    "catboost": {"objective": "queryrmse"},
    "pairtree": {"objective": "bi-lambdarank-ndcg@5"},
}


def ranker(engine="lightgbm", **params):
    given = {**ENGINES[engine], "n_estimators": 5, "num_leaves": 7, "n_jobs": 1, **params}
    return rw.Ranker(engine=engine, **given)


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(3)
    parts = (random_lists(rng, queries=20, longest=20, features=4) for _ in range(3))
    return [rw.RankingData(X, y, group=sizes) for X, y, sizes in parts]


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def test_a_callback_sees_every_round(sets, engine):
    train, valid, _ = sets
    seen = []
    metrics = ["ndcg@10", "map"]
    fitted = ranker(engine, eval_metric=metrics).fit(train, valid=valid, callbacks=[seen.append])
    assert [one.number for one in seen] == [1, 2, 3, 4, 5]
    assert {one.rounds for one in seen} == {5}
    for one in seen:
        assert one.metrics == {
            "valid": {name: fitted.history_[name][one.number - 1] for name in metrics}
        }
        assert one.history == {name: fitted.history_[name][: one.number] for name in metrics}
        assert one.best == int(np.argmax(one.history["ndcg@10"])) + 1
        assert one.value == one.metrics["valid"]["ndcg@10"]
        assert (one.stage, one.fold) == ("", None)
    assert [one.ends for one in seen] == ["", "", "", "", "rounds"]
    spent = [one.seconds for one in seen]
    assert spent == sorted(spent) and spent[0] > 0
    assert fitted.seconds_["callbacks"] > 0
    rate = 0.01 if engine == "pairtree" else 0.05  # it was left open
    assert seen[0].params["learning_rate"] == rate and seen[0].params["n_estimators"] == 5


def test_true_ends_training(sets, engine):
    train, valid, _ = sets
    stopped = ranker(engine).fit(train, callbacks=lambda done: done.number == 3)
    same = ranker(engine, n_estimators=3).fit(train)
    assert stopped.best_iteration_ == 3
    np.testing.assert_array_equal(stopped.predict(valid), same.predict(valid))
    short = ranker(engine).fit(train, valid=valid, callbacks=[lambda d: d.number == 3])
    curve = short.history_["ndcg@10"]
    assert len(curve) == 3  # the best round is kept, as with early stopping
    assert short.best_iteration_ == int(np.argmax(curve)) + 1


def test_every_callback_is_called_even_if_one_ends_training(sets):
    calls = []
    both = [lambda done: True, lambda done: calls.append(done.number)]
    assert ranker().fit(sets[0], callbacks=both).best_iteration_ == 1
    assert calls == [1]


def test_an_exception_leaves_the_rounds_so_far(sets, engine):
    train, valid, _ = sets

    def fail(done):
        if done.number == 2:
            raise RuntimeError("of the callback")

    broken = ranker(engine)
    with pytest.raises(RuntimeError, match="of the callback"):
        broken.fit(train, callbacks=[fail])
    same = ranker(engine, n_estimators=2).fit(train)
    np.testing.assert_array_equal(broken.predict(valid), same.predict(valid))


def test_model_so_far(sets, engine, tmp_path):
    train, valid, _ = sets
    models, rounds = [], []

    def keep(done):
        rounds.append(done)
        if engine == "catboost":
            with pytest.raises(rw.InputError, match="'catboost' has no model before training ends"):
                done.model()
        elif done.number in (1, 3):
            models.append(done.model())

    fitted = ranker(engine).fit(train, valid=valid, callbacks=[keep])
    whole = ranker(engine).fit(train, valid=valid)  # taking models changes nothing
    np.testing.assert_array_equal(fitted.predict(valid), whole.predict(valid))
    if engine == "catboost":
        return
    assert [model.best_iteration_ for model in models] == [1, 3]
    same = ranker(engine, n_estimators=3, early_stopping_rounds=None).fit(train, valid=valid)
    np.testing.assert_array_equal(models[1].predict(valid), same.predict(valid))
    assert models[1].history_ == same.history_
    models[0].save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json").predict(valid)
    np.testing.assert_array_equal(again, models[0].predict(valid))
    with pytest.raises(rw.InputError, match=r"training is at round 5, and this is round 3: call"):
        rounds[2].model()


def test_early_stopping_is_a_reason_to_end(sets):
    train, valid, _ = sets
    seen = []
    model = ranker(n_estimators=100, learning_rate=0.9, early_stopping_rounds=2)
    model.fit(train, valid=valid, callbacks=[seen.append])
    assert seen[-1].ends == "early stopping" and seen[-1].number == model.best_iteration_ + 2
    flat = rw.RankingData(np.ones((len(train), 1)), train.y, qid=train.qid)
    seen.clear()
    ranker("xgboost").fit(flat, callbacks=[seen.append])
    assert [one.ends for one in seen] == ["no splits"]


def test_networks_by_epoch(sets, tmp_path):
    train, valid, later = sets
    seen, models = [], []
    options = {"hidden": (4,), "epochs": 6, "early_stopping_rounds": None}

    def watch(done):
        seen.append(done)
        models.append(done.model())
        return done.number == 3

    sets_by_name = {"near": valid, "later": later}
    net = rw.NeuralRanker("dnn", "softmax", **options)
    net.fit(train, valid=sets_by_name, callbacks=[watch])
    assert [one.number for one in seen] == [1, 2, 3]
    assert net.stopped_ == "callback" and net.best_iteration_ == 3
    for key, name in (("ndcg@10", "near"), ("later ndcg@10", "later")):
        assert net.history_[key] == [one.metrics[name]["ndcg@10"] for one in seen]
    np.testing.assert_array_equal(models[2].predict(later), net.predict(later))
    assert models[0].score(valid) == net.history_["ndcg@10"][0]
    for key, data in (("ndcg@10", valid), ("later ndcg@10", later)):
        alone = rw.NeuralRanker("dnn", "softmax", **options).fit(train, valid=data)
        assert alone.history_["ndcg@10"][:3] == net.history_[key]


def test_a_network_resumes_after_a_callback_has_failed(sets, tmp_path):
    train, valid, _ = sets
    options = {"hidden": (4,), "epochs": 4}

    def fail(done):
        if done.number == 2:
            raise RuntimeError("of the callback")

    net = rw.NeuralRanker("dnn", "softmax", **options)
    with pytest.raises(RuntimeError):
        net.fit(train, valid=valid, callbacks=[fail], checkpoint=tmp_path / "c.json")
    assert len(net.history_["ndcg@10"]) == 2
    numbers = []
    net.fit(
        train,
        valid=valid,
        checkpoint=tmp_path / "c.json",
        callbacks=[lambda done: numbers.append(done.number)],
    )
    assert numbers == [3, 4]
    whole = rw.NeuralRanker("dnn", "softmax", **options).fit(train, valid=valid)
    assert net.history_ == whole.history_


def test_two_stages_name_stage_and_fold(sets):
    train, valid, later = sets
    seen = []
    small = ranker(n_estimators=2)
    model = rw.TwoStage(small, small, top=5, folds=2, verbose=False)
    model.fit(train, valid={"near": valid, "later": later}, callbacks=[seen.append])
    places = [(one.stage, one.fold, one.number) for one in seen]
    first = [("first", fold, number) for fold in (1, 2) for number in (1, 2)]
    assert places == [*first, ("second", None, 1), ("second", None, 2)]
    assert set(model.history_["second"]) == {"ndcg@10", "later ndcg@10"}
    assert model.history_["first"][1]["later ndcg@10"][-1] == seen[3].metrics["later"]["ndcg@10"]
    alone = rw.TwoStage(small, small, top=5, folds=2, verbose=False).fit(train, valid=valid)
    np.testing.assert_array_equal(alone.predict(later), model.predict(later))


def test_close_is_called_whatever_ends_training(sets):
    class Closing:
        closed = 0

        def __call__(self, done):
            if done.number == 2:
                raise KeyboardInterrupt

        def close(self):
            self.closed += 1

    callback = Closing()
    model = ranker()
    with pytest.raises(KeyboardInterrupt):
        model.fit(sets[0], callbacks=[callback])
    assert callback.closed == 1 and model.best_iteration_ == 2


class _Other:
    __module__ = "lightgbm.callback"

    def __call__(self, env):
        raise AssertionError("not called")


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ([3], "callbacks must be functions that take a Round, got int"),
        ([Round], "Round is a class, give an object"),
        ([lambda done: 0.5], "returns True to end training, or nothing; <lambda> returned 0.5"),
        ([_Other()], "Other belongs to lightgbm and can't read our rounds; write a function"),
    ],
)
def test_wrong_callbacks(sets, callbacks, message):
    with pytest.raises(rw.InputError, match=message):
        ranker().fit(sets[0], callbacks=callbacks)


def test_callbacks_of_other_programs_are_answered(sets):
    import lightgbm as lgb
    import xgboost as xgb

    answers = {
        "early_stopping_rounds=": [lgb.early_stopping(3), xgb.callback.EarlyStopping(rounds=3)],
        r"callbacks.Log\(\)": [lgb.log_evaluation(), xgb.callback.EvaluationMonitor()],
        "history_ after fit": [lgb.record_evaluation({})],
        "fixed learning_rate": [lgb.reset_parameter(learning_rate=[0.1])],
    }
    for message, callbacks in answers.items():
        for callback in callbacks:
            with pytest.raises(rw.InputError, match=message):
                ranker().fit(sets[0], callbacks=[callback])


def test_every_callback_is_closed_whatever_another_raises():
    closed = []

    class Closing:
        def __init__(self, name):
            self.name = name

        def __call__(self, done):
            pass

        def close(self):
            closed.append(self.name)
            if self.name == "first":
                raise OSError("no")

    ranker = rw.Ranker(n_estimators=1, n_jobs=1)
    with pytest.raises(OSError, match="no"):
        ranker.fit(rw.make_ranking(20), callbacks=[Closing("first"), Closing("second")])
    assert sorted(closed) == ["first", "second"]
