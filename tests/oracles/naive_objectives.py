"""The oracle of the pairwise objectives: pairs (h, l, w) from the papers in plain loops.

Imports nothing from the package. Positions are 1-based, as in the papers. `h` should rank above `l`.
"""

import math

from tests.oracles.naive import discount, gain, ideal_dcg, ranking


def binary(labels, rel=1):
    return [1 if y >= rel else 0 for y in labels]


def positions(scores):
    place = [0] * len(scores)
    for p, i in enumerate(ranking(scores), start=1):
        place[i] = p
    return place


def pairs_where(labels, place, weight):
    """Every pair of different labels, with the weight of (h, l, upper position, lower position)."""
    found = []
    for h in range(len(labels)):
        for low in range(len(labels)):
            if labels[h] > labels[low]:
                w = weight(h, low, min(place[h], place[low]), max(place[h], place[low]))
                if w != 0:
                    found.append((h, low, w))
    return found


def step(m):
    """NDCG-Loss2's discount at distance m."""
    return abs(1 / math.log2(m + 1) - 1 / math.log2(m + 2))


# One function per family; `k` None means no cutoff.


def ranknet(y, s, k=None):
    return pairs_where(y, positions(s), lambda h, low, i, j: 1.0)


def bin_ranknet(y, s, k=None):
    return ranknet(binary(y), s)


def arp1(y, s, k=None, graded=False):
    """Weight of the first document, for every ordered pair, or those of a higher first label."""
    n = len(y)
    return [
        (i, j, float(y[i]))
        for i in range(n)
        for j in range(n)
        if i != j and (y[i] > y[j] or not graded) and y[i] > 0
    ]


def arp2(y, s, k=None):
    return pairs_where(y, positions(s), lambda h, low, i, j: float(y[h] - y[low]))


def ndcg1(y, s, k=None):
    place, best, n = positions(s), ideal_dcg(y, k), len(y)
    found = []
    for i in range(n):
        for j in range(n):
            kept = k is None or place[i] <= k or place[j] <= k
            if i != j and kept and gain(y[i]) > 0:
                found.append((i, j, gain(y[i]) * discount(place[i]) / best))
    return found


def ndcg(y, s, k=None, rho=1.0, mu=0.0, shifted=False, allowed=None):
    """(rho |1/D_i - 1/D_j| + mu delta) times the gains' distance; pairs with the upper one within k.

    `allowed` gives the documents of which one must be in a pair, in place of the first k.
    """
    place, best = positions(s), ideal_dcg(y, k)

    def weight(h, low, i, j):
        if allowed is None and k is not None and i > k:
            return 0.0
        if allowed is not None and h not in allowed and low not in allowed:
            return 0.0
        at_distance = step(j - i + (1 if shifted else 0))
        together = rho * (discount(i) - discount(j)) + mu * at_distance
        return (gain(y[h]) - gain(y[low])) * together / best

    return pairs_where(y, place, weight)


# LambdaLoss for any metric that is the sum of f(document) g(position).


def loss1(s, f, g):
    """Every ordered pair, with what its first document adds to the metric."""
    place, n = positions(s), len(s)
    return [(i, j, f[i] * g(place[i])) for i in range(n) for j in range(n) if i != j and f[i] > 0]


def loss2(y, s, f, g, k=None, rho=0.0, mu=1.0):
    """(f_h - f_l) times (rho |g(i) - g(j)| + mu |g(m) - g(m + 1)|) at distance m; the upper document within k."""

    def weight(h, low, i, j):
        if k is not None and i > k:
            return 0.0
        return (f[h] - f[low]) * (rho * abs(g(i) - g(j)) + mu * abs(g(j - i) - g(j - i + 1)))

    return pairs_where(y, positions(s), weight)


def loss2_at_k(y, s, k, labels=list):
    """NDCG-Loss2 of all pairs; a pair whose lower document is at p > k counts 1 / (1 - 1/D(p)) times."""
    y = labels(y)
    best = ideal_dcg(y, k)

    def weight(h, low, i, j):
        larger = 1.0 / (1.0 - discount(j)) if j > k else 1.0
        return (gain(y[h]) - gain(y[low])) * step(j - i) * larger / best

    return pairs_where(y, positions(s), weight)


def gap_f(y, s, k, f, scale=1.0):
    """f(distance of the ranks) from k on, on binary labels."""
    return pairs_where(
        binary(y), positions(s), lambda h, low, i, j: scale * f(j - i) if j - i >= k else 0.0
    )


def gap_or(y, s, k, cross=0.0, beyond=0.0, gap=0.0, exactly=False):
    """Precision's mask, ARP beyond k, and LambdaGap's mask, each with its factor, on binary labels."""
    y = binary(y)

    def weight(h, low, i, j):
        w = cross if i <= k < j else 0.0
        w += beyond * (max(0, j - k) - max(0, i - k))
        if j - i == k or (j - i > k and not exactly):
            w += gap
        return w

    return pairs_where(y, positions(s), weight)


def metric_change(y, s, value, k=None):
    """|change| of a metric (of labels in rank order) by each swap, the upper document within k."""
    place, order = positions(s), ranking(s)
    before = value([y[i] for i in order])

    def weight(h, low, i, j):
        if k is not None and i > k:
            return 0.0
        swapped = list(order)
        swapped[i - 1], swapped[j - 1] = swapped[j - 1], swapped[i - 1]
        w = abs(value([y[t] for t in swapped]) - before)
        return w if w > 1e-15 else 0.0

    return pairs_where(y, place, weight)


# Lambda-eX: the documents of which one must be in a pair.


def extended(y, s, k, how="static", definition="program", scan=None):
    """The set X: the current top k and the missed documents, in the order they are found."""
    n = len(y)
    order = ranking(s)
    c = min(k, n)
    top, below = order[:c], order[c:]
    ideal = sorted(y, reverse=True)[:c]
    positive = [label for label in y if label > 0]
    if how.startswith("all-"):
        rolls_back = bool(positive) and min(positive) in ideal
        how = how[4:] if rolls_back else "all"
    if how == "random":
        below = [d for d in scan if d not in top]
    need = {label: ideal.count(label) - [y[d] for d in top].count(label) for label in set(y)}
    false = sum(y[d] not in ideal for d in top)
    chosen = []
    for d in below:
        if definition == "paper":
            if y[d] in ideal and y[d] > 0 and (how == "all" or len(chosen) < false):
                chosen.append(d)
        elif need[y[d]] > 0:
            chosen.append(d)
            if how != "all":
                need[y[d]] -= 1
    return [*top, *chosen]


# CatBoost's weights.


def catboost_rr(y, s):
    y = binary(y)
    place = positions(s)
    relevant = sorted(p for p, label in zip(place, y, strict=True) if label)
    first = relevant[0] if relevant else math.inf
    second = relevant[1] if len(relevant) > 1 else math.inf

    def weight(h, low, i, j):
        if place[h] == i:  # the upper one is relevant
            return 1 / i - 1 / min(j, second) if i == first else 0.0
        return 1 / i - 1 / j if i < first else 0.0

    return pairs_where(y, place, weight)


def catboost_ap(y, s):
    y = binary(y)
    place, order = positions(s), ranking(s)

    def weight(h, low, i, j):
        between = 0.0
        if place[h] != i:
            between = sum(1 / p for p in range(i + 1, j) if y[order[p - 1]])
        return 1 / i + between

    return pairs_where(y, place, weight)


def catboost_err(y, s, highest=4):
    place, order = positions(s), ranking(s)
    chance = [label / highest for label in y]

    def weight(h, low, i, j):
        upper = order[i - 1]
        arrive = 1.0
        for p in range(1, i):
            arrive *= 1 - chance[order[p - 1]]
        found, rest = 0.0, 1.0
        for p in range(i + 1, j):
            d = order[p - 1]
            if y[d] != y[upper]:
                found += rest * chance[d] / p
                rest *= 1 - chance[d]
        return arrive * abs(chance[h] - chance[low]) * abs(1 / i - found - rest / j)

    return pairs_where(y, place, weight)
