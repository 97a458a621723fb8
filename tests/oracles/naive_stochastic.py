"""The oracle of StochasticRank: its formulas in plain loops, and exact gradients by quadrature. Imports nothing from
the package.
"""

import itertools
import math

import numpy as np
from scipy.integrate import cumulative_simpson

from tests.oracles import naive_metrics

#: Value of a ranking, and a label as the metric reads it.
METRICS = {
    "ndcg": (naive_metrics.ndcg, float),
    "dcg": (naive_metrics.dcg, float),
    "mrr": (naive_metrics.mrr, lambda y: float(y >= 1)),
    "map": (naive_metrics.average_precision, lambda y: float(y >= 1)),
    "err": (lambda y, k=None: naive_metrics.err(y, k, gain="linear"), lambda y: y / 4),
    "pfound": (naive_metrics.pfound, lambda y: y / 4),
}


def ascent(value, y, a, noise, sigma, projected):
    """Estimate of the gradient of a metric from one draw of noise: each document is put above and below each other."""
    n = len(y)
    c = [a[i] + sigma * noise[i] for i in range(n)]
    out = []
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: -c[j])
        middle, width = a[i], sigma
        if projected:
            middle += sigma * sum(noise[j] for j in others) / (n - 1)
            width *= math.sqrt(n / (n - 1))
        total = 0.0
        for place, j in enumerate(others):
            above = [*others[:place], i, *others[place:]]
            below = [*others[: place + 1], i, *others[place + 1 :]]
            u = (c[j] - middle) / width
            density = math.exp(-u * u / 2) / math.sqrt(2 * math.pi) / width
            total += density * (value([y[x] for x in above]) - value([y[x] for x in below]))
        out.append(total)
    return out


def scale_free(g, z, sfa=1.0, nu=0.01):
    """Remove the mean and, of more than two documents, the part along the scores."""
    n = len(g)
    g = [x - sum(g) / n for x in g]
    z = [x - sum(z) / n for x in z]
    if n <= 2:
        return g
    along = sum(x * v for x, v in zip(g, z, strict=True))
    size = math.sqrt(sum(v * v for v in z)) + nu
    return [x - sfa * along / size**2 * v for x, v in zip(g, z, strict=True)]


def gradient(value, y, z, noises, sigma, r=None, mu=0.0, projected=True, sfa=1.0, nu=0.01):
    """Gradient to descend: the mean over the draws, corrected."""
    if len(y) < 2:
        return [0.0] * len(y)
    a = [z[i] - sigma * mu * (r[i] if r else 0.0) for i in range(len(y))]
    drawn = [ascent(value, y, a, noise, sigma, projected) for noise in noises]
    mean = [sum(x) / len(drawn) for x in zip(*drawn, strict=True)]
    return [-x for x in scale_free(mean, z, sfa, nu)]


def order_gradients(a, sigma, points=6001):
    """Derivatives of the probability of each order of documents at a_i + sigma e_i, e normal.

    The probability that x_1 > x_2 > ... is an integral in an integral, from the lowest document up; the derivative by
    a document's place has the derivative of its density in its stead.
    """
    x = np.linspace(min(a) - 9 * sigma, max(a) + 9 * sigma, points)
    density = [np.exp(-(((x - v) / sigma) ** 2) / 2) / math.sqrt(2 * math.pi) / sigma for v in a]
    slope = [d * (x - v) / sigma**2 for d, v in zip(density, a, strict=True)]
    out = {}
    for order in itertools.permutations(range(len(a))):
        out[order] = []
        for i in range(len(a)):
            inside = np.ones(points)
            for j in reversed(order):
                own = slope[j] if i == j else density[j]
                inside = cumulative_simpson(own * inside, x=x, initial=0.0)
            out[order].append(float(inside[-1]))
    return out


def exact(value, y, orders):
    """Gradient of the expected metric: each order's value times the derivatives of its probability."""
    total = [0.0] * len(y)
    for order, slopes in orders.items():
        v = value([y[i] for i in order])
        total = [t + v * s for t, s in zip(total, slopes, strict=True)]
    return total
