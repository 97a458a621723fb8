"""The logistic loss of given pairs in plain loops, from its formula: pairs are (winner, loser, weight)."""

import math


def loss(pairs, s):
    """Return sum of w log(1 + exp(-(s_winner - s_loser)))."""
    return sum(w * math.log(1.0 + math.exp(s[low] - s[high])) for high, low, w in pairs)


def gradients(pairs, s):
    """Return the derivative of the loss by each score, and the diagonal of the second derivatives."""
    gradient, hessian = [0.0] * len(s), [0.0] * len(s)
    for high, low, w in pairs:
        wrong = 1.0 / (1.0 + math.exp(s[high] - s[low]))
        gradient[high] -= w * wrong
        gradient[low] += w * wrong
        for i in (high, low):
            hessian[i] += w * wrong * (1.0 - wrong)
    return gradient, hessian


def mixed(pairs, s):
    """Return minus the second derivatives by two different scores."""
    matrix = [[0.0] * len(s) for _ in s]
    for high, low, w in pairs:
        wrong = 1.0 / (1.0 + math.exp(s[high] - s[low]))
        for i, j in ((high, low), (low, high)):
            matrix[i][j] += w * wrong * (1.0 - wrong)
    return matrix
