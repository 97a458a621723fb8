"""Metrics against the oracle, the golden values and the installed programs."""

import itertools
import re

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

import naive
import rankwood as rw

one_query = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])),
    min_size=1,
    max_size=7,
)


@given(
    one_query,
    st.sampled_from(["worst", "input", "best", "average"]),
    st.sampled_from([None, 1, 3, 20]),
    st.sampled_from(["exp", "linear"]),
)
def test_values_equal_the_oracle(query, ties, k, gain):
    y, s = [q[0] for q in query], [q[1] for q in query]
    for name, value in (
        ("ndcg", lambda order: naive.ndcg(order, k, gain)),
        ("dcg", lambda order: naive.dcg(order, k, gain)),
    ):
        part = rw.metric(name, k=k, gain=gain)
        got = rw.evaluate(part, y, s, ties=ties, n_jobs=1).per_query[repr(part)][0]
        assert got == pytest.approx(naive.metric(y, s, value, ties), abs=1e-12)


@pytest.mark.parametrize("ties", ["stable", "worst", "best"])
def test_values_equal_golden(golden, ties):
    checked = 0
    for case in ("A", "B", "C_ties", "E_single", "E_all_zero", "E_n_le_k"):
        given_, expected = golden["cases"][case], golden["metrics"][f"{case}|{ties}"]
        for key, value in expected.items():
            match = re.fullmatch(r"(NDCG|DCG)_(exp|linear)@(\d+|all)", key)
            if not match:
                continue
            name, gain, k = match.groups()
            part = rw.metric(name.lower(), k=None if k == "all" else int(k), gain=gain)
            rule = "input" if ties == "stable" else ties
            ev = rw.evaluate(part, given_["y"], given_["s"], ties=rule, empty=1)
            assert ev.mean()[repr(part)] == pytest.approx(value, abs=1e-9)
            checked += 1
    assert checked > 50


def test_mean_over_ties_equals_golden(golden):
    case, expected = golden["cases"]["C_ties"], golden["metrics"]["C_ties|expected_over_ties"]
    ev = rw.evaluate("ndcg@3", case["y"], case["s"], ties="average")
    assert ev.mean()["ndcg@3"] == pytest.approx(expected["NDCG_exp@3"], abs=1e-9)


def many(rng, queries=200):
    sizes = rng.integers(2, 40, queries)
    y = rng.integers(0, 5, sizes.sum()) * (rng.random(sizes.sum()) < 0.3)
    s = np.round(rng.normal(size=sizes.sum()), 1)
    y[: sizes[0]] = 0  # a query without relevant documents
    return y.astype(float), s, sizes


def test_convention_sklearn(rng):
    y, s, sizes = many(rng)
    ev = rw.evaluate(["ndcg@10", "ndcg", "dcg@5"], y, s, group=sizes, convention="sklearn")
    cuts = np.cumsum(sizes)[:-1]
    for row, a, b in zip(ev.per_query, np.split(y, cuts), np.split(s, cuts), strict=True):
        assert row["ndcg@10"] == pytest.approx(ndcg_score([a], [b], k=10), abs=1e-14)
        assert row["ndcg"] == pytest.approx(ndcg_score([a], [b]), abs=1e-14)
        assert row["dcg@5"] == pytest.approx(dcg_score([a], [b], k=5), abs=1e-12)


def test_convention_lightgbm(rng):
    y, s, sizes = many(rng)
    # LightGBM evaluates these very scores when they are the initial ones and the tree is a stump of 0.
    data = lgb.Dataset(rng.normal(size=(y.size, 2)), y, group=sizes, init_score=s)
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [1, 5, 10, 100],
        "verbose": -1,
    }
    booster = lgb.Booster({**params, "learning_rate": 1e-300}, data)
    booster.update()
    names = ["ndcg@1", "ndcg@5", "ndcg@10", "ndcg@100"]
    ours = rw.evaluate(names, y, s, group=sizes, convention="lightgbm").mean()
    theirs = {name: value for _, name, value, _ in booster.eval_train()}
    for name in names:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-12)


def test_empty_queries():
    y, s, qid = [0, 0, 1, 0], [1.0, 2.0, 3.0, 4.0], ["none", "none", "some", "some"]
    second = 1 / np.log2(3)
    for empty, first, mean in (
        (0, 0.0, second / 2),
        (1, 1.0, (1 + second) / 2),
        ("skip", np.nan, second),
    ):
        ev = rw.evaluate(["ndcg", "dcg"], y, s, qid=qid, empty=empty)
        np.testing.assert_allclose(ev.per_query["ndcg"], [first, second])
        assert ev.mean()["ndcg"] == pytest.approx(mean)
    # DCG has no best value of 1, so a query without gain scores 0 under any rule that counts it.
    assert rw.evaluate("dcg", y, s, qid=qid, empty=1).per_query["dcg"][0] == 0.0
    assert np.isnan(rw.evaluate("ndcg", [0, 0], [1, 2], empty="skip").mean()["ndcg"])


def test_a_constant_score_earns_the_worst_order():
    ev = {
        t: rw.evaluate("ndcg@1", [3, 0, 0], [1, 1, 1], ties=t).mean()["ndcg@1"]
        for t in ("worst", "input", "best", "average")
    }
    assert ev == {"worst": 0.0, "input": 1.0, "best": 1.0, "average": pytest.approx(1 / 3)}
    assert rw.evaluate("ndcg@1", [3, 0, 0], [1, 1, 1]).conventions == {"ties": "worst", "empty": 0}


def test_what_the_caller_states_beats_the_convention():
    y, s = [1, 2], [0.0, 0.0]
    stated = rw.evaluate("ndcg(gain='exp')", y, s, ties="best", convention="sklearn")
    assert stated.mean() == {"ndcg(gain='exp')": pytest.approx(1.0)}


def test_per_query_table(tmp_path):
    ev = rw.evaluate(["ndcg@2", "dcg"], [0, 1, 2], [3.0, 2.0, 1.0], qid=["b", "a", "b"])
    assert ev.per_query.dtype.names == ("qid", "ndcg@2", "dcg")
    assert ev.per_query["qid"].tolist() == ["b", "a"]
    import pandas as pd
    import polars as pl

    assert list(pd.DataFrame(ev.per_query).columns) == ["qid", "ndcg@2", "dcg"]
    assert pl.DataFrame(ev.per_query)["dcg"].to_list() == ev.per_query["dcg"].tolist()
    ev.to_csv(tmp_path / "q.csv")
    assert (tmp_path / "q.csv").read_text().splitlines()[0] == "qid,ndcg@2,dcg"
    assert "ndcg@2=" in repr(ev)


def test_threads_never_change_a_bit(rng):
    y, s, sizes = many(rng)
    one, two = (rw.evaluate(["ndcg@10", "dcg"], y, s, group=sizes, n_jobs=n) for n in (1, 3))
    assert one.per_query.tobytes() == two.per_query.tobytes()


def test_best_and_worst_bound_every_order():
    y, s = [2, 0, 1, 0], [1.0, 1.0, 1.0, 0.0]
    low, high = (rw.evaluate("ndcg@2", y, s, ties=t).mean()["ndcg@2"] for t in ("worst", "best"))
    values = [naive.ndcg([*p, 0], 2) for p in itertools.permutations([2, 0, 1])]
    assert (low, high) == (pytest.approx(min(values)), pytest.approx(max(values)))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "scores has 2 values, but there are 3 rows"),
        ([1.0, np.nan, 2.0], "scores must be finite numbers, got nan at row 1"),
        ([1.0, 2.0, -np.inf], "scores must be finite numbers, got -inf at row 2"),
        (["a", "b", "c"], "scores must hold numbers"),
        (None, "scores must hold numbers, got None"),
    ],
)
def test_bad_scores_get_one_plain_sentence(scores, message):
    for call in (
        lambda: rw.evaluate("ndcg", [0, 1, 2], scores),
        lambda: rw.gradients("lambdarank-ndcg", [0, 1, 2], scores),
    ):
        with pytest.raises(rw.InputError, match=message):
            call()


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"ties": "wurst"}, "ties must be one of 'worst', 'input', 'best', 'average', got 'wurst'"),
        ({"empty": 2}, "empty must be one of 0, 1, 'skip', got 2"),
        (
            {"convention": "lightgmb"},
            "convention must be one of 'lightgbm', 'sklearn', got 'lightgmb'",
        ),
        ({"metrics": "ndcg@0"}, "NDCG.k must be at least 1, got 0"),
        ({"metrics": "ndgc@3"}, "unknown metric 'ndgc'; did you mean 'ndcg'"),
        (
            {"metrics": "ndcg(gian='exp')"},
            "metric 'ndcg' has no parameter 'gian'; did you mean 'gain'",
        ),
        ({"y": [0.5, 1, 2]}, "needs integer labels, got 0.5 at row 0"),
        ({"y": []}, "there are no rows"),
    ],
)
def test_bad_arguments_get_one_plain_sentence(given_, message):
    arguments = {"metrics": "ndcg", "y": [0, 1, 2], "scores": [1, 2, 3], **given_}
    with pytest.raises(rw.InputError, match=message):
        rw.evaluate(**arguments)
