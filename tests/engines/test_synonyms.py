"""Parameters by the names of other programs: taken or answered, and never two names for one."""

import inspect
import re
from itertools import combinations

import lightgbm as lgb
import pytest

import rankwood as rw
from rankwood.engines import base
from rankwood.estimators.parameters import engine_params
from rankwood.objectives.families.registry import objective
from tests.helpers.optional import LazyPackage

catboost = LazyPackage("catboost")

OBJECTIVES = {
    "lightgbm": "lambdarank-ndcg@10",
    "xgboost": "lambdarank-ndcg@10",
    "catboost": "queryrmse",
    "pairtree": "bi-lambdarank-ndcg@5",
}


def lightgbm_groups():
    """LightGBM's own table of aliases."""
    table = lgb.basic._ConfigAliases._get_all_param_aliases()
    return [sorted({key, *others}) for key, others in table.items() if len({key, *others}) > 1]


def catboost_groups():
    """The groups of names that CatBoost's own sources list."""
    source = inspect.getsource(catboost.core._process_synonyms_groups)
    found = [re.findall(r"'(\w+)'", line) for line in source.splitlines() if "_group([" in line]
    return [*found, ["loss_function", "objective"]]


# As XGBoost documents them; its estimator adds the names of scikit-learn.
XGBOOST = [
    ["learning_rate", "eta"],
    ["gamma", "min_split_loss"],
    ["reg_lambda", "lambda"],
    ["reg_alpha", "alpha"],
    ["n_jobs", "nthread"],
    ["random_state", "seed"],
    ["max_leaves", "num_leaves"],
    ["n_estimators", "num_boost_round", "num_round"],
]
GROUPS = {
    "lightgbm": lightgbm_groups(),
    "catboost": [*catboost_groups(), ["rsm", "colsample_bytree"], ["thread_count", "n_jobs"]],
    "xgboost": XGBOOST,
}
assert all(len(groups) > 7 for groups in GROUPS.values())


def refusal(engine, params):
    """Return what is wrong with parameters, None if nothing is."""
    try:
        ranker = rw.Ranker(**{"objective": OBJECTIVES[engine], "engine": engine, **params})
        base.check_params(engine, engine_params(ranker), objective(OBJECTIVES[engine]))
    except rw.InputError as error:
        return str(error)
    return None


def value_of(name):
    """Return a value that no parameter of Ranker has by default."""
    words = {"objective": "ranknet", "verbose": True, "eval_metric": "map"}
    number = (
        7 if re.search("num|max|min|depth|leaf|iter|round|estim|jobs|seed|state", name) else 0.7
    )
    return words.get(name, number)


@pytest.mark.parametrize("engine", GROUPS)
def test_two_names_of_one_parameter_are_an_error(engine):
    own = set(inspect.signature(rw.Ranker.__init__).parameters)
    checked = 0
    for group in GROUPS[engine]:
        for one, other in combinations(group, 2):
            message = refusal(engine, {one: value_of(one), other: value_of(other)})
            assert message is not None, (one, other)
            checked += 1
            if not {one, other} <= own and "same parameter" not in message:
                # A name that Ranker doesn't take: the message says which one to use.
                assert re.search(r"use \w+=|omit it|did you mean|write ", message), (
                    one,
                    other,
                    message,
                )
    assert checked >= 10


def test_eta_beside_learning_rate():
    message = "learning_rate and eta are the same parameter: give one of them."
    for engine in ("lightgbm", "xgboost", "catboost"):
        assert refusal(engine, {"eta": 0.5, "learning_rate": 0.1}) == message
        assert refusal(engine, {"eta": 0.5}) is None
    assert refusal("lightgbm", {"lambda_l2": 1.0, "lambda": 1.0}) is not None
    assert refusal("lightgbm", {"extra_tree": True, "extra_trees": True}) is not None
    data = rw.make_ranking(20, seed=1)
    with pytest.raises(rw.InputError, match="are the same parameter"):
        rw.Ranker(eta=0.5, learning_rate=0.1).fit(data)


#: What people write in constructors, and what the answer names, unless the engine takes the word.
WORDS = {
    "eta": "learning_rate",
    "num_boost_round": "n_estimators",
    "iterations": "n_estimators",
    "n_iter": "n_estimators",
    "num_trees": "n_estimators",
    "lambda_l1": "reg_alpha",
    "lambda_l2": "reg_lambda",
    "l2_leaf_reg": "reg_lambda",
    "depth": "max_depth",
    "max_leaves": "num_leaves",
    "min_data_in_leaf": "min_child_samples",
    "bagging_fraction": "subsample",
    "feature_fraction": "colsample_bytree",
    "rsm": "colsample_bytree",
    "seed": "random_state",
    "thread_count": "n_jobs",
    "nthread": "n_jobs",
    "verbosity": "verbose",
    "loss_function": "objective",
    "metric": "eval_metric",
    "custom_metric": "eval_metric",
    "eval_at": "eval_metric",
    "od_wait": "early_stopping_rounds",
    "cat_features": "categorical_feature",
    "label_gain": "gain=",
    "lambdarank_truncation_level": "lambdarank-ndcg@30",
    "lambdarank_norm": "norm=",
    "sigmoid": "sigma=",
    "group_id": "qid=",
    "group": "group=",
    "sample_weight": "weight=",
    "eval_set": "valid=",
    "callbacks": "callbacks=",
}


@pytest.mark.parametrize("engine", OBJECTIVES)
@pytest.mark.parametrize("word", WORDS)
def test_words_of_other_programs_are_taken_or_answered(engine, word):
    message = refusal(engine, {word: value_of(word)})
    assert message is None or WORDS[word] in message, message


def test_what_is_taken_reaches_the_engine():
    data = rw.make_ranking(30, seed=2)
    for engine in ("lightgbm", "xgboost"):
        fits = [
            rw.Ranker(engine=engine, n_estimators=3, **{name: 2.0}).fit(data).predict(data)
            for name in ("reg_lambda", "lambda")
        ]
        assert (fits[0] == fits[1]).all() and fits[0].std() > 0
