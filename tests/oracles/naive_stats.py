"""Tests of paired differences from their definitions, in plain loops: slow, obvious, exact."""

from fractions import Fraction
from itertools import product


def permutation(differences, alternative="two-sided", strict=False):
    """p-value over all signs; differences are given as fractions or as text, so sums have no rounding."""
    d = [Fraction(x) for x in differences]
    seen = sum(d)
    hits = 0
    for signs in product((1, -1), repeat=len(d)):
        total = sum(s * x for s, x in zip(signs, d, strict=True))
        hits += as_extreme(total, seen, alternative, strict)
    return hits / 2 ** len(d)


def bootstrap(differences, alternative="two-sided", strict=False):
    """p-value over all resamples, the mean shifted to 0."""
    d = [Fraction(x) for x in differences]
    seen = sum(d)
    hits = 0
    for places in product(range(len(d)), repeat=len(d)):
        total = sum(d[i] for i in places) - seen
        hits += as_extreme(total, seen, alternative, strict)
    return hits / len(d) ** len(d)


def as_extreme(total, seen, alternative, strict):
    if alternative == "two-sided":
        total, seen = abs(total), abs(seen)
    elif alternative == "less":
        total, seen = -total, -seen
    return total > seen if strict else total >= seen


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, largest = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        largest = max(largest, (len(p) - step) * p[i])
        out[i] = min(1.0, largest)
    return out


def rank_biserial(d):
    d = [x for x in d if x != 0]
    up = down = 0.0
    for x in d:
        below = sum(abs(y) < abs(x) for y in d)
        equal = sum(abs(y) == abs(x) for y in d)
        rank = below + (equal + 1) / 2
        up, down = (up + rank, down) if x > 0 else (up, down + rank)
    return 0.0 if not d else (up - down) / (up + down)
