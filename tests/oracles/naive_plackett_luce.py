"""The oracle of soft assignment: every ranking with its probability in the Plackett-Luce model. Plain loops."""

import itertools
import math


def rankings(weights):
    """Every ranking of documents and its probability: each place is drawn from those left, by weight."""
    for order in itertools.permutations(range(len(weights))):
        left, chance = sum(weights), 1
        for i in order:
            chance = chance * weights[i] / left
            left = left - weights[i]
        yield order, chance


def weights_of(scores, scale=1.0):
    return [math.exp(s / scale) for s in scores]


def scores_of(order):
    """Scores that rank documents so."""
    scores = [0.0] * len(order)
    for place, document in enumerate(order):
        scores[document] = -float(place)
    return scores


def mean_pairs(pairs, chances):
    """Pairs (h, l, w) with the mean of w over rankings with these chances; `pairs` makes them from scores."""
    return [
        (h, low, chance * w) for order, chance in chances for h, low, w in pairs(scores_of(order))
    ]


def expected_pairs(pairs, scores, scale=1.0):
    """Pairs (h, l, w) with the mean of w over all rankings of the model."""
    return mean_pairs(pairs, rankings(weights_of(scores, scale)))


def gumbel(u):
    """The number that a uniform number u stands for: small u are large numbers."""
    return -math.log(-math.log1p(-u))
