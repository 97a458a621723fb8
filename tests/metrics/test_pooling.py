"""Folds and seeds pooled by Evaluation.concat."""

import numpy as np
import pytest

import rankwood as rw
from rankwood import stats

RULES = {"ties": "worst"}


def made(ids, *columns, **rules):
    names = ["m", "n"][: len(columns)]
    return rw.Evaluation(
        np.array(ids), dict(zip(names, map(np.array, columns), strict=True)), {**RULES, **rules}
    )


def test_seeds_are_averaged_by_query():
    a = made(["x", "y", "z"], [0.0, 1.0, np.nan], [3.0, 6.0, 9.0])
    b = made(["z", "x", "y"], [np.nan, 0.5, 0.0], [0.0, 0.0, 0.0])
    both = rw.Evaluation.concat([a, b], repeated="mean")
    assert both.per_query["qid"].tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(both.per_query["m"], [0.25, 0.5, np.nan])
    assert both.per_query["n"].tolist() == [1.5, 3.0, 4.5]
    assert both.conventions == {**RULES, "repeats": 2}
    assert repr(both).endswith("3 queries, means of 2 runs)")
    swapped = rw.Evaluation.concat([b, a], repeated="mean")
    assert sorted(swapped.per_query.tolist()[:2]) == [
        ("x", 0.25, 1.5),
        ("z", pytest.approx(np.nan, nan_ok=True), 4.5),
    ]


def test_folds_of_several_seeds():
    parts = [made([q], [v]) for q, v in (("x", 1.0), ("y", 2.0), ("x", 3.0), ("y", 6.0))]
    both = rw.Evaluation.concat(parts, repeated="mean")
    assert both.per_query.tolist() == [("x", 2.0), ("y", 4.0)]
    one = rw.Evaluation.concat(parts[:2], repeated="mean")
    assert one.conventions == RULES  # nothing was repeated
    again = rw.Evaluation.concat([both, both], repeated="mean")
    assert again.conventions["repeats"] == 4


def test_tests_count_a_query_once(rng):
    ids, truth = np.arange(12), rng.random(12)
    seeds = [made(ids, truth + 0.1 * rng.random(12)) for _ in range(5)]
    base = [made(ids, truth) for _ in range(5)]
    pooled = {n: rw.Evaluation.concat(e, repeated="mean") for n, e in (("a", base), ("b", seeds))}
    found = rw.compare(pooled, test="t")
    d = np.mean([ev.per_query["m"] - truth for ev in seeds], axis=0)
    assert found.test("b")["p"] == pytest.approx(stats.t_test(d).p, rel=1e-9)
    assert found.test("b")["queries"] == 12
    assert "12 queries; values of repeated runs are means of 5." in repr(found)
    with pytest.raises(rw.InputError, match="repeats=5 and 'b' with repeats=3"):
        rw.compare({"a": pooled["a"], "b": rw.Evaluation.concat(seeds[:3], repeated="mean")})


@pytest.mark.parametrize(
    ("parts", "how", "message"),
    [
        (
            [made([1], [0.0]), made([1], [0.0])],
            "error",
            "for runs with several seeds give repeated='mean'",
        ),
        (
            [made([1, 2], [0.0, 0.0]), made([1], [0.0])],
            "mean",
            "query 1 is in 2 parts and query 2 in 1",
        ),
        (
            [made([1], [0.0]), made([1], [np.nan])],
            "mean",
            "skipped in some parts and has a value of 'm'",
        ),
        ([made([1], [0.0]), made([1], [0.0], ties="best")], "mean", "conventions differ in 'ties'"),
        ([made([1], [0.0])], "median", "repeated"),
    ],
)
def test_what_is_refused(parts, how, message):
    with pytest.raises(rw.InputError, match=message):
        rw.Evaluation.concat(parts, repeated=how)
