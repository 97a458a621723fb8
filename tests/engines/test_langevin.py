"""Langevin boosting on LightGBM: the shrinking model, the noise, what is kept, what is refused."""

import json
import re

import lightgbm as lgb
import numpy as np
import pytest

import rankwood as rw
from rankwood.engines.base import TrainingTask
from rankwood.engines.exact_sums import on_grid
from rankwood.engines.lightgbm import engine, langevin_learner
from rankwood.engines.lightgbm.langevin import Langevin, parse
from rankwood.objectives.gradients import GradientComputer
from tests.helpers.optional import LazyPackage
from tests.helpers.random_lists import random_lists

catboost = LazyPackage("catboost")

BOTH = pytest.mark.parametrize("mode", ["Constant", "Decreasing"])
RATE, STEP = 0.6, 0.3


def start(X, y, rounds, valid=None, **params):
    """An engine whose gradients the test makes itself."""
    train = rw.RankingData(X, y, group=[len(y)])
    task = TrainingTask(
        train=train, groups=train.groups, valid=valid, objective=None, rounds=rounds
    )
    params = {"learning_rate": STEP, "num_leaves": 7, "n_jobs": 1, **params}
    return engine.start(params, task)


def squared(y):
    return lambda s: ((s - y).astype(np.float32), np.ones(y.size, np.float32))


def factor(mode, t):
    """What the model is multiplied by before round t, from the specification."""
    if t == 0:
        return 1.0
    return 1 - RATE * STEP if mode == "Constant" else 1 - RATE / t


def grown(X, grad, hess):
    """The tree that LightGBM grows for given gradients, on its own, with learning rate 1."""
    params = {
        **{"num_leaves": 7, "learning_rate": 1.0, "num_threads": 1, "min_data_in_leaf": 20},
        **{"objective": "none", "deterministic": True, "force_col_wise": True, "verbosity": -1},
    }
    booster = lgb.Booster(params, lgb.Dataset(X, np.zeros(len(X)), params=params))
    booster.update(fobj=lambda *_: (grad, hess))
    return booster.predict(X)


@BOTH
def test_training_is_the_recursion(mode, lists):
    X, y, sizes = lists
    rounds = 8
    ranker = rw.Ranker(
        **{"n_estimators": rounds, "num_leaves": 7, "learning_rate": STEP, "n_jobs": 1},
        extra_trees=False,
        **{"diffusion_temperature": 1e30, "model_shrink_rate": RATE, "model_shrink_mode": mode},
        shuffle=False,
    )
    ranker.fit(X, y, group=sizes)
    groups = rw.RankingData(X, y, group=sizes).groups
    computer = GradientComputer(ranker.objective_, y, groups, dtype=np.float32, n_jobs=1)
    F = np.zeros(y.size)
    for t in range(rounds):
        F *= factor(mode, t)
        F += STEP * grown(X, *map(on_grid, computer(F, t)))
    assert np.ptp(F) > 0.5
    np.testing.assert_allclose(ranker.predict(X), F, rtol=0, atol=1e-9)


@BOTH
def test_shrinkage_is_catboosts(mode):
    # One feature with two values: every tree is the same split, whoever grows it.
    rng = np.random.default_rng(5)
    X, y = (np.arange(40) % 2)[:, None].astype(float), rng.integers(0, 3, 40).astype(float)
    params = {"learning_rate": STEP, "model_shrink_rate": RATE, "model_shrink_mode": mode}
    theirs = catboost.CatBoost(
        {
            **{"loss_function": "QueryRMSE", "iterations": 6, "depth": 1, "l2_leaf_reg": 0},
            **{"bootstrap_type": "No", "random_strength": 0, "thread_count": 1, "verbose": False},
            **{"allow_writing_files": False, **params},
        }
    ).fit(catboost.Pool(X, y, group_id=np.zeros(40, int)))

    def query_rmse(s):
        gap = s - y
        return (gap - gap.mean()).astype(np.float32), np.ones(40, np.float32)

    ours = start(X, y, 6, min_child_samples=1, **params)
    for _ in range(6):
        ours.step(query_rmse)
    expected = theirs.predict(X)
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(ours.model(6).predict(X), expected, rtol=0, atol=1e-6)


@BOTH
def test_gradients_and_validation_see_the_shrunken_model(mode, lists):
    X, y, _ = lists
    valid = rw.RankingData(X[::2], y[::2], group=[len(y[::2])])
    params = {"diffusion_temperature": 1e3, "model_shrink_rate": RATE, "model_shrink_mode": mode}
    run, seen = start(X, y, 6, valid, **params), []

    def gradients(s):
        seen.append(s)
        return squared(y)(s)

    before = np.zeros(y.size)
    for t in range(6):
        run.step(gradients)
        model = run.model(t + 1)
        np.testing.assert_allclose(run.valid_scores(), model.predict(valid.X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(seen[t], factor(mode, t) * before, rtol=0, atol=1e-9)
        before = model.predict(X)
    assert np.ptp(before) > 0.5


def test_a_last_round_without_a_split_shrinks_too(lists):
    X, y, _ = lists
    run = start(X, y, 3, model_shrink_rate=RATE)
    assert run.step(squared(y)) and run.step(squared(y))
    two = run.model(2).predict(X)
    assert not run.step(lambda s: (np.zeros(y.size, np.float32), np.ones(y.size, np.float32)))
    np.testing.assert_allclose(
        run.model(3).predict(X), factor("Constant", 2) * two, rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(run.model(2).predict(X), two)


@pytest.mark.parametrize(
    "params",
    [
        {"model_shrink_rate": 0.4, "model_shrink_mode": "Decreasing"},
        {"langevin": True, "model_shrink_rate": 0.05, "diffusion_temperature": 1e6},
        {"langevin": True, "model_shrink_rate": 0, "diffusion_temperature": 1e5},
        {"model_shrink_rate": 0.1, "linear_tree": True},
        {"model_shrink_rate": 0.1, "categorical_feature": [7], "subsample": 0.6},
        {"model_shrink_rate": 0.1, "data_sample_strategy": "goss", "extra_trees": True},
    ],
)
def test_the_saved_model_is_that_of_the_best_round(params, tmp_path, monkeypatch):
    rng = np.random.default_rng(11)
    (X, y, sizes), (Xv, yv, sv) = random_lists(rng, queries=60), random_lists(rng, queries=30)
    X[:, 7], Xv[:, 7] = np.round(abs(X[:, 7]) * 3), np.round(abs(Xv[:, 7]) * 3)
    # Linear trees are grown on features in float32.
    X, Xv = X.astype(np.float32), Xv.astype(np.float32)
    valid, seen = rw.RankingData(Xv, yv, group=sv), []
    true = langevin_learner.LangevinLearner.valid_scores

    def look(self):
        seen.append(true(self).copy())
        return true(self)

    monkeypatch.setattr(langevin_learner.LangevinLearner, "valid_scores", look)
    ranker = rw.Ranker(
        **{"n_estimators": 80, "learning_rate": 0.4, "num_leaves": 7, "n_jobs": 1, **params},
        early_stopping_rounds=4,
    )
    ranker.fit(X, y, group=sizes, valid=valid)
    best = ranker.best_iteration_
    assert len(seen) == best + 4 < 80
    ranker.save(tmp_path / "m.json")
    loaded = rw.Ranker.load(tmp_path / "m.json")
    np.testing.assert_allclose(loaded.predict(valid), seen[best - 1], rtol=0, atol=1e-9)
    assert np.abs(seen[best] - seen[best - 1]).max() > 1e-3  # another round's would not do
    assert loaded.score(valid) == pytest.approx(max(ranker.history_["ndcg@10"]), abs=1e-9)
    assert loaded.get_params()["model_shrink_rate"] == params["model_shrink_rate"]


def test_every_value_in_the_text_shrinks(lists):
    X, y, _ = lists
    plain, shrunken = start(X, y, 2), start(X, y, 2, model_shrink_rate=RATE)
    for run in (plain, shrunken):
        for _ in range(2):
            run.step(squared(y))
    left = factor("Constant", 1)
    one, other = plain.model(2).text, shrunken.model(2).text

    def first(text, name):
        return np.array(re.search(rf"^{name}=(.*)$", text, re.MULTILINE)[1].split(), float)

    for name in ("leaf_value", "internal_value", "shrinkage"):
        np.testing.assert_allclose(first(other, name), left * first(one, name), rtol=1e-5)
    for name in ("split_gain", "leaf_count"):
        np.testing.assert_array_equal(first(other, name), first(one, name))
    assert f"[learning_rate: {STEP}]" in other
    # LightGBM's own reader agrees about every tree, alone and all together.
    trees = lgb.Booster(model_str=other)
    assert trees.num_trees() == 2
    shares = [trees.predict(X, start_iteration=i, num_iteration=1) for i in range(2)]
    np.testing.assert_allclose(sum(shares), trees.predict(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trees.predict(X, pred_contrib=True).sum(1), trees.predict(X))


def noise(temperature=1e4, step=0.1, seed=0, round=0, size=200_000):
    langevin = parse({"diffusion_temperature": temperature}, step, seed)
    return langevin.noise(round, size).astype(float)


@pytest.mark.parametrize(
    ("step", "temperature", "sd"), [(0.1, 1e4, 0.0447), (0.1, 1e8, 4.47e-4), (0.02, 1e2, 1.0)]
)
def test_noise_has_its_variance(step, temperature, sd):
    x = noise(temperature, step)
    n = x.size
    exact = np.sqrt(2 / (step * temperature))
    assert exact == pytest.approx(sd, rel=1e-3)
    assert abs(x.mean()) < 5 * exact / np.sqrt(n)
    assert x.var() == pytest.approx(exact**2, rel=5 * np.sqrt(2 / n))
    assert np.mean((x / exact) ** 4) == pytest.approx(3, abs=5 * np.sqrt(96 / n))  # a normal one


def test_noise_depends_on_seed_and_round_only():
    x = noise(seed=3, round=7)
    np.testing.assert_array_equal(x, noise(seed=3, round=7))
    np.testing.assert_array_equal(x[:1000], noise(seed=3, round=7, size=1000))
    for other in (noise(seed=4, round=7), noise(seed=3, round=8), noise(seed=7, round=3)):
        assert abs(np.corrcoef(x, other)[0, 1]) < 5 / np.sqrt(x.size)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 5 / np.sqrt(x.size)


def test_noise_goes_to_every_document_of_every_round(lists):
    X, y, _ = lists
    run = start(X, y, 2, langevin=True, model_shrink_rate=0, random_state=9)
    flat = (np.zeros(y.size, np.float32), np.ones(y.size, np.float32))
    assert run.step(lambda s: flat) and run.step(lambda s: flat)
    # Leaves of a least squares tree hold means, so the sum over documents is that of the gradients.
    drawn = sum(noise(step=STEP, seed=9, round=t, size=y.size).sum() for t in range(2))
    assert run.model(2).predict(X).sum() == pytest.approx(-STEP * drawn, rel=1e-4)
    assert not flat[0].any()  # what the objective returned stays as it was


def test_same_seed_same_bits_on_any_number_of_threads(lists):
    X, y, sizes = lists

    def fit(**params):
        params = {"n_estimators": 10, "num_leaves": 7, "langevin": True, **params}
        return rw.Ranker(**params, shuffle=False).fit(X, y, group=sizes).predict(X)

    one = fit(n_jobs=1)
    assert one.tobytes() == fit(n_jobs=2).tobytes()
    assert one.tobytes() != fit(n_jobs=1, random_state=1).tobytes()
    assert one.tobytes() != fit(n_jobs=1, langevin=False).tobytes()


@pytest.mark.parametrize(
    "off",
    [
        {"langevin": False},
        {"langevin": False, "diffusion_temperature": 10.0},
        {"model_shrink_rate": 0.0},
        {"model_shrink_mode": "Decreasing"},
        {"langevin": None, "diffusion_temperature": None},
    ],
)
def test_switched_off_it_is_plain_lightgbm(off, lists):
    X, y, _ = lists
    plain, other = start(X, y, 3), start(X, y, 3, **off)
    for run in (plain, other):
        for _ in range(3):
            run.step(squared(y))
    assert plain.model(3).text == other.model(3).text


def test_defaults_are_catboosts():
    for mode, rate in (("Constant", 0.001), ("Decreasing", 0.01)):
        langevin = parse({"langevin": True, "model_shrink_mode": mode}, 0.1, None)
        assert langevin == Langevin(1e4, rate, mode, 0.1, 0)
    assert parse({"diffusion_temperature": 5}, 0.1, 2) == Langevin(5, 0.001, "Constant", 0.1, 2)
    assert parse({"model_shrink_rate": 0.5}, 0.1, 2) == Langevin(None, 0.5, "Constant", 0.1, 2)
    assert parse({"langevin": True, "model_shrink_rate": 0}, 0.1, 2).shrink_rate == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"diffusion_temperature": 0},
            "diffusion_temperature must be positive, got 0; larger means",
        ),
        ({"diffusion_temperature": -1e4}, "diffusion_temperature must be positive, got -10000; "),
        ({"diffusion_temperature": "hot"}, "diffusion_temperature must be a number, got 'hot'."),
        ({"model_shrink_rate": 1.0}, r"model_shrink_rate must be in \[0, 1\), got 1."),
        ({"model_shrink_rate": -0.1}, r"model_shrink_rate must be in \[0, 1\), got -0.1."),
        (
            {"model_shrink_mode": "constant"},
            "unknown model_shrink_mode 'constant'; did you mean 'Constant'?",
        ),
        (
            {"model_shrink_rate": 0.8, "learning_rate": 1.25},
            "model_shrink_rate times learning_rate must be below 1, got 0.8 . 1.25.",
        ),
        ({"langevin": "yes"}, "langevin must be one of True, False, got 'yes'."),
        ({"langevine": True}, "has a parameter 'langevine'; did you mean 'langevin'?"),
        (
            {"langevin": True, "boosting": "dart"},
            "boosting='dart' weighs its trees itself, so that",
        ),
        (
            {"model_shrink_rate": 0.1, "boosting_type": "rf"},
            "boosting='rf' weighs its trees itself",
        ),
        ({"langevin": True, "min_child_weight": 0.0}, "Langevin noise would be divided by 0 in"),
    ],
)
def test_what_can_not_be_done_is_said_in_one_sentence(params, message, lists):
    X, y, sizes = lists
    with pytest.raises(ValueError, match=message) as error:
        rw.Ranker(n_estimators=3, **params).fit(X, y, group=sizes)
    assert str(error.value).count(". ") == 0
    assert "\n" not in str(error.value)


def test_a_learning_rate_of_its_own_may_exceed_one_in_the_other_mode():
    # Only Constant multiplies the rate by the learning rate.
    assert (
        parse({"model_shrink_rate": 0.8, "model_shrink_mode": "Decreasing"}, 1.25, 0).shrink_rate
        == 0.8
    )


def test_parameters_are_in_the_file(lists, tmp_path):
    X, y, sizes = lists
    params = {"langevin": True, "diffusion_temperature": 1e7, "model_shrink_mode": "Decreasing"}
    rw.Ranker(n_estimators=2, **params).fit(X, y, group=sizes).save(tmp_path / "m.json")
    kept = json.loads((tmp_path / "m.json").read_text())["params"]
    assert {name: kept[name] for name in params} == params
