"""Warnings about data: each where it belongs, once, and none on data that is fine."""

import warnings

import numpy as np
import pytest

import rankwood as rw
from rankwood.fit.data_warnings import findings
from rankwood.fit.validation import validation_sets
from tests.helpers.cli_calls import caller
from tests.helpers.random_lists import random_lists


def found(train, valid=None, shuffle=True):
    return list(findings(train, validation_sets(valid, train), shuffle, 1))


def generated(seed, queries=60, ids=None):
    X, y, sizes = random_lists(np.random.default_rng(seed), queries=queries, longest=20)
    qid = np.repeat(np.arange(queries) if ids is None else ids, sizes)
    return rw.RankingData(X, y, qid=qid)


@pytest.fixture(scope="module")
def train():
    return generated(1)


def test_no_false_alarms(train):
    demo = {part: rw.load_demo(part) for part in ("train", "valid", "test")}
    others = {name: demo[name] for name in ("valid", "test")}
    assert found(demo["train"], others, shuffle=False) == []
    assert found(train, generated(2), shuffle=False) == []
    for part, rest in train.folds(3):
        assert found(part, rest, shuffle=False) == []
    made = rw.make_ranking(100, seed=3)
    assert found(*made.split(0.3), shuffle=False) == []


def test_no_false_alarms_on_few_or_discrete_data():
    rng = np.random.default_rng(4)
    few = rw.RankingData([[2.0], [1.0], [0.0]] * 4, [2, 1, 0] * 4, group=[3] * 4)
    assert found(few, shuffle=False) == []  # four queries may be sorted by chance
    X = rng.integers(0, 2, (400, 3)).astype(float)
    flags = rw.RankingData(X, rng.integers(0, 2, 400), group=[1, 3] * 100)
    other = rw.RankingData(np.ones((50, 3)), rng.integers(0, 2, 50), group=[1] * 50)
    assert found(flags, other) == [
        "no query of the validation data has different labels: "
        "no metric can tell rounds apart; check that y has the relevance of each "
        "document, and qid its query."
    ]


def test_equal_labels(train):
    ones = rw.RankingData(train.X, np.ones(len(train)), qid=train.qid)
    (text,) = found(ones)
    assert text.startswith("all labels of the training data are 1: there is no order to learn")
    by_query = rw.RankingData(train.X, train.groups.per_row(np.arange(60) % 3), qid=train.qid)
    (text,) = found(by_query)
    assert text.startswith("no query of the training data has different labels")
    new = generated(2)
    zeros = rw.RankingData(new.X, np.zeros(len(new)), qid=new.qid)
    (text,) = found(train, {"late": zeros})
    assert text.startswith("all labels of the validation data 'late' are 0: no metric can tell")


def test_shared_queries(train):
    (text,) = found(train, train)
    assert text.startswith("all 60 queries of the validation data are in the training data too")
    order = np.random.default_rng(5).permutation(len(train))
    moved = rw.RankingData(
        train.X[order].astype(np.float32).astype(np.float64), train.y[order], qid=train.qid[order]
    )
    single = rw.RankingData(train.X.astype(np.float32), train.y, qid=train.qid)
    (text,) = found(single, moved)  # in another order, and as other floats
    assert text.startswith("all 60 queries")
    several = int((train.groups.sizes[:7] > 1).sum())  # single documents may be equal by chance
    new = generated(6, 30, np.arange(1000, 1030))
    part = rw.RankingData.concat([new, train.select(np.arange(7))])
    (text,) = found(train, part)
    assert text.startswith(f"{several} queries of 37 of the validation data are in the training")
    one = rw.RankingData.concat([new, train.select([int(train.groups.sizes.argmax())])])
    (text,) = found(train, {"late": one})
    assert text.startswith(
        "1 query of 31 of the validation data 'late' is in the training data too"
    )


def test_training_data_may_be_watched(train):
    other = generated(2)
    assert found(train, {"later": other, "training": train}) == []
    mixed = rw.RankingData.concat([generated(3, 9, np.arange(1000, 1009)), train])
    (text,) = found(train, {"later": other, "mixed": mixed})
    assert "mixed" in text and "looks better on it than it is" in text
    assert len(found(train, {"training": train, "later": other})) == 1


def test_labels_of_equal_documents_may_differ(train):
    """Other labels: judged again, or another query with the same features."""
    other = rw.RankingData(train.X, train.y + 5, qid=train.qid)
    assert found(train, other) == []


def test_torn_queries():
    whole = generated(7, ids=np.arange(500, 560))
    rows = np.random.default_rng(8).random(len(whole)) < 0.7
    halves = [
        rw.RankingData(whole.X[some], whole.y[some], qid=whole.qid[some]) for some in (rows, ~rows)
    ]
    (text,) = found(*halves)
    shared = len(set(halves[0].qid) & set(halves[1].qid))
    queries = halves[1].groups.ids.size
    assert text.startswith(f"{shared} queries of {queries} of the validation data have ids of")
    assert "RankingData.split" in text


def test_sorted_rows(train):
    order = np.lexsort((-train.y, train.qid))
    for rows in (order, order[::-1]):
        data = rw.RankingData(train.X[rows], train.y[rows], qid=train.qid[rows])
        assert found(data) == []
        (text,) = found(data, shuffle=False)
        assert text.startswith("the rows of 100% of the queries are sorted by label")
        assert "leave shuffle=True" in text


def test_a_feature_that_gives_labels_away(train):
    rng = np.random.default_rng(9)
    clicks = -3.0 * train.y - rng.random(len(train))
    table = rw.RankingData(
        np.column_stack([train.X, clicks]),
        train.y,
        qid=train.qid,
        feature_names=[*"abcdefgh", "clicks"],
    )
    (text,) = found(table)
    assert text.startswith("feature 'clicks' alone ranks nearly perfectly (ndcg@10 1.000): ")
    missing = np.where(train.y > 0, train.y, np.nan)  # without a value: not relevant
    X = np.column_stack([missing, train.X])
    (text,) = found(rw.RankingData(X, train.y, qid=train.qid))
    assert text.startswith("feature 'f1' alone ranks nearly perfectly")
    good = train.y + 1.5 * rng.normal(size=len(train))  # good, but not suspicious
    assert found(rw.RankingData(np.column_stack([good, train.X]), train.y, qid=train.qid)) == []


def test_fit_warns_once_and_trains(train):
    model = rw.Ranker(n_estimators=2, n_jobs=1)
    with pytest.warns(rw.DataWarning, match="all 60 queries") as caught:
        model.fit(train, valid=train)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert issubclass(rw.DataWarning, UserWarning) and model.best_iteration_ > 0
    stages = rw.TwoStage(model, model, top=5, folds=2, verbose=False)
    with pytest.warns(rw.DataWarning) as caught:
        stages.fit(train, valid=train)
    assert len(caught) == 1  # not one per fold
    net = rw.NeuralRanker("dnn", "softmax", hidden=(2,), epochs=1)
    with pytest.warns(rw.DataWarning) as caught:
        net.fit(train, valid=train)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(train, valid=generated(2))


def test_the_command_line_writes_a_line(train, tmp_path, capsys):
    rw.save_letor(train, tmp_path / "train.txt")
    call = caller(capsys, tmp_path)
    options = "--model @m.json --n-estimators 1 --threads 1 -q"
    code, _, err = call(f"train @train.txt --valid @train.txt {options}")
    assert code == 0 and err.count("\n") == 1
    assert err.startswith("rankwood: warning: all 60 queries of the validation data are in the")
    assert call(f"train @train.txt {options}") == (0, "", "")
