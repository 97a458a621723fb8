"""Labels, queries, scores and weights by the names of columns: the same in `fit`, `tune`, `evaluate` and `score`."""

import numpy as np
import pytest

import rankwood as rw
from tests.helpers.optional import LazyPackage

pandas, polars, pyarrow = (LazyPackage(name) for name in ("pandas", "polars", "pyarrow"))
KINDS = {
    "pandas": lambda columns: pandas.DataFrame(columns),
    "polars": lambda columns: polars.DataFrame(columns),
    "arrow": lambda columns: pyarrow.table(columns),
}


def columns(data):
    features = {f"c{i}": data.X[:, i] for i in range(5)}
    return {
        "query": data.qid,
        **features,
        "label": data.y,
        "guess": data.X[:, 0],
        "w": 1.0 + data.qid % 3,
    }


def arrays(data):
    """The features that are left when label, query and weight are named."""
    return np.column_stack([data.X[:, :5], data.X[:, 0]])


@pytest.fixture(scope="module")
def sets():
    return rw.load_demo("train"), rw.load_demo("valid")


def ranker():
    return rw.Ranker(n_estimators=4, n_jobs=1)


@pytest.mark.parametrize("kind", KINDS)
def test_fit_with_a_table_of_validation_data(sets, kind):
    train, valid = sets
    tables = [KINDS[kind](columns(data)) for data in sets]
    named = {"y": "label", "qid": "query", "sample_weight": "w"}
    ours = ranker().fit(tables[0], **named, valid=tables[1])
    weight = 1.0 + train.qid % 3
    same = ranker().fit(
        arrays(train),
        train.y,
        qid=train.qid,
        sample_weight=weight,
        valid=(arrays(valid), valid.y, valid.qid),
    )
    assert ours.history_ == same.history_ and len(ours.history_["ndcg@10"]) == 4
    assert ours.predict(tables[1]).tobytes() == same.predict(arrays(valid)).tobytes()
    assert ours.score(tables[1], y="label", qid="query") == ours.history_["ndcg@10"][-1]
    assert list(ours.feature_names_in_) == [*(f"c{i}" for i in range(5)), "guess"]
    several = ranker().fit(tables[0], **named, valid={"late": tables[1], "early": tables[0]})
    assert several.history_["ndcg@10"] == ours.history_["ndcg@10"]
    assert several.validation_sets_ == ["late", "early"]


@pytest.mark.parametrize("kind", KINDS)
def test_tune(sets, kind):
    pytest.importorskip("optuna")
    train, valid = (KINDS[kind](columns(data)) for data in sets)
    named = {"y": "label", "qid": "query"}
    how = {"trials": 2, "tuner": "random", "verbose": False}
    by_name = rw.tune(ranker(), train, valid, **named, **how)
    made = [rw.RankingData(table, **named) for table in (train, valid)]
    assert [t.value for t in by_name.records] == [
        t.value for t in rw.tune(ranker(), *made, **how).records
    ]
    folds = rw.tune(ranker(), train, **named, folds=2, **how)
    assert len(folds.records) == 2
    with pytest.raises(rw.InputError, match="tune needs to know the queries"):
        rw.tune(ranker(), train, y="label", folds=2)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate(sets, kind):
    train, _ = sets
    table = KINDS[kind](columns(train))
    expected = rw.evaluate("ndcg@10", train, train.X[:, 0]).per_query
    for scores in ("guess", train.X[:, 0]):
        found = rw.evaluate("ndcg@10", table, scores, y="label", qid="query")
        assert found.per_query.tolist() == expected.tolist()
    found = rw.evaluate("ndcg@10", table, "guess", y=train.y, qid=train.qid)
    assert found.per_query.tolist() == expected.tolist()
    group = train.groups.sizes
    assert rw.evaluate("ndcg@10", table, "guess", y="label", group=group).mean() == found.mean()


def test_labels_by_keyword_as_before(sets):
    train, _ = sets
    found = rw.evaluate("ndcg@10", y=train.y, scores=train.X[:, 0], qid=train.qid)
    assert found.mean() == rw.evaluate("ndcg@10", train, train.X[:, 0]).mean()


def test_a_table_of_judgments_with_other_columns_by_name():
    table = pandas.DataFrame({"query_id": ["a", "a"], "doc_id": ["x", "y"], "relevance": [0, 1]})
    found = rw.evaluate("rr", table, [2, 1], y="relevance", qid="query_id")
    assert found.mean() == {"rr": 0.5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df, _: rw.evaluate("ndcg", df, "guess"), "'guess' is the name of a column, and y"),
        (lambda df, _: rw.evaluate("ndcg", df, df["guess"]), "this is a table of several"),
        (lambda df, _: rw.evaluate("ndcg", df, y="label", qid="query"), "evaluate needs scores"),
        (lambda df, _: rw.evaluate("ndcg"), "evaluate needs labels"),
        (lambda df, _: rw.evaluate("ndcg", df, "gues", y="label"), "did you mean 'guess'"),
        (lambda df, d: rw.evaluate("ndcg", d, d.y, y="label"), "y is for the labels of a table"),
        (lambda df, d: rw.evaluate("ndcg", d.y, "guess"), "there is no table"),
        (lambda df, d: ranker().fit(d, valid=df), "valid=(df2, 'label', 'query')"),
        (lambda df, d: ranker().fit(df, y=d.y, qid="query", valid=df), "nothing says which"),
        (
            lambda df, _: ranker().fit(df, y="label", qid="query", valid=df.drop(columns="label")),
            "in the validation data, the table has no column 'label'",
        ),
        (
            lambda df, _: ranker().fit(df, y="label", qid="query", valid=df.drop(columns="c1")),
            "X lacks the column 'c1'",
        ),
        (lambda df, _: rw.tune(ranker(), df, df), "as in tune(..., y='label'"),
        (lambda df, _: rw.tune(ranker(), "train.txt", folds=2), "X is the name of a file"),
    ],
)  # fmt: skip
def test_mistakes(sets, call, message):
    with pytest.raises(rw.InputError) as caught:
        call(pandas.DataFrame(columns(sets[0])), sets[0])
    assert message in str(caught.value)
