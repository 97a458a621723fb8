"""Which pairs the loop visits: as many as the papers say, each once, and none inside a class of binary labels."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwood as rw
from rankwood._kernels.parts import PARTS
from rankwood._kernels.verbs import VERBS
from rankwood.extend import PairDerivatives, part
from rankwood.objectives import BothDirections, Graded, Lambda, NoScale, Top, TopMissed
from rankwood.objectives.parts.labels import Binary
from tests.helpers.oracle import interpreted
from tests.helpers.small_losses import OF_SCORES


@part
class Visited:
    """A weight of 1 for each wish: every pair that is visited counts twice, whatever its labels."""

    def weight(self, a, b):
        return 1.0

    def weight_above(self, a, b):
        return 1.0


@part
class Tally:
    """A loss whose curvature counts pairs."""

    embed, largest_score, factors = OF_SCORES

    def pair_derivatives(self, a, b):
        return PairDerivatives(0.0, 0.0, 1.0)


def visits(pairs, n, labels=None, y=None):
    """Number of pairs that the loop visits with documents in rank order."""
    y = np.arange(n) % 3 if y is None else y
    if labels is None:  # every pair, equal labels too
        objective = Lambda(Visited(), BothDirections(pairs), Tally(), NoScale(), Graded())
        each = 4.0  # two wishes, two documents
    else:
        objective = Lambda(Visited(), pairs, Tally(), NoScale(), labels)
        each = 2.0
    with interpreted():
        hess = rw.gradients(objective, y, -np.arange(n, dtype=float), n_jobs=1)[1]
    return hess.sum() / each


NAMES = {
    "BinRankNet": "bin-ranknet",
    "LambdaRank-ARPbk": "lambdarank-arpk@{k}",
    "LambdaGap-X": "lambdagap-x@{k}",
    "LambdaRank-P@k": "lambdarank-p@{k}",
    "LambdaGap-S": "lambdagap-s@{k}",
    "LambdaGap-S+": "lambdagap-s+@{k}",
    "LambdaGap-X+": "lambdagap-x+@{k}",
    "LambdaGap-S++": "lambdagap-s++@{k}",
    "LambdaGap-X++": "lambdagap-x++@{k}",
    "truncated": "lambdarank-ndcg@{k}",
}


def test_pairs_visited_equal_golden_counts(golden):
    for case, counts in golden["pair_counts"].items():
        n, k = (int(word.split("=")[1]) for word in case.split(","))
        assert set(counts) == set(NAMES)
        for name, expected in counts.items():
            objective = rw.objective(NAMES[name].format(k=k))
            assert visits(objective.pairs, n) == expected, (case, name)


class Calls:
    """How often a weight is evaluated."""

    count = 0


@part
class Evaluated:
    """A weight that counts how often it is evaluated, for padding too."""

    def weight(self, a, b):
        Calls.count += 1
        return 1.0


@pytest.mark.parametrize("n", [40, 100])
@pytest.mark.parametrize(("k", "name"), [(10, name) for name in NAMES])
def test_the_loop_itself_does_no_more_than_that(golden, name, k, n):
    """Evaluations of the weight: the pairs of the set, and for each four anchors what fills up their vectors."""
    objective = rw.objective(NAMES[name].format(k=k))
    y = (np.arange(n) * 7919 % 13 < 6).astype(float)
    binary = isinstance(objective.labels, Binary)
    pairs = visits(objective.pairs, n, objective.labels if binary else None, y)
    Calls.count = 0
    with interpreted():
        rw.gradients(
            Lambda(Evaluated(), objective.pairs, labels=objective.labels),
            y,
            -np.arange(n, dtype=float),
        )
    # Anchors go by fours over the hull of their ranges, in eights: for each four at most 3 more places
    # to each side (in ranks: twice as many if every other is of the other class), and up to 7 to fill up.
    anchors = n if name != "truncated" else k
    assert Calls.count <= 1.25 * pairs + anchors * (3 + 3 + 7)
    assert Calls.count >= pairs > 0


@given(st.integers(1, 30), st.integers(1, 12))
def test_pairs_visited_equal_the_formulas(n, k):
    def least(x):
        return max(0, x)

    formulas = {
        "lambdagap-s": least(n - k),
        "lambdagap-x": least(n - k) * (least(n - k) + 1) / 2,
        "lambdarank-p": least(n - k) * k,
        "lambdagap-s+": least(n - k) * k + least(n - 2 * k),
        "lambdagap-x+": least(n - k) * k + least(n - 2 * k) * (least(n - 2 * k) + 1) / 2,
        "lambdarank-arpk": n * (n - 1) / 2 - k * (k - 1) / 2 if n > k else 0,
        "lambdaloss-ndcg": min(k, n) * (2 * n - min(k, n) - 1) / 2,
    }
    for name, expected in formulas.items():
        assert visits(rw.objective(name, k=k).pairs, n) == expected, name


binary = [name for name, text in NAMES.items() if name != "truncated"]


@pytest.mark.parametrize("name", binary)
def test_binary_objectives_visit_pairs_of_two_classes_only(name, rng):
    for _ in range(5):
        n, k = int(rng.integers(2, 25)), int(rng.integers(1, 6))
        y = rng.integers(0, 3, n)
        objective = rw.objective(NAMES[name].format(k=k))
        assert isinstance(objective.labels, Binary)
        relevant = y > 0
        got = visits(objective.pairs, n, objective.labels, y)
        i, j = np.triu_indices(n, 1)
        mask = np.zeros((n, n), bool)
        for a in range(n):  # what the set holds, from the set itself on graded labels
            alone = dataclasses.replace(objective, labels=Graded())
            mask[a] = row(alone.pairs, n, a)
        assert got == (mask[i, j] & (relevant[i] != relevant[j])).sum()
        assert got <= relevant.sum() * (n - relevant.sum())


def row(pairs, n, a):
    """Which documents pair with document a in a set."""
    y = np.zeros(n)
    y[a] = 1.0
    objective = Lambda(Visited(), pairs, Tally(), NoScale(), Graded())
    with interpreted():
        hess = rw.gradients(objective, y, -np.arange(n, dtype=float), n_jobs=1)[1]
    hess[a] = 0.0
    return hess > 0


@given(st.integers(1, 25), st.integers(1, 8), st.sampled_from(["static", "random", "all"]))
def test_the_extended_set_visits_each_pair_once(n, k, how):
    y = np.arange(n)[::-1] % 4  # low labels are not last
    anchors = set()
    pairs = TopMissed(k, how)
    seen = np.array([row_of(pairs, n, a, y) for a in range(n)])
    assert (seen == seen.T).all() and seen.max(initial=0) <= 1
    # A document that pairs with all others is an anchor; the rest pair with anchors only.
    anchors = {a for a in range(n) if seen[a].sum() == n - 1}
    assert set(range(min(k, n))) <= anchors
    rest = [a for a in range(n) if a not in anchors]
    assert not seen[np.ix_(rest, rest)].any()


def row_of(pairs, n, a, y):
    """How often each document pairs with document a."""

    s = -np.arange(n, dtype=float)
    middle = (s[0] + s[-1]) / 2
    objective = Lambda(Visited(), BothDirections(pairs), Around(s[a] - middle), NoScale(), Graded())
    with interpreted():
        hess = rw.gradients(objective, y, s, n_jobs=1)[1] / 2
    hess[a] = 0.0
    return hess


@part
class Around:
    """A loss whose curvature counts the pairs of the document with this score."""

    at: float = 0.0

    embed, largest_score, factors = OF_SCORES

    def pair_derivatives(self, a, b):
        at_a, at_b = abs(a.score - self.at) < 0.5, abs(b.score - self.at) < 0.5
        return PairDerivatives(0.0, 0.0, float(at_a) + float(at_b))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_pair_set_can_count(n):
    sets = [
        cls
        for cls in PARTS.values()
        if VERBS["count_anchors"].able(cls()) or VERBS["list_anchors"].able(cls())
    ]
    assert len(sets) >= 8
    for cls in sets:
        assert 0 <= visits(cls(), n) <= n * (n - 1) / 2
    assert visits(Top(3), n) == sum(max(0, n - 1 - i) for i in range(min(3, n)))
