"""Evaluation: rules for ties and empty queries, conventions, the table, what may go wrong."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import rankwood as rw
from rankwood.metrics.evaluate import CONVENTIONS
from tests.oracles import naive


def many(rng, queries=200):
    sizes = rng.integers(2, 40, queries)
    y = rng.integers(0, 5, sizes.sum()) * (rng.random(sizes.sum()) < 0.3)
    s = np.round(rng.normal(size=sizes.sum()), 1)
    y[: sizes[0]] = 0  # a query without relevant documents
    return y.astype(float), s, sizes


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


def test_what_is_relevant_decides_what_is_empty():
    y, s, qid = [1, 0, 2, 0], [2.0, 1.0, 4.0, 3.0], ["a", "a", "b", "b"]
    ones = ["map(rel=2)", "mrr(rel=2)", "recall(rel=2)", "p@1(rel=2)", "bndcg(rel=2)", "rbp(rel=2)"]
    for empty, first in ((0, 0.0), (1, 1.0), ("skip", np.nan)):
        ev = rw.evaluate(["map", *ones], y, s, qid=qid, empty=empty)
        assert ev.per_query["map"].tolist() == [1.0, 1.0]
        for name in ones:
            np.testing.assert_equal(ev.per_query[name][0], first)
    sums = ["dcg", "arp", "arpk@1", "expdcg"]
    assert set(rw.evaluate(sums, [0, 0], [1, 2], empty=1).mean().values()) == {0.0}


def test_conventions_say_what_each_metric_does_with_empty_queries():
    ev = rw.evaluate(["ndcg", "p@1", "recall@1"], [0, 0], [1, 2], convention="catboost")
    assert ev.mean() == {"ndcg": 1.0, "p@1": 0.0, "recall@1": 1.0}
    assert ev.conventions["empty"] == {"ndcg": 1, "p@1": 0, "recall@1": 1}
    ev = rw.evaluate(["ndcg", "p@1"], [0, 0], [1, 2], convention="catboost", empty=0)
    assert ev.mean() == {"ndcg": 0.0, "p@1": 0.0} and ev.conventions["empty"] == 0


def test_every_parameter_of_a_convention_is_one_of_its_metric():
    for name, rules in CONVENTIONS.items():
        for metric, settings in rules["metrics"].items():
            part = rw.metric(metric, **{k: v for k, v in settings.items() if k != "empty"})
            ev = rw.evaluate(metric, [0, 1], [1.0, 2.0], convention=name)
            assert ev.mean() == {metric: rw.evaluate(part, [0, 1], [1, 2]).mean()[repr(part)]}


def test_long_and_short_lists_are_ranked_alike(rng):
    y, s = rng.integers(0, 5, 1200).astype(float), np.round(rng.normal(size=1200), 1)
    for n in (499, 500, 501, 1200):
        for ties in ("worst", "input", "best"):
            order = np.lexsort(
                (np.arange(n), {"worst": 1, "best": -1, "input": 0}[ties] * y[:n], -s[:n])
            )
            ev = rw.evaluate("dcg", y[:n], s[:n], ties=ties)
            expected = naive.dcg(y[:n][order])
            assert ev.mean()["dcg"] == pytest.approx(expected, rel=1e-12)


def test_labels_that_are_many_or_broken(rng):
    y, s = rng.random(60) * 30, rng.normal(size=60)
    for labels in (y, np.round(y), np.round(y) / 2):
        got = rw.evaluate("ndcg@20(gain='linear')", labels, s).mean()
        expected = naive.ndcg(labels[np.argsort(-s)], 20, "linear")
        assert list(got.values()) == pytest.approx([expected], rel=1e-12)


def test_early_stopping_knows_which_way_is_better():
    from rankwood.fit.observers.stopping import EarlyStopping
    from rankwood.metrics.evaluate import named_metrics

    data = rw.RankingData([[1.0], [2.0], [3.0]], [0, 1, 2], qid=[1, 1, 1])
    rounds = [[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
    for metric in ("ndcg", "arp"):
        parts = named_metrics(metric)
        stopping, remembered, reasons = EarlyStopping(parts, 1), [], []
        learner = SimpleNamespace(remember=remembered.append)
        run = SimpleNamespace(history={"valid": {metric: []}}, best=None, learner=learner)
        for run.number, scores in enumerate(rounds, 1):
            run.history["valid"][metric] += rw.evaluate(metric, data, scores).mean().values()
            reasons.append(stopping.after_round(run))
        assert (run.best, reasons) == (3, ["", "", "", "early stopping"])
        assert remembered == [1, 2, 3]


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
        (None, "needs scores|scores must hold numbers, got None"),
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
            "convention must be one of 'lightgbm', 'xgboost', 'catboost', .* got 'lightgmb'",
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
