"""Worst queries and biggest movers."""

import csv
import io

import numpy as np
import pytest

from rankwood._util.checks import InputError
from rankwood.metrics.evaluation import Evaluation
from rankwood.report import movers, worst
from rankwood.report.comparison.compare import compare

IDS = np.array(["q1", "q2", "q3", "q4", "q5"])
A = Evaluation(IDS, {"m": np.array([0.1, 0.5, 0.3, np.nan, 0.9])}, {})
B = Evaluation(IDS[::-1], {"m": np.array([0.9, 0.2, 0.2, 0.9, 0.4])}, {})


def test_movers():
    found = movers(A, B, "m", names=("old", "new"))
    assert found.rows["qid"].tolist() == ["q2", "q1", "q3"]
    assert found.rows["difference"] == pytest.approx([0.4, 0.3, -0.1])
    assert found.rows["before"].tolist() == [0.5, 0.1, 0.3]
    assert found.rows["after"].tolist() == [0.9, 0.4, 0.2]
    assert movers(A, B, top=1).rows.size == 1
    assert "| q2 | 0.5000 | 0.9000 | +0.4000 |" in found.to_markdown()
    assert "q2 & 0.5000 & 0.9000 & +0.4000" in found.to_latex()
    for text in (repr(found), found.to_html(), found._repr_html_()):
        assert "-0.1000" in text and "new" in text
    assert movers(A, A).rows.size == 0
    assert repr(movers(A, A)).startswith("query")
    assert "<table>" in movers(A, A).to_html()


def test_worst():
    found = worst(A, top=3)
    assert found.rows.tolist() == [("q1", 0.1), ("q3", 0.3), ("q2", 0.5)]
    assert list(csv.reader(io.StringIO(found.to_csv())))[:2] == [["qid", "value"], ["q1", "0.1"]]
    assert worst(A, top=99).rows.size == 4


def test_comparison_has_them_too():
    found = compare({"a": A, "b": B})
    assert found.movers("a", "b").rows.tolist() == movers(A, B).rows.tolist()
    assert found.movers("b", "a").rows["difference"] == pytest.approx([-0.4, -0.3, 0.1])
    assert found.worst("b", top=2).rows["value"].tolist() == [0.2, 0.2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: worst(A, "mm"), "no metric 'mm'"),
        (lambda: worst(A, top=0), "top must be at least 1"),
        (lambda: movers(A, B, "x"), "no metric 'x'"),
        (lambda: compare({"a": A, "b": B}).movers("a", "c"), "there is no model 'c'"),
        (lambda: compare({"a": A, "b": B}).movers("a", "a"), "two models are needed"),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
