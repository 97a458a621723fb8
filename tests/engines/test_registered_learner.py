"""The learner of CONTRIBUTING.md: one short file, and all that Ranker, tune, compare and TwoStage do with it."""

import copy
import inspect
import pickle
import re
import sys
from types import ModuleType

import numpy as np
import pytest

import rankwood as rw
from rankwood import extend
from rankwood.engines.base import ENGINES
from rankwood.engines.registered import OF_RANKER, OF_TREES
from tests.helpers.paths import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.search(r"<!-- a learner -->\n```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]
NAME = "a_stranger_s_learner"


@pytest.fixture(autouse=True)
def stranger(monkeypatch):
    """The module of CONTRIBUTING.md, imported; the engines are as they were when it is over."""
    before = dict(ENGINES)
    module = ModuleType(NAME)
    monkeypatch.setitem(sys.modules, NAME, module)
    exec(CODE, module.__dict__)
    yield module
    ENGINES.clear()
    ENGINES.update(before)


@pytest.fixture(scope="module")
def parts():
    return [rw.load_demo(part) for part in ("train", "valid", "test")]


def linear(**params):
    shared = {"learning_rate": 0.001, "n_jobs": 1, "verbose": False, "n_estimators": 30}
    return rw.Ranker("lambdarank-ndcg@10", engine="linear", **(shared | params))


def weights(ranker):
    return ranker.model_.weights


def test_it_is_short_and_imports_public_modules_only():
    assert len(CODE.splitlines()) <= 60
    imported = re.findall(r"^(?:from|import) (\S+)", CODE, re.MULTILINE)
    assert set(imported) <= {"numpy", "rankwood", "rankwood.extend"}
    # What comes for free has no line.
    for word in ("valid", "stop", "checkpoint", "resume", "save", "load", "tune", "stage"):
        assert word not in CODE.lower(), word


@pytest.mark.parametrize("objective", ["lambdarank-ndcg@10", "ranknet", "softmax"])
def test_the_first_step_is_minus_the_rate_times_the_sum_of_gradients(parts, objective):
    train, rate = parts[0], 0.01
    ranker = linear(learning_rate=rate, n_estimators=1, shuffle=False)
    ranker.set_params(objective=objective).fit(train)
    X = np.asarray(train.X, dtype=float)
    g = rw.gradients(objective, train, np.zeros(len(train)))[0]
    expected = []
    for column in range(X.shape[1]):
        total = 0.0
        for row in range(X.shape[0]):
            if not np.isnan(X[row, column]):
                total += X[row, column] * float(g[row])
        expected.append(-rate * total)
    # Training has gradients in float32.
    np.testing.assert_allclose(weights(ranker), expected, rtol=1e-4, atol=1e-5)
    assert np.abs(weights(ranker)).max() > 1e-3


def test_it_learns_and_scores_are_sums(parts):
    train, valid, test = parts
    ranker = linear().fit(train, valid=valid)
    mean = lambda scores: rw.evaluate("ndcg@10", test, scores).mean()["ndcg@10"]  # noqa: E731
    assert mean(ranker.predict(test)) > mean(np.zeros(len(test))) + 0.05
    row = np.nan_to_num(np.asarray(test.X, dtype=float)[7])
    total = sum(a * b for a, b in zip(row, weights(ranker), strict=True))
    assert ranker.predict(test)[7] == pytest.approx(total, rel=1e-12)
    shares = np.abs(weights(ranker)) / np.abs(weights(ranker)).sum()
    np.testing.assert_allclose(ranker.feature_importances_, shares, rtol=1e-12)


def test_early_stopping_keeps_the_best_round(parts):
    train, valid, _ = parts
    ranker = linear(learning_rate=0.05, early_stopping_rounds=5, n_estimators=200)
    ranker.fit(train, valid=valid)
    curve = ranker.history_["ndcg@10"]
    best = int(np.argmax(curve)) + 1
    assert ranker.best_iteration_ == best and len(curve) == best + 5 < 200
    short = linear(learning_rate=0.05, early_stopping_rounds=None, n_estimators=best).fit(train)
    assert (weights(short) == weights(ranker)).all()


def test_callbacks_see_every_round_and_end_training(parts):
    train, valid, _ = parts
    seen = []

    def callback(info):
        seen.append(info.number)
        return info.number == 4

    ranker = linear(early_stopping_rounds=None).fit(train, valid=valid, callbacks=[callback])
    assert seen == [1, 2, 3, 4] and ranker.best_iteration_ == 4


@pytest.mark.parametrize("patience", [None, 20])
@pytest.mark.parametrize("kept", [1, 4, 9])
def test_a_resumed_run_is_bit_identical(parts, tmp_path, patience, kept):
    train, valid, test = parts
    params = {"learning_rate": 0.05, "early_stopping_rounds": patience, "decay": 0.01}
    whole = linear(**params).fit(train, valid=valid)
    file = tmp_path / "run.ckpt"

    def interrupt(info):
        if info.number == kept:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        linear(**params).fit(
            train, valid=valid, checkpoint=rw.Checkpoint(file, rounds=1), callbacks=[interrupt]
        )
    resumed = linear(**params).fit(train, valid=valid, checkpoint=file)
    assert resumed.resumed_after_ in (kept - 1, kept)
    assert resumed.history_ == whole.history_
    assert resumed.best_iteration_ == whole.best_iteration_
    assert weights(resumed).tobytes() == weights(whole).tobytes()
    assert resumed.predict(test).tobytes() == whole.predict(test).tobytes()


def test_warm_start_is_one_longer_run(parts):
    train = parts[0]
    ranker = linear(warm_start=True, n_estimators=7).fit(train)
    ranker.set_params(n_estimators=20).fit(train)
    assert weights(ranker).tobytes() == weights(linear(n_estimators=20).fit(train)).tobytes()


def test_saving_and_loading(parts, tmp_path):
    train, valid, test = parts
    ranker = linear(decay=0.5).fit(train, valid=valid)
    file = tmp_path / "linear.json"
    ranker.save(file)
    again = rw.Ranker.load(file)
    assert again.get_params() == ranker.get_params() and again.history_ == ranker.history_
    assert again.predict(test).tobytes() == ranker.predict(test).tobytes()
    del ENGINES["linear"]
    with pytest.raises(rw.InputError, match=r"linear.json .*'linear'.* import the module"):
        rw.Ranker.load(file)


def test_a_damaged_file_is_an_error(parts, tmp_path):
    file = tmp_path / "linear.json"
    linear(n_estimators=1).fit(parts[0]).save(file)
    text = file.read_text()
    assert "weights" in text
    file.write_text(text.replace("weights", "height"))
    with pytest.raises(rw.InputError):
        rw.Ranker.load(file).predict(parts[2])


def test_tune_searches_its_space(parts):
    assert set(rw.spaces.default("linear")) == {"learning_rate", "decay"}
    ranker = linear(n_estimators=5)
    result = rw.tune(ranker, parts[0], parts[1], trials=3, tuner="random", verbose=False)
    assert set(result.best_params) == {"learning_rate", "decay"}


def test_compare(parts):
    train, valid, test = parts
    rankers = {
        "linear": linear().fit(train, valid=valid),
        "trees": rw.Ranker(n_estimators=5, n_jobs=1).fit(train),
    }
    scores = {
        name: rw.evaluate("ndcg@10", test, ranker.predict(test)) for name, ranker in rankers.items()
    }
    assert {"linear", "trees"} <= set(str(rw.compare(scores)).split())


@pytest.mark.parametrize("place", ["first", "second"])
def test_two_stages(parts, tmp_path, place):
    train, _, test = parts
    trees = rw.Ranker(n_estimators=3, n_jobs=1)
    stages = {"first": trees, "second": trees} | {place: linear(n_estimators=5)}
    model = rw.TwoStage(**stages, top=10, folds=2).fit(train)
    model.save(tmp_path / "both.json")
    again = rw.TwoStage.load(tmp_path / "both.json")
    assert again.predict(test).tobytes() == model.predict(test).tobytes()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decya": 1.0}, "'linear' has a parameter 'decya'; did you mean 'decay'"),
        ({"eta": 1.0}, "did you mean 'learning_rate'"),
        ({"num_leaves": 7}, "'linear' has no num_leaves"),
        ({"monotone": {0: 1}}, "'linear' has no monotone"),
        ({"objective": "bi-ranknet"}, "'linear' can't train objectives of pairs"),
        ({"learning_rate": 1e308}, "smaller learning_rate"),
    ],
)
def test_what_it_lacks_is_refused(parts, params, message):
    with pytest.raises(rw.InputError, match=message), np.errstate(all="ignore"):
        linear().set_params(**params).fit(parts[0])


def test_it_has_no_trees(parts):
    ranker = linear(n_estimators=2).fit(parts[0])
    for call in (ranker.forest, ranker.scorer):
        with pytest.raises(rw.InputError, match="has no trees"):
            call()
    assert ranker.summary().to_dict()["steps"] == 2
    assert "2 steps" in ranker.card().to_markdown()
    with pytest.raises(AttributeError, match="read model_"):
        _ = ranker.booster_


def test_a_name_is_given_once(stranger):
    exec(CODE, stranger.__dict__)  # as a notebook does that runs a cell twice
    other = type("Other", (stranger.LinearLearner,), {})
    for name in ("linear", "lightgbm"):
        with pytest.raises(rw.InputError, match=f"an engine {name!r} already"):
            extend.register_learner(name, stranger.LinearModel)(other)
    for name in ("", "a b", "neural", 3):
        with pytest.raises(rw.InputError, match="can't be registered"):
            extend.register_learner(name, stranger.LinearModel)
    with pytest.raises(rw.InputError, match="subclass of GradientLearner"):
        extend.register_learner("other", stranger.LinearModel)(dict)


def test_a_model_is_read_as_it_was(stranger):
    model = stranger.LinearModel(2, weights=[0.1, np.nan], whole=np.arange(6).reshape(2, 3))
    again = type(model).from_text(model.content()["model"])
    assert again.n_features == 2 and again.whole.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert again.weights.tobytes() == model.weights.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0] = 1.0


def test_ignored_defaults_are_those_of_ranker():
    defaults = inspect.signature(rw.Ranker).parameters
    assert {name: defaults[name].default for name in OF_TREES} == dict(OF_TREES)


def test_streams_and_categories_are_refused(parts, tmp_path):
    rows = [f"{label} qid:{query} 1:{label}.5" for query in range(3) for label in (0, 1)]
    (tmp_path / "train.txt").write_text("\n".join(rows) + "\n")
    with pytest.raises(rw.InputError, match="'linear' needs all features in memory"):
        linear().fit(rw.stream_files(tmp_path / "train.txt"))
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"kind": pandas.Categorical(["a", "b", "a", "b"])})
    data = rw.RankingData(table, [0, 1, 1, 0], qid=[1, 1, 2, 2])
    with pytest.raises(rw.InputError, match="'kind' is categorical, and models of engine='linear'"):
        linear().fit(data)


def test_copies_and_pickles_predict_bit_identically(parts, monkeypatch, stranger):
    stranger.LinearModel.__module__ = NAME
    ranker = linear(n_estimators=3).fit(parts[0])
    for again in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):
        assert again.predict(parts[2]).tobytes() == ranker.predict(parts[2]).tobytes()


@pytest.mark.parametrize("name", ["scores", "predict", "content", "needs_groups"])
def test_arrays_don_t_hide_what_a_model_has(stranger, name):
    with pytest.raises(rw.InputError, match=f"every model has '{name}' already"):
        stranger.LinearModel(3, **({"weights": np.zeros(3), name: 1.0}))


def test_a_warm_start_knows_the_learner(stranger, parts):
    train, *_ = parts
    other = type("Other", (stranger.LinearLearner,), {"__doc__": "Another learner."})
    extend.register_learner("other", stranger.LinearModel)(other)
    ranker = linear(n_estimators=2, warm_start=True).fit(train)
    with pytest.raises(rw.InputError, match="trained by engine='linear', and now it is 'other'"):
        ranker.set_params(engine="other", n_estimators=4).fit(train)


def test_names_that_ranker_has():
    """All parameters of Ranker are shared, about trees, or its own."""
    names = {*inspect.signature(rw.Ranker.__init__).parameters} - {"self", "engine_params"}
    assert names == {*OF_TREES, *OF_RANKER, "learning_rate", "random_state", "n_jobs"}


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (extend.Parameter("n_estimators", 5), "can't have a parameter 'n_estimators'"),
        (extend.Parameter("learning_rate", 9.0), "can't have a parameter 'learning_rate'"),
        (extend.Parameter("reg_lambda", 3.0), "must have the default of Ranker, 0.0, got 3.0"),
    ],
)
def test_parameters_that_would_never_come(stranger, parameter, message):
    decorate = extend.register_learner("another", stranger.LinearModel, parameters=[parameter])
    with pytest.raises(rw.InputError, match=message):
        decorate(stranger.LinearLearner)


def odd(stranger, scores=None, improve=None):
    """A learner named "odd" whose model or step isn't as it should be."""
    model = type("Odd", (stranger.LinearModel,), {"scores": scores} if scores else {})

    def first_model(self):
        return model(self.X.shape[1], weights=np.ones(self.X.shape[1]))

    def unchanged(self, model, gradients, hessians):
        return model

    methods = {"first_model": first_model, "improve": improve or unchanged}
    learner = type("OddLearner", (stranger.GradientLearner,), methods)
    extend.register_learner("odd", model)(learner)
    return rw.Ranker("ranknet", engine="odd", n_estimators=2, n_jobs=1, verbose=False)


@pytest.mark.parametrize(
    "cut",
    [
        lambda s: s[:-1],
        lambda s: s[:0],
        lambda s: s[:, None],
        lambda s: 0.0,
        lambda s: np.tile(s, 2),
    ],
)
def test_scores_of_the_wrong_shape(stranger, parts, cut):
    train, valid, _ = parts
    ranker = odd(stranger, scores=lambda self, X: cut(np.nan_to_num(X).sum(axis=1)))
    with pytest.raises(rw.InputError, match="scores of Odd must return one number per row"):
        ranker.fit(train, valid=valid)
    of_valid = odd(
        stranger,
        scores=lambda self, X: (cut if len(X) == len(valid) else np.array)(X[:, 0]),
    )
    with pytest.raises(rw.InputError, match="scores of Odd must return one number per row"):
        of_valid.fit(train, valid=valid)


def test_scores_that_are_not_finite(stranger, parts):
    train, valid, _ = parts
    with pytest.raises(rw.InputError, match="the scores of its first model aren't finite"):
        odd(stranger, scores=lambda self, X: np.full(len(X), np.nan)).fit(train)
    of_valid = odd(
        stranger, scores=lambda self, X: np.full(len(X), np.nan if len(X) == len(valid) else 0.0)
    )
    with pytest.raises(rw.InputError, match="round 1 ended in scores that aren't finite"):
        of_valid.fit(train, valid=valid)


@pytest.mark.parametrize("kind", [lambda stranger: None, lambda stranger: stranger.LinearModel(3)])
def test_models_of_another_class(stranger, parts, kind):
    ranker = odd(stranger, improve=lambda self, model, gradients, hessians: kind(stranger))
    with pytest.raises(rw.InputError, match="improve of engine='odd' must return a Odd, got"):
        ranker.fit(parts[0])


def test_numbers_that_files_can_t_hold(stranger):
    with pytest.raises(rw.InputError, match="must be an array of numbers"):
        stranger.LinearModel(2, weights=np.zeros(2, np.longdouble))


def test_a_warm_start_remembers_the_best_round(parts):
    train, valid, _ = parts
    settings = {"early_stopping_rounds": 5, "learning_rate": 0.05, "warm_start": True}
    first = linear(n_estimators=200, **settings).fit(train, valid=valid)
    best, scores = first.best_iteration_, first.predict(valid)
    assert best < 200
    first.set_params(n_estimators=300).fit(train, valid=valid)
    assert first.best_iteration_ == best and first.predict(valid).tobytes() == scores.tobytes()


def test_the_seconds_of_steps_are_recorded(parts):
    curves = linear(n_estimators=3, record=["seconds"]).fit(parts[0]).record_
    assert min(curves["seconds_trees"]) > 0
