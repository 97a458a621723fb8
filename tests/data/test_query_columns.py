"""Is this the query column? A warning if ids of queries were left among the features of a table."""

import warnings

import numpy as np
import pandas as pd
import pytest

import rankwood as rw
from tests.helpers.optional import LazyPackage

pl = LazyPackage("polars")

SIZES = [3] * 12
QID = np.repeat(np.arange(12), 3) * 7 + 100


def table(**columns):
    rng = np.random.default_rng(0)
    return {"x": rng.random(36), **columns}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", ["qid", "Query_ID", "query id", "group", "some name"])
def test_ids_among_the_features(make, name):
    with pytest.warns(UserWarning, match=f"is the feature '{name}' the query column") as caught:
        rw.RankingData(make(table(**{name: QID})), np.zeros(36), qid=QID)
    assert len(caught) == 1 and f"give qid='{name}', which takes it out" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_categories_may_be_ids_too():
    words = pd.Categorical([f"what is {q}" for q in QID])
    with pytest.warns(UserWarning, match="is the feature 'words' the query column"):
        rw.RankingData(pd.DataFrame(table(words=words)), np.zeros(36), group=SIZES)


def test_without_queries_a_name_is_enough():
    with pytest.warns(UserWarning, match="All documents are one query now: give qid='qid'"):
        rw.RankingData(pd.DataFrame(table(qid=QID)), np.zeros(36))


@pytest.mark.parametrize(
    "columns",
    [
        {"length": np.repeat([2, 3, 4, 5] * 3, 3)},  # of the query, but not different everywhere
        # Different everywhere, but not whole numbers.
        {"idf": np.repeat(np.linspace(0.1, 0.9, 12), 3)},
        {"price": np.arange(36)},
        {"group": np.arange(36) % 4},  # called so, but of documents
        {"missing": np.full(36, np.nan)},
    ],
)
def test_features_of_queries_are_no_ids(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rw.RankingData(pd.DataFrame(table(**columns)), np.zeros(36), qid=QID)


def test_few_queries_prove_nothing_and_the_named_column_is_no_feature():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "length": [2, 2, 3, 3]})
        rw.RankingData(few, [0, 1, 0, 1], qid=[1, 1, 2, 2])
        data = rw.RankingData(pd.DataFrame(table(qid=QID, y=np.zeros(36))), "y", qid="qid")
        rw.RankingData(pd.DataFrame({"x": np.arange(12)}), np.zeros(12), qid=np.arange(12))
        data.split(0.5)
    assert data.feature_names == ["x"]
