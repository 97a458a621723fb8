"""Data sets joined, split and dealt into folds, always by whole queries."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankwood as rw
from tests.helpers.examples import examples


@st.composite
def data_sets(draw, low=2):
    """Data sets with rows of queries mixed, and with everything that is optional or without."""
    n_queries = draw(st.integers(low, 9))
    rows = draw(
        st.permutations([*range(n_queries), *draw(st.lists(st.integers(0, n_queries - 1)))])
    )
    ids = draw(st.sampled_from([np.arange(n_queries), np.array(list("ihgfedcba"))[:n_queries]]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    options = {}
    if draw(st.booleans()):
        options = {
            "weight": rng.random(n_queries) + 0.5,
            "feature_names": ["f", "g"],
            "comments": [f"docid = {i}" for i in range(len(rows))],
            "unlisted": [rng.integers(0, 4, rng.integers(0, 3)) for _ in range(n_queries)],
        }
    X = rng.random((len(rows), 2)).round(1)
    if draw(st.booleans()):
        X = sparse.csr_array(X)
    return rw.RankingData(X, rng.integers(0, 4, len(rows)), qid=ids[np.array(rows)], **options)


def content(data):
    """Everything in a data set by query id: rows in their order, weight and unlisted labels."""
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    comments = list(data.comments) if data.comments is not None else [""] * len(data)
    found = {}
    for q, qid in enumerate(data.groups.ids.tolist()):
        rows = data.groups.rows[data.groups.ptr[q] : data.groups.ptr[q + 1]]
        weight = 1.0 if data.weight is None else data.weight[q]
        unlisted = [] if data.unlisted is None else data.unlisted.lists()[q].tolist()
        documents = [(X[i].tolist(), data.y[i], comments[i]) for i in rows]
        found[qid] = documents, weight, unlisted
    return found


def ids(data):
    return data.groups.ids.tolist()


@given(data=data_sets(), n=st.integers(2, 9), seed=st.integers(0, 5))
def test_folds_partition_the_queries(data, n, seed):
    before = content(data)
    n = min(n, len(before))
    made = list(data.folds(n, seed))
    assert len(made) == n
    assert sorted(qid for _, test in made for qid in ids(test)) == sorted(before)
    sizes = [len(ids(test)) for _, test in made]
    assert max(sizes) - min(sizes) <= 1
    for train, test in made:
        assert content(train) | content(test) == before
        assert not set(ids(train)) & set(ids(test))
        assert ids(test) == [qid for qid in ids(data) if qid in set(ids(test))]
    assert content(data) == before
    assert [ids(test) for _, test in data.folds(n, seed)] == [ids(test) for _, test in made]


@given(
    data=data_sets(),
    fraction=st.floats(0, 1, exclude_min=True, exclude_max=True),
    seed=st.integers(0, 5),
)
def test_concat_undoes_a_split(data, fraction, seed):
    before = content(data)
    rest, part = data.split(fraction, seed)
    assert len(ids(part)) == min(max(round(fraction * len(before)), 1), len(before) - 1)
    both = rw.RankingData.concat([rest, part])
    assert content(both) == before and len(both) == len(data)
    assert ids(both) == ids(rest) + ids(part)
    assert both.feature_names == data.feature_names and both.X.dtype == data.X.dtype
    assert both.groups.ids.dtype.kind == data.groups.ids.dtype.kind
    assert sparse.issparse(both.X) == sparse.issparse(data.X)
    assert content(data) == before and content(rest) | content(part) == before
    again = data.split(fraction, seed)
    assert [ids(half) for half in again] == [ids(rest), ids(part)]
    if data.weight is None:
        assert both.weight is None and both.comments is None and both.unlisted is None


@examples(20)
@given(seed=st.integers(0, 2**62 - 2))
def test_another_seed_gives_another_split(seed):
    data = rw.make_ranking(60, documents=1)
    assert ids(data.split(0.5, seed)[1]) != ids(data.split(0.5, seed + 1)[1])
    tests = [[ids(test) for _, test in data.folds(3, s)] for s in (seed, seed + 1)]
    assert tests[0] != tests[1]


def test_a_split_does_not_depend_on_labels_features_or_ids():
    one, other = (rw.make_ranking(30, documents=2, seed=s) for s in (0, 1))
    other = rw.RankingData(other.X, other.y, qid=other.qid + 100)
    assert [q + 100 for q in ids(one.split(0.3)[1])] == ids(other.split(0.3)[1])


def test_features_are_matched_by_name():
    a = rw.RankingData([[1.0, 2.0]], [1], qid=["a"], feature_names=["f", "g"])
    b = rw.RankingData([[4.0, 3.0]], [0], qid=["b"], feature_names=["g", "f"])
    c = rw.RankingData([[5.0, 6.0]], [0], qid=["c"])
    both = rw.RankingData.concat([a, b, c])
    assert both.feature_names == ["f", "g"]
    assert both.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert rw.RankingData.concat([c, b]).feature_names == ["g", "f"]


def test_what_a_part_lacks_is_filled_in():
    a = rw.RankingData([[1.0]], [1], qid=["a"], weight=[3.0], comments=["x"], unlisted=[[2]])
    b = rw.RankingData([[2.0], [3.0]], [1, 0], qid=[1, 1])
    both = rw.RankingData.concat([b, a])
    assert both.weight.tolist() == [1, 3] and list(both.comments) == ["", "", "x"]
    assert [labels.tolist() for labels in both.unlisted.lists()] == [[], [2]]
    assert ids(both) == [1, "a"]  # neither becomes the other's kind


def test_a_sparse_part_makes_the_whole_sparse():
    a = rw.RankingData(np.array([[1.0, 0.0]], np.float32), [1], qid=["a"])
    b = rw.RankingData(sparse.csr_matrix([[0.0, np.nan]]), [0], qid=["b"])
    both = rw.RankingData.concat([a, b]).X
    assert sparse.issparse(both) and both.dtype == np.float64
    np.testing.assert_array_equal(both.toarray(), [[1, 0], [0, np.nan]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "there are no parts"),
        ([1], "part 0 must be a RankingData, got int"),
        (
            [rw.RankingData([[1.0]], [1], qid=[7]), rw.RankingData([[1.0]], [1], qid=[7])],
            "query 7 is in part 0 and in part 1",
        ),
        (
            [rw.RankingData([[1.0]], [1], qid=[7]), rw.RankingData([[1.0, 2.0]], [1], qid=[8])],
            r"part 1 has 2 features, but part 0 has 1: .*n_features",
        ),
        (
            [
                rw.RankingData([[1.0]], [1], qid=[7], feature_names=["f"]),
                rw.RankingData([[1.0]], [1], qid=[8], feature_names=["g"]),
            ],
            "part 1 has a feature 'g', but part 0 doesn't",
        ),
    ],
)
def test_parts_that_do_not_go_together(parts, message):
    with pytest.raises(rw.InputError, match=message):
        rw.RankingData.concat(parts)


def test_splits_that_are_not_possible():
    data = rw.make_ranking(3, documents=2)
    for fraction in (0, 1, -0.5, float("nan"), "half", True):
        with pytest.raises(rw.InputError, match="fraction must be"):
            data.split(fraction)
    with pytest.raises(rw.InputError, match="one query can't be split"):
        data.select([0]).split(0.5)
    for n, message in [
        (1, "n must be at least 2"),
        (4, "4 folds need as many queries"),
        (2.5, "n must"),
    ]:
        with pytest.raises(rw.InputError, match=message):
            data.folds(n)
    for seed in (-1, 0.5):
        with pytest.raises(rw.InputError, match="seed must be"):
            data.split(0.5, seed)


def evaluated(qids, metrics=("ndcg", "mrr"), **options):
    y = np.tile([2, 0, 1], len(qids))
    scores = np.random.default_rng(len(qids)).random(y.size)
    return rw.evaluate(list(metrics), y, scores, qid=np.repeat(qids, 3), **options)


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4), text=st.booleans())
def test_evaluations_are_joined_by_query(sizes, text):
    edges = np.cumsum([0, *sizes])
    names = [[f"q{q}" if text else q for q in range(a, b)] for a, b in pairwise(edges)]
    parts = [evaluated(one) for one in names]
    before = [part.per_query.copy() for part in parts]
    whole = rw.Evaluation.concat(parts)
    assert whole.per_query["qid"].tolist() == [qid for one in names for qid in one]
    for metric in ("ndcg", "mrr"):
        expected = [value for part in parts for value in part.per_query[metric]]
        assert whole.per_query[metric].tolist() == expected
    assert whole.metrics == parts[0].metrics and whole.conventions == parts[0].conventions
    assert whole.definitions == parts[0].definitions
    assert all((part.per_query == table).all() for part, table in zip(parts, before, strict=True))


def test_metrics_may_come_in_another_order_and_ids_of_another_kind():
    both = rw.Evaluation.concat([evaluated([1]), evaluated(["a"], ("mrr", "ndcg"))])
    assert both.metrics == ["ndcg", "mrr"] and both.per_query["qid"].tolist() == [1, "a"]
    assert both.per_query["mrr"][1] == evaluated(["a"]).per_query["mrr"][0]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "there are no parts"),
        ([evaluated([1]), 3], "part 1 must be an Evaluation, got int"),
        ([evaluated([1]), evaluated([2, 1])], "query 1 is in part 0 and in part 1"),
        (
            [evaluated([1]), evaluated([2], ["ndcg"])],
            "part 0 has the metric 'mrr', but part 1 doesn't",
        ),
        (
            [evaluated([1], ["ndcg"]), evaluated([2])],
            "part 1 has the metric 'mrr', but part 0 doesn't",
        ),
        (
            [evaluated([1]), evaluated([2], ties="best")],
            r"conventions differ in 'ties': 'worst' in part 0",
        ),
        (
            [evaluated([1]), rw.Evaluation(np.array([2]), {"ndcg": [1], "mrr": [1]}, {})],
            r"conventions differ in '\w+': .* in part 0 and None in part 1",
        ),
    ],
)
def test_evaluations_that_do_not_go_together(parts, message):
    with pytest.raises(rw.InputError, match=message):
        rw.Evaluation.concat(parts)


def test_definitions_must_agree_where_they_are_known():
    ids, values = (np.array([1]), np.array([2])), {"m": np.array([0.5])}
    rules = {"ties": "worst"}
    known = rw.Evaluation(ids[0], values, rules, {"m": "NDCG(k=5)"})
    unknown = rw.Evaluation(ids[1], values, rules)
    assert rw.Evaluation.concat([unknown, known]).definitions == {"m": "NDCG(k=5)"}
    other = rw.Evaluation(ids[1], values, rules, {"m": "NDCG(k=10)"})
    with pytest.raises(rw.InputError, match=r"definitions of 'm' differ: 'NDCG\(k=5\)' in part 0"):
        rw.Evaluation.concat([known, other])
