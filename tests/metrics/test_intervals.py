"""Confidence intervals of the means of metrics, and the tables of notebooks."""

import math

import numpy as np
import pytest

import rankwood as rw
from rankwood import stats


@pytest.fixture
def found(rng):
    y, scores = rng.integers(0, 3, 600), rng.normal(size=600)
    y[:30] = 0  # three queries without relevant documents
    return rw.evaluate(["ndcg@5", "p@1"], y, scores, group=[10] * 60, empty="skip")


def test_students_interval_by_its_formula(found):
    from scipy.special import stdtrit

    values = [v for v in found.per_query["ndcg@5"].tolist() if not math.isnan(v)]
    n = len(values)
    assert n == 57
    mean = sum(values) / n
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    for level in (0.8, 0.95):
        half = stdtrit(n - 1, (1 + level) / 2) * deviation / math.sqrt(n)
        assert found.intervals(level)["ndcg@5"] == pytest.approx(
            (mean - half, mean + half), rel=1e-9
        )


def test_the_bootstrap_by_an_oracle(found, rng):
    values = np.array([v for v in found.per_query["p@1"].tolist() if not math.isnan(v)])
    means = rng.choice(values, (4000, values.size)).mean(axis=1)
    low, high = found.intervals(0.9, interval="percentile")["p@1"]
    assert (low, high) == pytest.approx(np.quantile(means, [0.05, 0.95]), abs=0.02)
    assert found.intervals(0.9, interval="bca")["p@1"] == pytest.approx((low, high), abs=0.05)


@pytest.mark.parametrize("interval", stats.INTERVALS)
def test_intervals_hold_the_mean_and_grow_with_confidence(found, interval):
    for name, mean in found.mean().items():
        (a, d), (b, c) = (found.intervals(level, interval=interval)[name] for level in (0.99, 0.5))
        assert a < b < mean < c < d
    assert found.intervals(interval=interval, seed=1) == found.intervals(interval=interval, seed=1)


def test_one_query_has_no_interval():
    one = rw.evaluate("ndcg", [1, 0], [2, 1], group=[2])
    assert all(map(math.isnan, one.intervals()["ndcg"]))
    assert "<td" in one._repr_html_() and "nan" not in one._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 95}, "level must be between 0 and 1, such as 0.95, got 95"),
        ({"interval": "bootstrap"}, "interval"),
        ({"interval": "bca", "draws": 0}, "draws must be at least 1"),
    ],
)
def test_mistakes(found, arguments, message):
    with pytest.raises(rw.InputError, match=message):
        found.intervals(**arguments)


def test_a_notebook_shows_means_with_intervals(found):
    shown = found._repr_html_()
    low, high = found.intervals()["ndcg@5"]
    assert f"{low:.5f} to {high:.5f}" in shown and f"{found.mean()['ndcg@5']:.5f}" in shown
    assert "57 of 60 queries, 3 without relevant documents omitted" in shown
    odd = rw.Evaluation(np.arange(2), {"<b>": np.array([0.5, 1.0])}, {})
    assert "&lt;b&gt;" in odd._repr_html_() and "<b>" not in odd._repr_html_()


def test_a_notebook_shows_the_first_rows_of_data():
    pandas = pytest.importorskip("pandas")
    rows = 7
    table = pandas.DataFrame(
        {
            "q": ["a & b"] * rows,
            "label": [0, 2, 1, 0, 0, 0, 0],
            "price": [0.5, np.nan, *[1.0] * 5],
            "shop": pandas.Categorical(["<x>", "y", *["y"] * 5]),
        }
    )
    shown = rw.RankingData(table, "label", qid="q")._repr_html_()
    assert "7 documents, 1 query, 2 features, labels 0 to 2" in shown
    assert "a &amp; b" in shown and "&lt;x&gt;" in shown and "nan" not in shown.lower()
    assert shown.count("<tr>") == 1 + 5 + 1  # headings, rows, and a row that says there are more
    wide = rw.load_demo("test")._repr_html_()
    assert ">f8<" in wide and ">f9<" not in wide and "…" in wide
    from scipy import sparse

    assert ">3<" in rw.RankingData(sparse.csr_matrix([[3.0], [0.0]]), [0, 1])._repr_html_()
