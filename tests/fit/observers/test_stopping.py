"""Early stopping as a rule about curves, without any training."""

import math

import pytest

from rankwood.fit.observers.stopping import EarlyStopping
from rankwood.metrics import NDCG

NAN = math.nan


def stopped(curve, patience):
    """Return the best round, and the round after which training stops, by a plain loop over the definition."""
    best = None
    for number in range(1, len(curve) + 1):
        numbers = [v for v in curve[:number] if not math.isnan(v)]
        best = curve.index(max(numbers)) + 1 if numbers else 1
        if number - best >= patience:
            return best, number
    return best, None


@pytest.mark.parametrize(
    "curve",
    [
        [0.5, 0.6, 0.6, 0.55, 0.7],
        [NAN, 0.2, 0.1, 0.3, 0.1],
        [NAN, NAN, NAN, NAN, 0.5],
        [0.5, NAN, NAN, 0.4, 0.6],
    ],
)
@pytest.mark.parametrize("patience", [1, 2, 3, 10])
def test_the_best_round_is_the_first_with_the_largest_number(curve, patience):
    rule = EarlyStopping({"ndcg": NDCG()}, patience)
    best, end = None, None
    for number in range(1, len(curve) + 1):
        best, stops = rule._compare(curve, best, number)
        if stops:
            end = number
            break
    assert (best, end) == stopped(curve, patience)
    assert rule.would_have_stopped({"valid": {"ndcg": curve}}) == (end is not None)
