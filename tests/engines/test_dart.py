"""DART, and other runs that can't be resumed, draw at random as LightGBM and XGBoost themselves do."""

import json
import re

import lightgbm as lgb
import numpy as np
import pytest

import rankwood as rw

ROUNDS, SEEDS = 30, range(6)
SHARED = {"n_estimators": ROUNDS, "num_leaves": 7, "learning_rate": 0.1, "n_jobs": 1}
DRAWS = [
    {"extra_trees": True},
    {"extra_trees": False, "subsample": 0.8},
    {"extra_trees": False, "colsample_bytree": 0.7},
    {"extra_trees": True, "subsample": 0.8, "colsample_bytree": 0.7},
]


@pytest.fixture(scope="module")
def train():
    return rw.make_ranking(40, seed=1)


def weights(text):
    """The weights of trees, each the learning rate times what normalisation has left of it."""
    return [float(word) for word in re.findall(r"^shrinkage=(\S+)$", text, flags=re.MULTILINE)]


def native(train, objective, seed, rounds=ROUNDS, **more):
    """LightGBM alone."""
    params = {"seed": seed, "num_leaves": 7, "num_threads": 1, "verbosity": -1, **more}
    if "subsample" in more:
        params["bagging_freq"] = more.get("bagging_freq", 1)
    sizes = np.unique(train.qid, return_counts=True)[1]
    data = lgb.Dataset(train.X, train.y, group=sizes)
    if isinstance(objective, str):
        return lgb.train({**params, "objective": objective}, data, rounds)
    booster = lgb.Booster({**params, "objective": "none"}, data)

    def first(scores, data):
        # With gradients from outside, DART reads a flag that it hasn't set: it draws before the first round, or not.
        booster.reset_parameter({"learning_rate": 0.1})
        return objective(scores, data)

    for number in range(rounds):
        booster.update(fobj=first if number == 0 and "boosting" in more else objective)
    return booster


def squared(train):
    """The gradients of the squared error up to a constant for each query, in plain NumPy."""

    def gradients(scores, _):
        rest = scores - train.y
        for query in np.unique(train.qid):
            rest[train.qid == query] -= rest[train.qid == query].mean()
        return rest, np.ones_like(rest)

    return gradients


@pytest.mark.parametrize("draws", DRAWS, ids=str)
def test_trees_have_the_weights_of_native_dart(train, draws):
    for seed in SEEDS:
        ranker = rw.Ranker(boosting="dart", random_state=seed, **draws, **SHARED).fit(train)
        booster = native(train, squared(train), seed, boosting="dart", **draws)
        assert weights(ranker.model_.text) == weights(booster.model_to_string())


def test_as_many_trees_are_dropped_as_by_lightgbm_with_its_own_objective(train):
    def dropped(texts):
        """Numbers of distinct weights, and the share of trees that were dropped, or grown beside a drop."""
        all_weights = [weights(text) for text in texts]
        share = np.mean([weight < 0.0999 for one in all_weights for weight in one])
        return np.mean([len(set(one)) for one in all_weights]), share

    ours = [
        rw.Ranker("lambdarank-ndcg", boosting="dart", random_state=seed, **SHARED).fit(train)
        for seed in SEEDS
    ]
    theirs = [native(train, "lambdarank", seed, boosting="dart") for seed in SEEDS]
    distinct, share = dropped([ranker.model_.text for ranker in ours])
    expected, expected_share = dropped([booster.model_to_string() for booster in theirs])
    # Six runs of 30 trees: two standard errors of the number are about 2, of the share about 0.1.
    assert abs(distinct - expected) < 3 and abs(share - expected_share) < 0.12
    again = rw.Ranker("lambdarank-ndcg", boosting="dart", random_state=3, **SHARED).fit(train)
    assert again.model_.text == ours[3].model_.text
    more = {**SHARED, "n_jobs": 2}
    threads = rw.Ranker("lambdarank-ndcg", boosting="dart", random_state=3, **more).fit(train)
    assert threads.predict(train).tobytes() == ours[3].predict(train).tobytes()


@pytest.mark.parametrize(
    "more",
    [
        {"boosting": "dart", "colsample_bytree": 0.7},
        {"data_sample_strategy": "goss", "top_rate": 0.1, "other_rate": 0.2},
        {"subsample": 0.5, "bagging_freq": 4},
        {"cegb_penalty_feature_coupled": [2.0] * 20},
    ],
    ids=lambda more: next(iter(more)),
)
def test_runs_that_cannot_be_resumed_grow_the_trees_of_lightgbm(train, more):
    how = {**SHARED, "n_estimators": 12, "extra_trees": True, "learning_rate": 0.1}
    ranker = rw.Ranker("queryrmse", **how, **more, random_state=4).fit(train)
    booster = native(train, squared(train), 4, 12, extra_trees=True, **more)
    np.testing.assert_allclose(ranker.predict(train), booster.predict(train.X), atol=1e-5)


@pytest.mark.parametrize("name", ["cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy"])
def test_penalties_of_features_are_not_resumed(train, tmp_path, name):
    ranker = rw.Ranker(**{**SHARED, "n_estimators": 2}, **{name: [0.1] * 20})
    with pytest.raises(rw.InputError, match=f"{name} can't be resumed: its state isn't in"):
        ranker.fit(train, checkpoint=tmp_path / "run.ckpt")


@pytest.mark.parametrize("when", range(3, 7))
def test_an_error_within_a_round_leaves_no_tree_dropped(train, when):
    """LightGBM drops trees before it asks for gradients, by changing their signs."""
    dart = {"boosting": "dart", "drop_rate": 0.7, "skip_drop": 0.0}
    whole = rw.Ranker(**{**SHARED, "n_estimators": when}, **dart).fit(train)
    stopped = rw.Ranker(**SHARED, **dart, record="seconds")
    compute = rw.objectives.gradients.GradientComputer.__call__

    def failing(self, scores, number):
        if number == when:
            raise RuntimeError("no gradients")
        return compute(self, scores, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rw.objectives.gradients.GradientComputer, "__call__", failing)
        with pytest.raises(RuntimeError, match="no gradients"):
            stopped.fit(train)
    assert stopped.best_iteration_ == when
    assert stopped.predict(train).tobytes() == whole.predict(train).tobytes()


def test_xgboost_drops_trees_for_every_seed(train):
    pytest.importorskip("xgboost")
    how = {**SHARED, "n_estimators": 15, "engine": "xgboost", "booster": "dart", "rate_drop": 0.2}
    for seed in SEEDS:
        ranker = rw.Ranker(**how, subsample=0.8, colsample_bytree=0.7, random_state=seed).fit(train)
        booster = json.loads(ranker.model_.text)["learner"]["gradient_booster"]
        assert len(set(booster["weight_drop"])) > 5  # 8 to 15 in XGBoost alone
