"""The oracle of the losses without pairs: the losses in plain loops, and their derivatives by differences.

Imports nothing from the package. Scores may be complex: a step along the imaginary axis gives a first derivative
that no subtraction spoils.
"""

import cmath
from decimal import Decimal, getcontext

from tests.oracles.naive import gain, ideal_dcg

getcontext().prec = 60


def rmse(y, s):
    """Half the sum of squared errors."""
    return sum((score - label) ** 2 for score, label in zip(s, y, strict=True)) / 2


def query_rmse(y, s):
    """Half the sum of squared errors, the mean error of the query taken off."""
    errors = [score - label for score, label in zip(s, y, strict=True)]
    mean = sum(errors) / len(errors)
    return sum((e - mean) ** 2 for e in errors) / 2


def cross_entropy(targets, s):
    """Minus the sum of t log p, p being the softmax of the scores."""
    top = max(complex(score).real for score in s)
    total = sum(cmath.exp(score - top) for score in s)
    return -sum(t * (score - top - cmath.log(total)) for t, score in zip(targets, s, strict=True))


def softmax(y, s):
    return cross_entropy(y, s)


def listnet_targets(y):
    powers = [cmath.exp(label).real for label in y]
    return [power / sum(powers) for power in powers]


def listnet(y, s):
    return cross_entropy(listnet_targets(y), s)


def xendcg_targets(y, gamma):
    parts = [2.0**label - g for label, g in zip(y, gamma, strict=True)]
    return [part / sum(parts) for part in parts]


def approx_ndcg(y, s, temperature=1.0, kind="exp"):
    """NDCG with smooth ranks; 0 if there is no gain."""
    best, total = ideal_dcg(y, None, kind), 0.0
    for i, label in enumerate(y):
        rank = 1.0
        for j in range(len(y)):
            if j != i:
                rank += 1.0 / (1.0 + cmath.exp((s[i] - s[j]) / temperature))
        total += gain(label, kind) * cmath.log(2.0) / cmath.log(1.0 + rank)
    return total / best if best > 0 else 0.0


def slope(loss, y, s):
    """Gradient of a loss: its imaginary part after a tiny imaginary step."""
    step, out = 1e-30, []
    for i in range(len(s)):
        moved = [complex(score, step if i == j else 0.0) for j, score in enumerate(s)]
        out.append(complex(loss(y, moved)).imag / step)
    return out


def bend(loss, y, s, step=1e-4):
    """Matrix of second derivatives: central differences of the gradient, with two steps (fourth order)."""

    def moved(i, by):
        return slope(loss, y, [score + (by if i == j else 0.0) for j, score in enumerate(s)])

    rows = []
    for i in range(len(s)):
        near, far = (moved(i, step), moved(i, -step)), (moved(i, 2 * step), moved(i, -2 * step))
        rows.append(
            [
                (8 * (near[0][j] - near[1][j]) - (far[0][j] - far[1][j])) / (12 * step)
                for j in range(len(s))
            ]
        )
    return rows


def corrected(gradient, hessian):
    """D (1 + X + X^2) D^-1 g, with D the diagonal of H and X = 1 - D^-1 H: XE-NDCG's gradient."""
    n = len(gradient)
    total = [gradient[i] / hessian[i][i] for i in range(n)]
    term = list(total)
    for _ in range(2):
        turned = [sum(hessian[i][j] * term[j] for j in range(n)) / hessian[i][i] for i in range(n)]
        term = [term[i] - turned[i] for i in range(n)]
        total = [total[i] + term[i] for i in range(n)]
    return [hessian[i][i] * total[i] for i in range(n)]


def xendcg(y, s, gamma):
    """XE-NDCG's gradient and hessian with sixty digits, from the formulas of softmax's derivatives."""
    n = len(y)
    powers = [Decimal(score).exp() for score in s]
    chance = [power / sum(powers) for power in powers]
    parts = [Decimal(2) ** int(label) - Decimal(g) for label, g in zip(y, gamma, strict=True)]
    gradient = [chance[i] - parts[i] / sum(parts) for i in range(n)]
    hessian = [[-chance[i] * chance[j] for j in range(n)] for i in range(n)]
    for i in range(n):
        hessian[i][i] += chance[i]
    grad = corrected(gradient, hessian)
    return [float(g) for g in grad], [float(hessian[i][i]) for i in range(n)]


class LightGBMRandom:
    """LightGBM's generator of one query, seeded with objective_seed plus its index."""

    def __init__(self, seed):
        self.state = seed

    def next_float(self):
        self.state = (214013 * self.state + 2531011) % 2**32
        return ((self.state >> 16) & 0x7FFF) / 32768.0
