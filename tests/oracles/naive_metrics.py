"""The oracle of the metrics: definitions in plain loops over labels in rank order. Imports nothing from the package.

Slow and obvious on purpose. Positions are 1-based here, as in the papers.
"""

import math


def _cut(labels, k):
    """Pairs of position and label of the first k."""
    return [(i, y) for i, y in enumerate(labels, start=1) if k is None or i <= k]


def _gain(y, gain):
    return 2.0**y - 1.0 if gain == "exp" else float(y)


def _chance(y, gain, max_label):
    return (2.0**y - 1.0) / 2.0**max_label if gain == "exp" else y / max_label


def dcg(labels, k=None, gain="exp"):
    return sum(_gain(y, gain) / math.log2(1 + i) for i, y in _cut(labels, k))


def ndcg(labels, k=None, gain="exp"):
    best = dcg(sorted(labels, reverse=True), k, gain)
    return dcg(labels, k, gain) / best if best > 0 else 0.0


def bndcg(labels, k=None, rel=1):
    return ndcg([1 if y >= rel else 0 for y in labels], k, "linear")


def p(labels, k=None, rel=1, divide_by="places"):
    hits = sum(1 for _, y in _cut(labels, k) if y >= rel)
    if divide_by == "k" and k is not None:
        return hits / k
    return hits / (len(labels) if k is None else min(k, len(labels)))


def recall(labels, k=None, rel=1):
    relevant = sum(1 for y in labels if y >= rel)
    return sum(1 for _, y in _cut(labels, k) if y >= rel) / relevant if relevant else 0.0


def average_precision(labels, k=None, rel=1, divide_by="reachable"):
    relevant = sum(1 for y in labels if y >= rel)
    total = sum(p(labels, i, rel) for i, y in _cut(labels, k) if y >= rel)
    if divide_by == "reachable" and k is not None:
        relevant = min(relevant, k)
    return total / relevant if relevant else 0.0


def mrr(labels, k=None, rel=1):
    for i, y in _cut(labels, k):
        if y >= rel:
            return 1.0 / i
    return 0.0


def err(labels, k=None, gain="exp", max_label=4):
    total, reach = 0.0, 1.0
    for i, y in _cut(labels, k):
        r = _chance(y, gain, max_label)
        total += reach * r / i
        reach *= 1.0 - r
    return total


def pfound(labels, k=None, max_label=4, decay=0.85, gain="linear"):
    total, reach = 0.0, 1.0
    for _, y in _cut(labels, k):
        r = _chance(y, gain, max_label)
        total += reach * r
        reach *= (1.0 - r) * decay
    return total


def arp(labels, gain="linear", divide_by="one"):
    gains = [_gain(y, gain) for y in labels]
    total = sum(g * i for i, g in enumerate(gains, start=1))
    if divide_by == "relevant":
        return total / sum(gains) if sum(gains) else 0.0
    return total


def arpk(labels, k, rel=1):
    return float(sum(i - k for i, y in enumerate(labels, start=1) if i > k and y >= rel))


def expdcg(labels, k=None, base=0.85, gain="linear"):
    return sum(_gain(y, gain) * base ** (i - 1) for i, y in _cut(labels, k))


def rbp(labels, k=None, p=0.8, rel=1, gain="binary"):
    value = {"binary": lambda y: y >= rel, "linear": lambda y: y}[gain]
    return (1 - p) * sum(value(y) * p ** (i - 1) for i, y in _cut(labels, k))


def hits(labels, k=None, rel=1):
    return sum(1 for _, y in _cut(labels, k) if y >= rel)


def success(labels, k=None, rel=1):
    return 1.0 if hits(labels, k, rel) else 0.0


def rprec(labels, rel=1):
    r = hits(labels, None, rel)
    return hits(labels, r, rel) / r if r else 0.0


def _shares(labels, k, gain):
    """Gains over the ideal DCG, and the discounts of NDCG@k by position."""
    best = dcg(sorted(labels, reverse=True), k, gain)
    shares = [_gain(y, gain) / best if best > 0 else 0.0 for y in labels]
    return shares, lambda i: 1.0 / math.log2(1 + i) if k is None or i <= k else 0.0


def ndcgcost(labels, k=None, gain="exp"):
    shares, g = _shares(labels, k, gain)
    return sum(f * (1.0 - g(i)) for i, f in enumerate(shares, start=1))


def lambdarankcost(labels, k=None, gain="exp"):
    shares, g = _shares(labels, k, gain)
    return sum(
        f * sum(abs(g(i) - g(j)) for j in range(1, i)) for i, f in enumerate(shares, start=1)
    )


ORACLE = {
    "ndcgcost": ndcgcost,
    "lambdarankcost": lambdarankcost,
    "dcg": dcg,
    "ndcg": ndcg,
    "bndcg": bndcg,
    "p": p,
    "recall": recall,
    "map": average_precision,
    "mrr": mrr,
    "err": err,
    "pfound": pfound,
    "arp": arp,
    "arpk": arpk,
    "expdcg": expdcg,
    "rbp": rbp,
    "hits": hits,
    "success": success,
    "rprec": rprec,
}
