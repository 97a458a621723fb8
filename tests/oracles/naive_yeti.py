"""The oracle of YetiRank, YetiLoss and noise in general: pairs of given rankings, averaged. Plain loops."""

from tests.oracles import naive_metrics
from tests.oracles import naive_objectives as naive
from tests.oracles.naive import ranking


def mean_pairs(per_ranking):
    """Pairs of several rankings as one list, each with its share of the weight."""
    return [(h, low, w / len(per_ranking)) for pairs in per_ranking for h, low, w in pairs]


def near(pairs, s, h):
    """Pairs of documents whose positions by score are at most h apart (h None: all)."""
    place = naive.positions(s)
    return [p for p in pairs if h is None or abs(place[p[0]] - place[p[1]]) <= h]


def change(y, s, value, k, h):
    """YetiLoss: the change of a metric (of labels in rank order) by a swap of neighbours."""
    return near(naive.metric_change(y, s, value, k), s, h)


def classic(y, s, k=None, h=1, decay=0.85):
    return change(y, s, lambda labels: naive_metrics.expdcg(labels, base=decay), k, h)


def _within(y, s, k, h, weight):
    """Pairs within k and h by a weight of the upper position, the lower one, and the labels in rank order."""
    order = ranking(s)
    labels = [y[i] for i in order]
    found = []
    for a in range(1, len(order) + 1):
        for b in range(a + 1, len(order) + 1):
            i, j = order[a - 1], order[b - 1]
            if y[i] == y[j] or (k is not None and a > k) or (h is not None and b - a > h):
                continue
            high, low = (i, j) if y[i] > y[j] else (j, i)
            found.append((high, low, weight(a, b, labels)))
    return found


def catboost_rr(y, s, k=None, h=1):
    """1/a - 1/b unless a relevant document is above both."""

    def weight(a, b, labels):
        return 0.0 if any(labels[: a - 1]) else 1 / a - 1 / b

    return _within(y, s, k, h, weight)


def catboost_ap(y, s, k=None, h=1):
    """1/a, and 1/m of the relevant documents between."""

    def weight(a, b, labels):
        return 1 / a + sum(1 / m for m in range(a + 1, b) if labels[m - 1])

    return _within(y, s, k, h, weight)
