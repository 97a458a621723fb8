"""CatBoost's own losses are the objectives we say they are, and it trains round by round."""

import os
import signal
import threading
from functools import partial

import catboost as cb
import numpy as np
import pytest

import rankwood as rw
from rankwood.engines.catboost.engine import CatBoostEngine, load
from rankwood.engines.catboost.losses import native
from rankwood.fit.observers.stopping import EarlyStopping
from rankwood.objectives.families.registry import objective as to_objective
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists
from tests.oracles import naive, naive_plackett_luce, naive_yeti


def small(objective, **params):
    given = {"n_estimators": 12, "num_leaves": 7, "n_jobs": 1, **params}
    return rw.Ranker(objective, engine="catboost", **given)


@pytest.fixture
def data(lists):
    X, y, sizes = lists
    return rw.RankingData(X, y, group=sizes)


@pytest.fixture
def valid(rng):
    rng.normal(size=10**5)  # other numbers than `data`
    X, y, sizes = random_lists(rng, queries=30)
    mixed = rng.permutation(y.size)
    qid = np.repeat(np.arange(sizes.size), sizes)
    return rw.RankingData(X[mixed], y[mixed], qid=qid[mixed])


def one_tree(loss, X, y, sizes, scores, weight=None):
    """Grow one tree from these scores: the leaf of each document, and its value."""
    pool = cb.Pool(
        X,
        loss.labels(y),
        group_id=np.repeat(np.arange(sizes.size), sizes),
        baseline=scores,
        group_weight=None if weight is None else np.repeat(weight, sizes),
    )
    params = {"iterations": 1, "depth": 3, "learning_rate": 1.0, "l2_leaf_reg": 0.0}
    quiet = {"logging_level": "Silent", "allow_writing_files": False, "thread_count": 1}
    still = {"bootstrap_type": "No", "random_strength": 0.0}
    model = cb.CatBoost({**params, **quiet, **still, **loss.params, "loss_function": loss.text})
    model.fit(pool)
    leaf = model.calc_leaf_indexes(X).ravel()
    return leaf, model.predict(X, prediction_type="RawFormulaVal")


YETI = [
    "yetirank",
    "yetirank(decay=0.9)",
    *(
        f"yetiloss-{name}({options}neighbours={h})"
        for h in (1, 2, "'all'")
        for name, options in (
            ("ndcg", ""),
            ("ndcg", "k=3, gain='linear', "),
            ("dcg", "k=4, "),
            ("mrr", "variant='catboost', rel=2, "),
            ("map", "variant='catboost', "),
            ("map", "k=3, variant='catboost', rel=2, "),
            ("err", ""),
            ("err", "gain='exp', "),
        )
    ),
    "yetiloss-mrr(rel=2)",
]
YETI = [(name[:-1] + ", " if "(" in name else name + "(") + "noise='none')" for name in YETI]
OTHERS = [
    "queryrmse",
    "rmse",
    "softmax",
    "ranknet(norm=False)",
    "bin-ranknet(norm=False, rel=2)",
    "lambdarank-ndcg",
    "lambdarank-ndcg@5(sigma=2.0)",
    "lambdarank-ndcg@3(norm=False, gain='linear')",
    "lambdarank-mrr(variant='catboost', rel=2)",
    "lambdarank-map(variant='catboost', norm=False)",
    "lambdarank-err(variant='catboost')",
]


@pytest.mark.parametrize("text", YETI + OTHERS)
def test_one_tree_has_the_leaves_of_our_gradients(rng, text):
    X, y, sizes = random_lists(rng, queries=20, longest=15)
    scores = rng.normal(size=y.size)
    # All but LambdaMart count the weights of queries as we do.
    objective = to_objective(text)
    loss = native(objective)
    weight = None if loss.name == "LambdaMart" else rng.uniform(0.5, 2.0, sizes.size)
    leaf, theirs = one_tree(loss, X, y, sizes, scores, weight)
    with interpreted():
        grad, hess = rw.gradients(objective, y, scores, group=sizes)
    factor = 1.0 if weight is None else np.repeat(weight, sizes)
    sums, curvature = np.bincount(leaf, factor * grad), np.bincount(leaf, factor * hess)
    # A leaf without curvature stays where it is.
    difference = -sums[leaf] / np.where(curvature > 0, curvature, 1.0)[leaf] - theirs
    assert np.unique(leaf).size > 3 and np.ptp(theirs) > 0.1
    # Leaves may be shifted by one constant, which changes no ranking.
    assert np.ptp(difference) < 1e-6 * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_rmse_starts_from_zero_and_its_leaves_are_mean_labels(rng, weighted):
    X, y, sizes = random_lists(rng, queries=20, longest=15)
    weight = rng.uniform(0.5, 2.0, y.size) if weighted else np.ones(y.size)
    given = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 3, "reg_lambda": 0.0}
    ranker = small("rmse", **given, random_strength=0)
    data = rw.RankingData(X, y, group=sizes, sample_weight=weight if weighted else None)
    scores = ranker.fit(data).predict(X)
    leaves, leaf = np.unique(np.round(scores, 9), return_inverse=True)
    assert leaves.size > 3
    means = np.bincount(leaf, weight * y) / np.bincount(leaf, weight)
    np.testing.assert_allclose(scores, means[leaf], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "stochasticrank-ndcg@3(mu=0.3)",
        "stochasticrank-dcg(gain='linear')",
        "stochasticrank-mrr(rel=2, mu=0.2)",
        "stochasticrank-pfound@3(mu=0.5)",
    ],
)
def test_stochastic_rank_has_the_same_mean(rng, text):
    y, scores = np.array([2.0, 0.0, 1.0, 3.0, 1.0]), np.array([0.3, 0.1, -0.4, 0.0, 0.6])
    X, sizes, runs = np.arange(5.0)[:, None], np.array([5]), 12
    objective = to_objective(text, samples=200)
    loss = native(objective)
    theirs, ours = [], []
    for seed in range(runs):
        seeded = loss._replace(params={"random_seed": seed})
        leaf, values = one_tree(seeded, X, y, sizes, scores)
        theirs.append(values)
        with interpreted():
            grad = rw.gradients(objective, y, scores, seed=seed)[0]
        ours.append(-np.bincount(leaf, grad)[leaf] / np.bincount(leaf)[leaf])
    theirs, ours = (np.array(v) - np.mean(v, axis=1, keepdims=True) for v in (theirs, ours))
    error = np.sqrt((theirs.var(axis=0) + ours.var(axis=0)) / (runs - 1))
    assert np.abs(theirs.mean(axis=0)).max() > 10 * error.max()
    assert (np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) < 4 * error + 1e-9).all()


def test_the_noise_that_catboost_calls_gumbel_is_logistic(rng):
    y, scores, runs = [2.0, 0.0, 1.0], [-1.5, 1.5, 0.0], 12
    loss = native(to_objective("yetirank(permutations=2000)"))
    assert loss.options["noise"] == "Gumbel"
    found = []
    for seed in range(runs):
        seeded = loss._replace(params={"random_seed": seed})
        X = np.arange(3.0)[:, None]
        leaf, values = one_tree(seeded, X, np.array(y), np.array([3]), scores)
        found.append(values - values.mean())
    assert np.unique(leaf).size == 3
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(runs - 1)
    drawn = scores + rng.logistic(size=(10**5, 3))
    orders, counts = np.unique(np.argsort(-drawn, axis=1), axis=0, return_counts=True)
    laws = {
        "logistic": zip(orders.tolist(), counts / len(drawn), strict=True),
        "gumbel": naive_plackett_luce.rankings(naive_plackett_luce.weights_of(scores)),
    }
    pairs = partial(naive_yeti.classic, y)
    off = {
        name: np.abs(mean - newton_steps(naive_plackett_luce.mean_pairs(pairs, law), scores))
        for name, law in laws.items()
    }
    assert np.all(off["logistic"] < 4 * error) and np.any(off["gumbel"] > 10 * error)


def newton_steps(pairs, scores):
    """Values of leaves with one document each, around their mean."""
    grad, hess = map(np.array, naive.logistic_gradients(pairs, scores))
    steps = -grad / hess
    return steps - steps.mean()


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("yetirank", "YetiRank:mode=Classic;decay=0.85;noise=Gumbel;permutations=10"),
        (
            "yetiloss-ndcg@5(noise='gaussian', noise_scale=0.5, permutations=3)",
            "YetiRank:num_neighbors=1;mode=NDCG;dcg_type=Exp;top=5;noise=Gauss;noise_power=0.5;permutations=3",
        ),
        ("lambdarank-ndcg@7", "LambdaMart:metric=NDCG;sigma=1.0;norm=true;type=Exp;top=7"),
        (
            "Lambda(weight=Scaled(base=YetiAP(), factor=3.0), pairs=RanksApart(1, True), labels=Binary())",
            "YetiRank:num_neighbors=1;mode=MAP;noise=No;permutations=1",
        ),
    ],
)
def test_what_a_loss_is_called(text, loss):
    assert native(to_objective(text)).text == loss


@pytest.mark.parametrize(
    "text",
    [
        "lambdagap-x+@10",
        "lambdarank-map",  # the exact weights are not CatBoost's
        "lambdarank-mrr(variant='catboost', truncation=5)",  # it reads no cutoff there
        "lambdarank-ndcg@10(truncation=20)",
        "lambdarank-ndcg@10(discount='truncated')",
        "lambdarank-ndcg@10(hessian=2.0)",
        "lambdarank-ndcg@10(noise='logistic')",
        "lambdarank-ndcg@10(noise='gumbel')",
        "yetiloss-p@5(noise='gumbel')",
        "ranknet",
        "ranknet(norm=False, sigma=2.0)",
        "yetirank@5",
        "yetirank(neighbours=2)",
        "yetiloss-ndcg(sigma=2.0)",
        "yetiloss-ndcg(noise_scale=2.0)",
        "yetiloss-mrr(neighbours=2)",
        "yetiloss-map",
        "yetiloss-err@5",
        "yetiloss-p@5",
        "stochasticrank-ndcg(estimator='plain')",
        "stochasticrank-map",
        "stochasticrank-mrr@5",
        "listnet",
        "xendcg",
        "approxndcg",
    ],
)
def test_everything_else_fails_before_training(data, text):
    with pytest.raises(rw.InputError) as error:
        small(text).fit(data)
    said = str(error.value)
    assert said.startswith(
        f"CatBoost can't train {to_objective(text)!r}: it takes no per-query gradients"
    )
    assert said.endswith("Engines that can: rankwood, lightgbm, xgboost.")


@pytest.mark.parametrize(
    ("objective", "params", "message"),
    [
        ("stochasticrank-err", {}, "its own StochasticRank is biased for ERR"),
        ("yetirank(noise='gumbel')", {}, "the noise that it calls Gumbel is logistic, which"),
        ("stochasticrank-ndcg(noise_scale=0.5)", {}, "is biased unless noise_scale is 1"),
        ("lambdarank-ndcg@10", {"reg_lambda": 1.0}, "LambdaMart subtracts reg_lambda"),
        (
            "queryrmse",
            {"learning_rat": 0.1},
            "nor CatBoost has a parameter 'learning_rat'; did you mean 'learning_rate'",
        ),
        (
            "queryrmse",
            {"nthread": 2},
            "nor CatBoost has a parameter 'nthread'; did you mean 'n_jobs'",
        ),
        ("queryrmse", {"iterations": 3}, "iterations is set by Ranker itself: use n_estimators="),
        (
            "queryrmse",
            {"cat_features": [1]},
            "cat_features is set by Ranker itself: use categorical_feature=",
        ),
        ("queryrmse", {"train_dir": "x"}, "train_dir means nothing to a ranker"),
        ("queryrmse", {"reg_alpha": 1.0}, "CatBoost has no reg_alpha: omit it"),
        ("queryrmse", {"min_child_weight": 1.0}, "CatBoost has no min_child_weight: omit it"),
        (
            "queryrmse",
            {"min_child_samples": 5},
            "CatBoost has no min_child_samples: its symmetric trees",
        ),
        ("queryrmse", {"max_depth": 40}, "CatBoost can't train: Maximum tree depth is 16"),
        ("queryrmse", {"grow_policy": "up"}, "CatBoost can't train: Key 'up' not found"),
    ],
)
def test_bad_parameters_get_one_plain_sentence(data, objective, params, message):
    with pytest.raises(rw.InputError, match=message) as error:
        small(objective, **params).fit(data)
    assert "\n" not in str(error.value)


def test_bad_data_gets_one_plain_sentence(data):
    weighted = rw.RankingData(data.X, data.y, qid=data.qid, weight=np.ones(data.groups.ids.size))
    with pytest.raises(rw.InputError, match="LambdaMart ignores the weights of queries"):
        small("lambdarank-ndcg@10").fit(weighted)
    with pytest.raises(rw.InputError, match="CatBoost can't train: no feature can split the data"):
        small("queryrmse").fit(np.ones((len(data), 2)), data.y, qid=data.qid)


@pytest.mark.parametrize(
    "objective",
    [
        *("yetirank", "yetiloss-ndcg@10", "yetiloss-mrr", "yetiloss-map(variant='catboost')"),
        *("yetiloss-err", "stochasticrank-ndcg@10", "stochasticrank-mrr", "stochasticrank-pfound"),
        *("lambdarank-ndcg@10", "lambdarank-err(variant='catboost')", "queryrmse", "softmax"),
        "ranknet(norm=False)",
    ],
)
def test_every_family_stops_early_and_keeps_the_best_round(
    data, valid, objective, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    ranker = small(objective, n_estimators=60, learning_rate=0.3, early_stopping_rounds=4)
    ranker.fit(data, valid=valid)
    curve = ranker.history_["ndcg@10"]
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 < 60
    assert len(curve) == min(60, ranker.best_iteration_ + 4)
    # What was seen in training is what the kept model gives, to the bit.
    assert ranker.score(valid) == max(curve) > curve[0]
    assert list(tmp_path.iterdir()) == []  # CatBoost likes to leave files
    ranker.save(tmp_path / "m.json")
    again = rw.Ranker.load(tmp_path / "m.json")
    assert again.predict(valid).tobytes() == ranker.predict(valid).tobytes()
    assert again.objective_ == ranker.objective_
    assert not any(t.name == "catboost" for t in threading.enumerate())


@pytest.mark.parametrize(
    "params",
    [
        {"langevin": True, "model_shrink_rate": 0.5, "diffusion_temperature": 1e5},
        {"model_shrink_rate": 0.5, "model_shrink_mode": "Decreasing"},
        {"grow_policy": "Lossguide"},
        {"grow_policy": "Depthwise", "min_child_samples": 3},
    ],
)
def test_best_round_of_trees_that_can_not_be_cut_off(data, valid, params):
    ranker = small(
        "queryrmse", n_estimators=40, learning_rate=0.5, early_stopping_rounds=3, **params
    )
    ranker.fit(data, valid=valid)
    assert ranker.best_iteration_ < len(ranker.history_["ndcg@10"])
    rounds = ranker.best_iteration_
    alone = small("queryrmse", n_estimators=rounds, learning_rate=0.5, **params).fit(data)
    np.testing.assert_allclose(ranker.predict(valid), alone.predict(valid), rtol=1e-9, atol=1e-12)


def test_parameters_mean_what_they_say(data):
    def used(**params):
        return small("queryrmse", n_estimators=2, **params).fit(data).model_.loaded()[0]

    assert used(num_leaves=9).get_all_params()["depth"] == 4
    assert used(num_leaves=9, max_depth=2).get_all_params()["depth"] == 2
    lossguide = used(num_leaves=5, grow_policy="Lossguide", min_child_samples=7).get_all_params()
    assert (lossguide["max_leaves"], lossguide["min_data_in_leaf"]) == (5, 7)
    params = used(reg_lambda=2.0, colsample_bytree=0.5, random_state=5, border_count=31)
    params = params.get_all_params()
    assert [params[n] for n in ("l2_leaf_reg", "rsm", "random_seed", "border_count")] == [
        2,
        0.5,
        5,
        31,
    ]
    assert used().get_all_params()["bootstrap_type"] == "No"  # subsample=1: every document once
    sampled = used(subsample=0.5).get_all_params()
    assert (sampled["bootstrap_type"], sampled["subsample"]) == ("Bernoulli", 0.5)


def test_equal_scores_have_our_order(lists):
    # The first tree of a loss without noise depends on how equal scores are ordered.
    X, y, sizes = lists
    loss = native(to_objective("lambdarank-ndcg@3"))
    ranker = small("lambdarank-ndcg@3", n_estimators=1, learning_rate=1.0, random_strength=0.0)
    ours = ranker.fit(X, y, group=sizes).predict(X)
    rows = rw.RankingData(X, y, group=sizes).groups.shuffled(0).rows
    theirs = np.empty(y.size)
    theirs[rows] = one_tree(loss, X[rows], y[rows], sizes, np.zeros(y.size))[1]
    np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(one_tree(loss, X, y, sizes, np.zeros(y.size))[1], theirs)


def test_an_interrupt_keeps_the_trees_so_far(data, valid, monkeypatch):
    ranker = small("yetirank", n_estimators=10**6, early_stopping_rounds=None)
    look, seen = CatBoostEngine.valid_scores, []

    def interrupt(self):
        seen.append(len(seen))
        if len(seen) == 30:
            threading.Timer(0.001, os.kill, (os.getpid(), signal.SIGINT)).start()
        return look(self)

    monkeypatch.setattr(CatBoostEngine, "valid_scores", interrupt)
    # A shell starts jobs in the background with SIGINT ignored, and then nothing would end a million rounds.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(data, valid=valid)
    finally:
        signal.signal(signal.SIGINT, before)
    rounds = ranker.best_iteration_
    assert 30 <= rounds <= len(ranker.history_["ndcg@10"]) + 1
    assert ranker.model_.loaded()[0].tree_count_ == rounds
    same = small("yetirank", n_estimators=rounds).fit(data)
    np.testing.assert_array_equal(same.predict(valid), ranker.predict(valid))
    assert not any(t.name == "catboost" for t in threading.enumerate())


def test_an_error_in_evaluation_ends_the_thread(data, valid, monkeypatch):
    def fail(self, run):
        raise RuntimeError("no evaluation today")

    monkeypatch.setattr(EarlyStopping, "after_round", fail)
    with pytest.raises(RuntimeError, match="no evaluation today"):
        small("queryrmse").fit(data, valid=valid)
    assert not any(t.name == "catboost" for t in threading.enumerate())


def test_a_damaged_model_is_one_sentence():
    for text in ("{}", "no json", '{"trees": 1, "categorical": [], "cbm": "AAAA"}'):
        with pytest.raises(rw.InputError, match="CatBoost can't read the model: "):
            load(text)
