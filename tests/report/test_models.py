"""The perfect and the random model."""

from itertools import permutations

import numpy as np
import pytest

import rankwood as rw
from rankwood._util.checks import InputError
from rankwood.data.trec.files import Qrels, Run
from rankwood.report import perfect, random
from rankwood.report.comparison.compare import compare

Y = [2, 0, 1, 0, 0, 1, 0, 0, 0]
QID = [1, 1, 1, 1, 2, 2, 3, 3, 3]


@pytest.mark.parametrize("metric", ["ndcg@2", "p@3", "map", "err@3"])
def test_they_are_the_best_and_the_mean_of_all_orders(metric):
    y = [2, 0, 1, 1]
    orders = [rw.evaluate(metric, y, list(s)).mean()[metric] for s in permutations(range(4))]
    assert perfect(metric, y).mean()[metric] == pytest.approx(max(orders))
    assert random(metric, y).mean()[metric] == pytest.approx(np.mean(orders))


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_precision_is_the_formula(k):
    """Perfect P@k is min(R, k) / min(n, k), random R / n whatever k is."""
    relevant, size = np.array([2, 1, 0]), np.array([4, 2, 3])
    best = perfect(f"p@{k}", Y, qid=QID).per_query[f"p@{k}"]
    assert best == pytest.approx(np.minimum(relevant, k) / np.minimum(size, k))
    chance = random(f"p@{k}", Y, qid=QID).per_query[f"p@{k}"]
    assert chance == pytest.approx(relevant / size)


def test_bounds_are_rows_without_tests():
    data = rw.RankingData(np.zeros((9, 1)), Y, qid=QID)
    evs = {n: rw.evaluate("ndcg@2", data, s) for n, s in {"a": np.arange(9), "b": Y}.items()}
    for bounds in (data, (Y, QID)):
        found = compare(evs, references=bounds)
        assert found.references == ["perfect model", "random model"]
        assert found.tests.size == 1
        assert found.mean("perfect model") == pytest.approx(2 / 3)
        assert found.mean("random model") == random("ndcg@2", data).mean()["ndcg@2"]
        assert found.means["bound"].tolist() == [False, False, True, True]
        lines = found.to_markdown().splitlines()
        assert any(line.startswith("| perfect model | 0.6667 |") for line in lines)
        assert r"\midrule" + "\nperfect model" in found.to_latex()


def test_bounds_follow_the_rule_for_empty_queries():
    evs = {n: rw.evaluate("ndcg@2", Y, s, qid=QID, empty=1) for n, s in {"a": Y, "b": Y}.items()}
    assert compare(evs, references=(Y, QID)).mean("perfect model") == 1


def test_bounds_of_other_queries_are_refused():
    evs = {n: rw.evaluate("ndcg@2", Y, Y, qid=QID) for n in "ab"}
    with pytest.raises(InputError, match="'perfect model' lacks 3 of the 3 queries of 'a'"):
        compare(evs, references=(Y, [q + 10 for q in QID]))


def test_less_may_be_better():
    found = compare(
        {
            n: rw.evaluate("arp", Y, s, qid=QID, empty="skip")
            for n, s in {"a": range(9), "b": Y}.items()
        },
        references=(Y, QID),
    )
    assert found.better == {"arp": -1}
    assert found.mean("b") == found.mean("perfect model") < found.mean("random model")
    assert found.test("b")["wins"] > 0 == found.test("b")["losses"]


@pytest.mark.parametrize("convention", ["lightgbm", "sklearn"])
def test_bounds_of_a_convention(convention):
    metrics = ["ndcg@2", "dcg@2"]
    evs = {n: rw.evaluate(metrics, Y, Y, qid=QID, convention=convention) for n in "ab"}
    edges = {
        "best": perfect(metrics, Y, qid=QID, convention=convention),
        "chance": random(metrics, Y, qid=QID, convention=convention),
    }
    found = compare(evs, references=edges)
    assert found.references == ["best", "chance"]
    assert found.mean("best", "dcg@2") == found.mean("a", "dcg@2") > found.mean("chance", "dcg@2")
    evs["a"].conventions["convention"] = convention
    known = compare(evs, references=(Y, QID))
    for metric in metrics:
        assert known.mean("random model", metric) == found.mean("chance", metric)
        assert known.mean("perfect model", metric) == found.mean("best", metric)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"a": perfect("ndcg@2", Y, qid=QID)}, "'a' is the name of a model already"),
        (
            {"best": perfect("p@2", Y, qid=QID)},
            "model 'best' has no metric 'ndcg@2'; there are p@2",
        ),
        ({"best": [1, 2, 3]}, "model 'best' must be an Evaluation"),
        (([1, 0], [1, 1]), "lacks 2 of the 3 queries"),
        ("data.txt", "y must hold numbers"),
    ],
)
def test_bounds_that_cannot_be_used(bounds, message):
    evs = {n: rw.evaluate("ndcg@2", Y, Y, qid=QID) for n in "ab"}
    with pytest.raises(InputError, match=message):
        compare(evs, references=bounds)


def test_bounds_of_judgments():
    qrels = Qrels(["q", "q", "q", "p"], ["a", "b", "c", "a"], np.array([1.0, 0.0, 2.0, 1.0]))
    assert perfect("p@2", qrels).per_query.tolist() == [("q", 1.0), ("p", 1.0)]
    assert random("p@2", qrels).per_query["p@2"] == pytest.approx([2 / 3, 1])
    run = Run(["q", "q", "p"], ["b", "a", "a"], np.array([0.9, 0.5, 0.1]))
    evs = {n: rw.evaluate("p@2", qrels, run) for n in "ab"}
    assert compare(evs, references=qrels).mean("perfect model") == 1
