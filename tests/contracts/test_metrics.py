"""What every metric must do, over the verb tables: a new metric is tested before it has a test."""

import itertools

import numpy as np
import pytest

from rankwood._jit import PARTS, at, lower
from rankwood.data.groups import group_rows
from rankwood.metrics.evaluate import METRICS, Evaluator, metric
from rankwood.metrics.plan import plan
from rankwood.metrics.query import Query, discounts
from rankwood.metrics.verbs import columns, delta, value

METRIC_PARTS = [cls for cls in PARTS.values() if cls.Raw in value.table]
INSTANCES = [cls(**({"k": k} if k else {})) for cls in METRIC_PARTS for k in (None, 1, 3, 50)]
INSTANCES += [cls(ideal=3) for cls in METRIC_PARTS if "ideal" in cls.__dataclass_fields__]


def values(part, labels):
    """Value of a ranking given by its labels, best placed first."""
    y = np.array(labels, float)
    evaluator = Evaluator({"m": part}, y, group_rows(y.size), ties="input", n_jobs=1)
    return evaluator(-np.arange(y.size, dtype=float)).per_query["m"][0]


def test_there_are_metrics():
    assert {"NDCG", "DCG"} <= {cls.__name__ for cls in METRIC_PARTS}
    assert {type(metric(name)) for name in METRICS} <= set(METRIC_PARTS)


@pytest.mark.parametrize("part", INSTANCES, ids=repr)
def test_delta_is_the_change_by_a_swap(part, rng):
    for _ in range(5):
        y = rng.integers(0, 4, 7).astype(float) * (rng.random(7) < 0.6)
        laid = plan(part, y, np.array([0, 7]), np.arange(7))
        ranked = Query(y, -np.arange(7.0), np.arange(7), discounts(7))
        own = columns(lower(part), ranked, laid.worth)
        for i, j in itertools.combinations(range(7), 2):
            swapped = y.copy()
            swapped[[i, j]] = y[[j, i]]
            got = delta(lower(part), None, None, at(own, i), at(own, j))
            assert got == pytest.approx(values(part, swapped) - values(part, y), abs=1e-12)


@pytest.mark.parametrize("part", INSTANCES, ids=repr)
def test_no_order_beats_the_ideal(part):
    y = [0, 2, 1, 3]
    best = values(part, sorted(y, reverse=True))
    assert all(values(part, p) <= best + 1e-12 for p in itertools.permutations(y))
    if part.normalised and getattr(part, "ideal", None) is None:
        assert best == pytest.approx(1.0)


@pytest.mark.parametrize("part", INSTANCES, ids=repr)
def test_equal_labels_may_trade_places(part):
    y, s = np.array([1.0, 0, 1, 2, 0, 0]), np.array([6.0, 5, 4, 3, 2, 1])
    evaluator = Evaluator({"m": part}, y, group_rows(6), n_jobs=1)
    swapped = s[[2, 1, 0, 3, 5, 4]]
    assert evaluator(s).mean() == evaluator(swapped).mean()


@pytest.mark.parametrize("part", INSTANCES, ids=repr)
def test_edges(part):
    assert values(part, [0]) == 0.0
    assert values(part, [0, 0, 0]) == 0.0
    assert values(part, [1]) == pytest.approx(
        1.0
    )  # one relevant document at the top: gain 1, discount 1


def test_discounts():
    assert discounts(3).tolist() == [1.0, 1 / np.log2(3), 0.5]
