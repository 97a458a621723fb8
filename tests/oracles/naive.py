"""The oracle: definitions from the literature in plain loops. Imports nothing from the package.

Slow and obvious on purpose. Positions are 1-based here, as in the papers.
"""

import itertools
import math


def ranking(scores):
    """Documents by decreasing score, equal scores in the caller's order."""
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def gain(label, kind="exp"):
    return 2.0**label - 1.0 if kind == "exp" else float(label)


def discount(position):
    return 1.0 / math.log2(1 + position)


def dcg(labels_in_rank_order, k=None, kind="exp"):
    total = 0.0
    for position, label in enumerate(labels_in_rank_order, start=1):
        if k is None or position <= k:
            total += gain(label, kind) * discount(position)
    return total


def ideal_dcg(labels, k=None, kind="exp"):
    return dcg(sorted(labels, reverse=True), k, kind)


def ndcg(labels_in_rank_order, k=None, kind="exp", empty=0.0):
    best = ideal_dcg(labels_in_rank_order, k, kind)
    return dcg(labels_in_rank_order, k, kind) / best if best > 0 else empty


def tied_orders(labels, scores):
    """Every order of the labels that the scores allow (for small lists)."""
    groups = []
    for score in sorted(set(scores), reverse=True):
        groups.append([y for y, s in zip(labels, scores, strict=True) if s == score])
    for choice in itertools.product(*(itertools.permutations(g) for g in groups)):
        yield [y for g in choice for y in g]


def metric(labels, scores, value, ties):
    """Value of a ranking under a tie rule; `value` takes labels in rank order."""
    if ties == "input":
        return value([labels[i] for i in ranking(scores)])
    if ties == "average":
        values = [value(order) for order in tied_orders(labels, scores)]
        return sum(values) / len(values)
    sign = 1 if ties == "worst" else -1
    order = sorted(range(len(labels)), key=lambda i: (-scores[i], sign * labels[i]))
    return value([labels[i] for i in order])


def lambdarank_pairs(labels, scores, k=None, true_cut=False, kind="exp"):
    """Pairs (h, l, w) of LambdaRank for NDCG: the better placed one within k, discounts not cut."""
    order = ranking(scores)
    best = ideal_dcg(labels, k, kind)
    pairs = []
    for a in range(1, len(order) + 1):
        for b in range(a + 1, len(order) + 1):
            i, j = order[a - 1], order[b - 1]
            if labels[i] == labels[j] or (k is not None and a > k):
                continue
            above = discount(a) if not true_cut or k is None or a <= k else 0.0
            below = discount(b) if not true_cut or k is None or b <= k else 0.0
            h, low = (i, j) if labels[i] > labels[j] else (j, i)
            w = (gain(labels[h], kind) - gain(labels[low], kind)) * abs(above - below) / best
            pairs.append((h, low, w))
    return pairs


def logistic_gradients(pairs, scores, sigma=1.0, norm=False):
    """Gradient and hessian of sum w log(1 + exp(-sigma (s_h - s_l))), with LightGBM's norm if asked."""
    n = len(scores)
    grad, hess = [0.0] * n, [0.0] * n
    flat = max(scores) == min(scores)
    total = 0.0
    for h, low, w in pairs:
        difference = scores[h] - scores[low]
        if norm and not flat:
            w = w / (0.01 + abs(difference))
        # 1 / (1 + exp(x)), written so that it never overflows
        x = sigma * difference
        rho = 1.0 / (1.0 + math.exp(x)) if x < 0 else math.exp(-x) / (1.0 + math.exp(-x))
        push, curve = sigma * w * rho, sigma**2 * w * rho * (1.0 - rho)
        grad[h] -= push
        grad[low] += push
        hess[h] += curve
        hess[low] += curve
        total += 2.0 * push
    if norm and total > 0:
        factor = math.log2(1.0 + total) / total
        grad = [factor * g for g in grad]
        hess = [factor * x for x in hess]
    return grad, hess
