"""scikit-learn: its own checks through one query, tags, model selection by whole queries, pipelines."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, check_sample_weights_not_overwritten

import rankwood as rw
from tests.helpers.one_query import OneQueryNetwork, OneQueryRanker, OneQueryTwoStage
from tests.helpers.paths import DOCS

PAGE = (DOCS / "scikit-learn.md").read_text(encoding="utf-8")
TINY = {"n_estimators": 2, "n_jobs": 1, "verbose": False}
TREES = {"min_child_samples": 1, "num_leaves": 4, **TINY}
STAGES = (rw.Ranker(**TREES), rw.Ranker(**TREES))
CHECKED = {
    "lightgbm": OneQueryRanker(**TREES),
    "xgboost": OneQueryRanker(engine="xgboost", **TINY),
    "catboost": OneQueryRanker("yetirank", "catboost", **TINY),
    "pairtree": OneQueryRanker("bi-softmax", "pairtree", **TREES),
    "dnn": OneQueryNetwork("dnn"),
    "setrank": OneQueryNetwork("setrank"),
    "TwoStage": OneQueryTwoStage(*STAGES, top=5, folds=1, verbose=False),
}


def named_failures(estimator):
    """Return the checks that the page names for an estimator, with their reasons."""
    rows = re.findall(r"^\| `(check_\w+)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    return {check: why for check, who, why in rows if who == "all" or estimator in who.split(", ")}


@pytest.mark.parametrize("name", CHECKED)
def test_checks_of_scikit_learn(name):
    named = named_failures(name)
    results = check_estimator(
        CHECKED[name], on_fail=None, on_skip=None, expected_failed_checks=named
    )
    found = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not found
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    # The page names no check that passes; the order of a sum changes its last bits on some machines only.
    passed = named.keys() - {r["check_name"] for r in results if r["status"] == "xfail"}
    assert passed <= {"check_methods_sample_order_invariance"}
    assert sum(r["status"] == "passed" for r in results) > 30


def test_weights_of_documents_are_taken_where_the_loss_is_a_sum_over_them():
    check_sample_weights_not_overwritten("softmax", OneQueryRanker("softmax", **TREES))


def test_numbers_of_type_object_are_numbers(lists):
    """What check_dtype_object is about, before it expects a TypeError."""
    X, y, sizes = lists
    ranker = rw.Ranker(**TREES)
    scores = ranker.fit(X, y, group=sizes).predict(X)
    again = ranker.fit(X.astype(object), y.astype(object), group=sizes).predict(X.astype(object))
    assert again.tobytes() == scores.tobytes()


class Picky(rw.Ranker):
    """A stage that takes neither sparse matrices nor missing values."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags


def test_tags():
    networks = [rw.NeuralRanker(), rw.TwoStage(rw.Ranker(), rw.NeuralRanker())]
    for estimator in (rw.Ranker(), *CHECKED.values(), rw.TwoStage(), *networks):
        tags = get_tags(estimator)
        assert tags.input_tags.sparse and tags.input_tags.allow_nan and tags.target_tags.required
        assert tags.estimator_type is None and tags.requires_fit and not tags.non_deterministic
    for stages in ({"first": Picky()}, {"second": Picky()}):
        tags = get_tags(rw.TwoStage(**stages)).input_tags
        assert not tags.sparse and not tags.allow_nan


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost", "pairtree", "TwoStage"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_tables_rank_as_dense_ones(name, kind, rng):
    X = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.5)
    X[rng.random((40, 3)) < 0.1] = np.nan
    y, ranker = rng.integers(0, 3, 40), clone(CHECKED[name])
    dense = ranker.fit(X, y).predict(X)
    assert np.isfinite(dense).all()
    np.testing.assert_array_equal(ranker.fit(kind(X), y).predict(kind(X)), dense)


def test_data_that_nothing_can_be_learned_from():
    with pytest.raises(rw.InputError, match=r"at least one feature.*\(shape=\(3, 0\)\)"):
        rw.Ranker(**TREES).fit(np.ones((3, 0)), [0, 1, 0], group=[3])
    with pytest.raises(rw.InputError, match="fit needs at least two documents"):
        rw.Ranker(**TREES).fit(rw.RankingData([[1.0]], [1]))


# Model selection


@pytest.fixture(scope="module")
def table():
    """Ten queries of six documents, rows mixed."""
    rng = np.random.default_rng(4)
    qid = rng.permutation(np.repeat(np.arange(10), 6))
    X = rng.normal(size=(60, 3))
    return X, np.digitize(X[:, 0], [0.0, 1.0]), qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


ESTIMATORS = {
    "trees": rw.Ranker(**TREES),
    "network": rw.NeuralRanker(hidden=(4,), epochs=1, n_jobs=1, verbose=False),
    "two stages": rw.TwoStage(*STAGES, top=3, folds=2, verbose=False),
    "pipeline": make_pipeline(StandardScaler(), rw.Ranker(**TREES)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_queries_that_a_splitter_tears_apart_are_an_error(name, table, routing):
    X, y, qid = table
    given = {"params": {"qid": qid}, "cv": KFold(2)}
    with pytest.raises(rw.InputError, match=r"tore 10 of the 10 queries .*such as GroupKFold"):
        cross_val_score(ESTIMATORS[name], X, y, error_score="raise", **given)
    with pytest.warns(UserWarning, match="the splitter tore 10 of the 10 queries"):
        values = cross_val_score(ESTIMATORS[name], X, y, **given)
    assert np.isnan(values).all()


def test_one_torn_query_is_enough(table, routing):
    X, y, qid = table
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    parts = [(np.arange(27), np.arange(27, 60))]  # query 4 has 3 documents in each
    with pytest.raises(
        rw.InputError, match=r"tore 1 of the 6 queries of the test part apart, query 4"
    ):
        cross_val_score(
            rw.Ranker(**TREES), X, y, params={"qid": qid}, cv=parts, error_score="raise"
        )


def by_hand(estimator, X, y, qid):
    """Return the score of each part of a cross-validation by whole queries."""
    splits = GroupKFold(3).split(X, y, qid)
    return [
        clone(estimator).fit(X[a], y[a], qid=qid[a]).score(X[b], y[b], qid=qid[b])
        for a, b in splits
    ]


@pytest.mark.parametrize("name", ["trees", "network", "two stages"])
def test_whole_queries_are_scored(name, table, routing):
    X, y, qid = table
    given = {"params": {"qid": qid, "groups": qid}, "cv": GroupKFold(3), "error_score": "raise"}
    found = cross_validate(ESTIMATORS[name], X, y, return_train_score=True, **given)
    assert found["test_score"].tolist() == by_hand(ESTIMATORS[name], X, y, qid)
    assert (found["train_score"] > 0).all()  # the training part again, which is no torn query


def test_ids_mean_nothing_outside_of_a_split(table, routing):
    """Files number their queries anew: only the parts of one split are known to have the same ids."""
    X, y, qid = table
    ranker = rw.Ranker(**TREES)
    search = GridSearchCV(ranker, {"num_leaves": [3, 4]}, cv=GroupKFold(2), error_score="raise")
    search.fit(X, y, qid=qid, groups=qid)
    other = (X[:25], y[:25])
    assert search.score(*other, qid=qid[:25] * 0) > 0
    assert search.best_estimator_.score(*other, qid=qid[:25]) > 0
    assert ranker.fit(X, y, qid=qid).score(*other, qid=qid[:25]) > 0
    # Cross-validation of the search: its splits inside and the one outside are by whole queries.
    given = {"params": {"qid": qid, "groups": qid}, "cv": GroupKFold(2), "error_score": "raise"}
    assert cross_val_score(search, X, y, **given).shape == (2,)


def test_without_routing_the_score_says_what_is_missing(table):
    X, y, qid = table
    cv = GroupKFold(2).split(X, y, qid)
    with pytest.warns(UserWarning, match="switch on metadata routing to hand qid on"):
        values = cross_val_score(rw.Ranker(**TREES), X, y, params={"qid": qid}, cv=cv)
    assert np.isnan(values).all()


def test_pipelines_of_tables_keep_the_names(table):
    X, y, qid = table
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    pipe = make_pipeline(StandardScaler(), rw.Ranker(**TREES)).set_output(transform="pandas")
    pipe.fit(frame, y, ranker__qid=qid)
    assert pipe[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    plain = make_pipeline(StandardScaler(), rw.Ranker(**TREES)).fit(X, y, ranker__qid=qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(pipe.predict(frame), plain.predict(X))
    # Columns are matched by name; the scaler itself insists on their order.
    np.testing.assert_array_equal(
        pipe[-1].predict(pipe[:-1].transform(frame)[["c", "a", "b"]]), plain.predict(X)
    )
