"""What every metric must do, over the verb tables: a new metric is tested before it has a test."""

import itertools

import numpy as np
import pytest

from rankwood._kernels.compile.jit import jit
from rankwood._kernels.parts import PARTS, lower
from rankwood._kernels.records import document, lend
from rankwood.data.groups import group_rows
from rankwood.metrics import AtLeast, Cutoff, LinearChance, Relevant
from rankwood.metrics.evaluate import METRICS, Evaluator, metric
from rankwood.metrics.ranked import Ranked, discounts
from rankwood.metrics.verbs import (
    divisor,
    gain,
    higher_is_better,
    is_normalised,
    label_values,
    mean_over_ties,
    swap_delta,
    swap_record,
    value,
)
from rankwood.objectives._kernels.records import Doc
from rankwood.objectives._kernels.scratch import Memory
from tests.oracles import naive

METRIC_PARTS = [
    cls for cls in PARTS.values() if value.verb.able(cls) and cls.__module__.startswith("rankwood.")
]
# Each field once in a form that is not its default.
OTHERS = {
    "ideal": 3,
    "rel": 2.0,
    "gain": LinearChance(),
    "divide_by": Relevant(),
    "base": 0.5,
    "decay": 0.5,
    "p": 0.3,
}


def instances(cls):
    fields = cls.__dataclass_fields__
    yield cls()
    yield from (cls(k=k) for k in (1, 3, 50) if "k" in fields)
    for name, other in OTHERS.items():
        if name in fields:
            yield cls(**{name: other})
            if "k" in fields:
                yield cls(**{"k": 3, name: other})


INSTANCES = [part for cls in METRIC_PARTS for part in instances(cls)]
EACH = pytest.mark.parametrize("part", INSTANCES, ids=repr)


# Parts also run as plain Python, without a second of compiling for each; the last tests compile them.


def ranked(part, y, real=np.float64, spare=0):
    """A ranking given by its labels, best placed first, filled up with copies of the last document."""
    n = y.size
    out, table = np.empty(n), discounts(n + spare)
    label_values(lower(part), y, table, out)
    slot = np.minimum(np.arange(n + spare), n - 1)
    label = np.where(np.arange(n + spare) < n, y[slot], np.nan).astype(real)
    query = Ranked(n, label, -np.arange(n + spare).astype(real), slot, table.astype(real))
    return query, out.astype(real)


def values(part, labels):
    return value(lower(part), *ranked(part, np.array(labels, float)))


def room(part, size, real):
    return Memory(size, real).room(part)


def doc(own):
    return Doc(0.0, 0.0, 0.0, 0.0, own, 0.0, 0.0, 0.0)


def all_swaps(part, y, real=np.float64, spare=0):
    """Change by each swap, in both orders of the two."""
    raw = lower(part, real)
    own = swap_record(raw, *ranked(part, y, real, spare), room(part, y.size + spare, real))
    docs = [doc(document(own, i)) for i in range(y.size)]
    return np.array([[swap_delta(raw, a, b) for b in docs] for a in docs])


def changes(part, y):
    """The same by evaluating each order."""
    out = np.empty((y.size, y.size))
    for i, j in itertools.product(range(y.size), repeat=2):
        swapped = y.copy()
        swapped[[i, j]] = y[[j, i]]
        out[i, j] = values(part, swapped)
    return out - values(part, y)


def test_there_are_metrics():
    assert len(METRIC_PARTS) >= 12
    made = {type(metric(name, **({"k": 3} if name == "arpk" else {}))) for name in METRICS}
    assert made == set(METRIC_PARTS)


@EACH
def test_delta_is_the_change_by_a_swap(part, rng):
    for _ in range(4):
        y = rng.integers(0, 5, 7).astype(float) * (rng.random(7) < 0.6)
        expected = changes(part, y)
        np.testing.assert_allclose(all_swaps(part, y), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(all_swaps(part, y, spare=7), expected, rtol=0, atol=1e-12)
        # Training runs in float32.
        got = all_swaps(part, y, np.float32, spare=7)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=2e-6)


@EACH
def test_no_order_beats_the_ideal(part):
    y = [0, 2, 1, 3]
    sign = 1 if higher_is_better(part) else -1
    best = sign * values(part, sorted(y, reverse=True))
    got = [sign * values(part, order) for order in itertools.permutations(y)]
    assert max(got) <= best + 1e-12
    if is_normalised(part):
        assert best <= 1 + 1e-12
    if type(part).__name__ in ("NDCG", "AP", "RR") and part == type(part)(k=part.k):
        assert best == pytest.approx(1.0)


@EACH
def test_a_higher_place_for_a_better_document_never_harms(part):
    sign = 1 if higher_is_better(part) else -1
    y = np.array([1.0, 0, 4, 0, 2, 3])
    gap = np.subtract.outer(y, y)  # of the upper to the lower
    lower_is_better = np.triu(gap < 0, 1)
    assert (sign * all_swaps(part, y)[lower_is_better] >= -1e-12).all()


@EACH
def test_equal_labels_may_trade_places(part):
    y = np.array([1.0, 0, 1, 2, 0, 0])
    got = all_swaps(part, y)
    assert (got[np.equal.outer(y, y)] == 0).all()


@EACH
def test_edges(part):
    assert values(part, [0]) == 0.0
    assert values(part, [0, 0, 0]) == 0.0
    assert 0.0 <= values(part, [1]) <= 1.0
    assert values(part, [4, 4, 4, 4]) >= 0.0


@EACH
def test_the_mean_over_ties_is_that_of_all_orders(part, rng):
    for _ in range(3):
        y = rng.integers(0, 5, 6).astype(float)
        s = np.sort(rng.integers(0, 3, 6))[::-1].astype(float)
        query, own = ranked(part, y)
        got = mean_over_ties(lower(part), query._replace(score=s), own)
        expected = [values(part, order) for order in naive.tied_orders(y, s)]
        assert got == pytest.approx(np.mean(expected), abs=1e-12)


@jit
def compiled_swaps(metric, ranked, values, room, out):
    own = swap_record(metric, ranked, values, lend(room))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            a = Doc(0.0, 0.0, 0.0, 0.0, document(own, i), 0.0, 0.0, 0.0)
            b = Doc(0.0, 0.0, 0.0, 0.0, document(own, j), 0.0, 0.0, 0.0)
            out[i, j] = swap_delta(metric, a, b)


@pytest.mark.parametrize("cls", METRIC_PARTS, ids=lambda c: c.__name__)
def test_compiled_metrics_do_the_same(cls, rng):
    part, y = (
        cls(k=5) if "k" in cls.__dataclass_fields__ else cls(),
        rng.choice(5, 40).astype(float),
    )
    s = np.sort(rng.normal(size=40).round(1))[::-1]
    query, own = ranked(part, y)
    for ties, expected in (
        ("input", values(part, y)),
        ("average", mean_over_ties(lower(part), query._replace(score=s), own)),
    ):
        got = Evaluator({"m": part}, y, group_rows(40), ties, n_jobs=1)(s).mean()["m"]
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cls", METRIC_PARTS, ids=lambda c: c.__name__)
def test_long_lists_have_finite_deltas(cls, rng):
    y = rng.choice(5, 3000).astype(float)
    query, own = ranked(cls(), y, np.float32)
    got = np.empty((3000, 60), np.float32)
    memory = room(cls(), 3000, np.float32)
    compiled_swaps(lower(cls(), np.float32), query, own, memory, got)
    assert np.isfinite(got).all()
    swapped = y.copy()
    swapped[[3, 50]] = y[[50, 3]]
    change = values(cls(), swapped) - values(cls(), y)
    assert got[3, 50] == pytest.approx(change, rel=1e-4, abs=1e-5)


def test_gains_and_shares():
    assert [gain(lower(AtLeast(2.0)), y) for y in (0.0, 1.9, 2.0, 5.0)] == [0, 0, 1, 1]
    assert divisor(lower(Cutoff()), 10, 4, 2.0) == 10
    assert divisor(lower(Cutoff()), lower(None), 4, 2.0) == 4


def test_discounts():
    assert discounts(3).tolist() == [1.0, pytest.approx(1 / np.log2(3), rel=2e-16), 0.5]
