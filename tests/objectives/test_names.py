"""Objectives by the names of other programs: the same loss, or an answer that says what to type."""

import re

import catboost as cb
import numpy as np
import pytest
import xgboost as xgb

import rankwood as rw
from rankwood._util.foreign_names import PROGRAMS, ROWS
from rankwood.engines.catboost.losses import native
from rankwood.objectives.families.registry import OBJECTIVES
from rankwood.objectives.position_weights import has_cutoff
from rankwood.tuning.objective_texts import cutoff_of, parameters_of, with_parameters
from tests.helpers.oracle import interpreted
from tests.helpers.random_lists import random_lists
from tests.helpers.refusals import refusal_test

#: What people type, and what it is.
SAME = {
    "LambdaMART": "lambdarank-ndcg",
    "lambdamart@10": "lambdarank-ndcg@10",
    "LambdaMART@10(norm=False)": "lambdarank-ndcg@10(norm=False)",
    "ndcg": "lambdarank-ndcg",
    "nDCG@10": "lambdarank-ndcg@10",
    "map": "lambdarank-map",
    "MRR": "lambdarank-mrr",
    "precision@5": "lambdarank-p@5",
    "rank:ndcg": "lambdarank-ndcg@32(hessian=2)",
    "rank:map": "lambdarank-map(truncation=32, hessian=2)",
    "rank:pairwise": "ranknet(hessian=2)",
    "rank_xendcg": "xendcg",
    "lambdarank": "lambdarank-ndcg@30",
    "YetiRank": "yetirank",
    "PairLogit": "ranknet(norm=False)",
    "QuerySoftMax": "softmax",
    "queryRMSE": "queryrmse",
    "RMSE": "rmse",
    "MART": "rmse",
    "regression": "rmse",
    "reg:squarederror": "rmse",
    "approx_ndcg_loss": "approxndcg(temperature=0.1)",
    "softmax_loss": "softmax",
    "pairwise_logistic_loss": "ranknet(norm=False)",
    "bi-LambdaMART@5": "bi-lambdarank-ndcg@5",
    "StochasticRank:metric=NDCG;top=5;type=Exp": "stochasticrank-ndcg@5",
}


@pytest.mark.parametrize("name", SAME)
def test_names_are_read(name):
    assert rw.objective(name) == rw.objective(SAME[name])
    assert rw.objective(repr(rw.objective(name))) == rw.objective(SAME[name])


#: Texts of CatBoost, each of which must train what CatBoost makes of it.
CATBOOST = [
    "YetiRank",
    "YetiRank:decay=0.7;permutations=3",
    "YetiRank:mode=NDCG",
    "YetiRank:mode=NDCG;top=3;dcg_type=Exp;num_neighbors=2",
    "YetiRank:mode=DCG;noise=Gauss;noise_power=0.5;permutations=2",
    "YetiRank:mode=MRR",
    "YetiRank:mode=MAP;num_neighbors=-1;noise=No;permutations=1",
    "YetiRank:mode=ERR",
    "LambdaMart:metric=NDCG",
    "LambdaMart:metric=NDCG;top=3;type=Exp;norm=false;sigma=2",
    "LambdaMart:metric=MAP",
    "LambdaMart:metric=MRR",
    "LambdaMart:metric=ERR",
    "StochasticRank:metric=NDCG;top=3",
    "StochasticRank:metric=DCG;type=Exp;num_estimations=2;mu=0.1;lambda=0.5;nu=0.1",
    "StochasticRank:metric=PFound",
    "PairLogit",
    "QueryRMSE",
]


@pytest.fixture(scope="module")
def lists():
    X, y, sizes = random_lists(np.random.default_rng(5), queries=12, longest=12, features=3)
    return X, np.minimum(y, 1.0), np.repeat(np.arange(sizes.size), sizes)


@pytest.mark.parametrize("text", CATBOOST)
def test_catboost_trains_the_same_by_its_text_and_by_ours(text, lists):
    X, y, qid = lists
    ours = native(rw.objective(text))
    trained = []
    for loss in (text, ours.text):
        quiet = {"logging_level": "Silent", "allow_writing_files": False, "thread_count": 1}
        params = {"iterations": 2, "depth": 2, "random_seed": 3, "loss_function": loss, **quiet}
        model = cb.CatBoost(params).fit(cb.Pool(X, y, group_id=qid))
        trained.append(model.predict(X))
    np.testing.assert_array_equal(*trained)
    assert np.unique(trained[0]).size > 1


def test_pairs_of_xgboost(lists):
    # Lists are shorter than 32, beyond which XGBoost omits pairs.
    X, y, qid = lists
    scores = np.random.default_rng(2).normal(size=y.size).astype(np.float32)
    matrix = xgb.DMatrix(X, y, qid=qid, base_margin=scores)
    params = {"objective": "rank:pairwise", "max_depth": 2}
    params |= {"reg_lambda": 0.0, "learning_rate": 1.0, "base_score": 0.0, "min_child_weight": 0}
    booster = xgb.train({**params, "nthread": 1}, matrix, 1)
    leaf = booster.predict(matrix, pred_leaf=True).astype(int).ravel()
    theirs = booster.predict(matrix, output_margin=True) - scores
    with interpreted():
        grad, hess = rw.gradients("rank:pairwise", y, scores, qid=qid)
    ours = -np.bincount(leaf, grad)[leaf] / np.bincount(leaf, hess)[leaf]
    assert np.unique(leaf).size > 2
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_names_of_others_can_be_tuned():
    assert (
        with_parameters("rank:ndcg", {"sigma": 2.0}) == "lambdarank-ndcg@32(hessian=2, sigma=2.0)"
    )
    assert (cutoff_of("bi-LambdaMART@5"), cutoff_of("LambdaMART")) == (5, None)
    assert "truncation" in parameters_of("LambdaMART")
    assert has_cutoff("YetiRank:mode=NDCG") and not has_cutoff("QueryRMSE")


def test_every_row_is_read_or_answered():
    for row in ROWS["objective"]:
        assert row.program in PROGRAMS
        chosen = [f"{key}={values[0]}" for key, values in row.when.items() if values[0]]
        text = row.name + (":" + ";".join(chosen) if chosen else "") + "@5" * row.cutoff
        if row.ours:
            assert row.ours in OBJECTIVES, row
            rw.objective(text)
        else:
            with pytest.raises(rw.InputError, match=r"there is no objective .* nearest (is|are) '"):
                rw.objective(text)
            for name in re.findall(r"'([^']*)'", row.note.split("nearest")[1]):
                rw.objective(name.replace("@k", "@5"))  # what the answer names can be typed


test_what_names_answer = refusal_test(
    rw.objective,
    [
        ("YetiRankPairwise", "its trees see pairs of rows; nearest is 'yetirank'"),
        ("list_mle_loss", "likelihood of the whole order; nearest are 'listnet' and 'softmax'"),
        (
            "YetiRank:mode=Foo",
            "CatBoost's YetiRank is read with mode= Classic, NDCG, DCG, MRR, MAP, ERR",
        ),
        ("StochasticRank", "StochasticRank is read with metric= NDCG, DCG"),
        (
            "YetiRank:mode=NDCG;dcg_denominator=Position",
            "must be one of LogPosition here, got 'Pos",
        ),
        ("rank:ndgc", "unknown objective 'rank:ndgc'; did you mean 'rank:ndcg'"),
        (
            "LambdaRank-NDCG@5",
            "unknown objective 'LambdaRank-NDCG'; did you mean 'lambdarank-ndcg'",
        ),
        ("binary:logistic", "it classifies each row by itself; nearest is 'rmse'"),
        ("recall@10", "it is a metric without an objective of its own"),
    ],
)
