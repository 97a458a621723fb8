"""The kernels of `evaluate`: rank the documents of each query, then measure the ranking by a metric."""

from collections import namedtuple

from rankwood._kernels.compile.jit import inner, jit
from rankwood._kernels.numeric.sorting import shell_sort, sort_down
from rankwood._kernels.parts import part
from rankwood._kernels.records import documents, lend
from rankwood._kernels.verbs import verb
from rankwood.metrics.ranked import Ranked
from rankwood.metrics.verbs import label_values, mean_over_ties, value

#: Documents query by query: the row of each, its label, and the discounts by rank.
Queries = namedtuple("Queries", "rows label discount")
#: Queries in rank order: where each starts, how many of its documents were ranked, slot and score by rank.
Ranking = namedtuple("Ranking", "ptr length slot key")
#: One thread's memory to rank a query.
RankScratch = namedtuple("RankScratch", "score sorting")
#: A metric, and the rule for ties.
Measured = namedtuple("Measured", "metric rule")
#: By query: the metric, and whether no document has a value.
Values = namedtuple("Values", "value empty")


@jit
def rank_queries(queries, scores, ties, ranking, scratch, first, last):
    """Fill `ranking` with each query's slots and scores by rank; `ties` is an index into TIES."""
    queries, scores, ranking, scratch = lend(queries), lend(scores), lend(ranking), lend(scratch)
    for q in range(first, last):
        start, end = ranking.ptr[q], ranking.ptr[q + 1]
        n = end - start
        score, label = documents(scratch.score, 0, n), documents(queries.label, start, end)
        key, slot = documents(ranking.key, start, end), documents(ranking.slot, start, end)
        for i in range(n):
            score[i] = scores[queries.rows[start + i]]
        sort_down(score, slot, scratch.sorting)
        for i in range(n):
            key[i] = score[slot[i]]
        if ties == 0 or ties == 2:
            _break_ties(label, -1.0 if ties == 0 else 1.0, key, slot)


@inner
def _break_ties(label, sign, key, slot):
    """Order runs of equal scores by their labels: upwards, or downwards if `sign` is 1."""
    i = 0
    while i < key.size:
        j = i + 1
        while j < key.size and key[j] == key[i]:
            j += 1
        if j - i > 1:
            score = key[i]
            for t in range(i, j):
                key[t] = sign * label[slot[t]]
            shell_sort(documents(key, i, j), documents(slot, i, j))
            for t in range(i, j):
                key[t] = score
        i = j


@verb
def measure(rule, metric, ranked, values):
    """Return the metric of a ranking under a rule for ties."""


@part
class AsRanked:
    """The metric of the ranking as it is: ties are broken already."""

    def measure(self, metric, ranked, values):
        return value(metric, ranked, values)


@part
class MeanOverTies:
    """The mean of the metric over all orders of documents that tie."""

    def measure(self, metric, ranked, values):
        return mean_over_ties(metric, ranked, values)


@jit
def measure_queries(measured, queries, ranking, values, out, first, last):
    """Fill `out` with the metric of each query, and whether no document has a value."""
    queries, ranking, values, out = lend(queries), lend(ranking), lend(values), lend(out)
    for q in range(first, last):
        start, end = ranking.ptr[q], ranking.ptr[q + 1]
        n = ranking.length[q]
        label, own = documents(queries.label, start, end), documents(values, 0, end - start)
        key = documents(ranking.key, start, start + n)
        slot = documents(ranking.slot, start, start + n)
        ranked = Ranked(n, label, key, slot, queries.discount)
        label_values(measured.metric, label, queries.discount, own)
        out.value[q] = measure(measured.rule, measured.metric, ranked, own)
        out.empty[q] = _all_zero(own)


@inner
def _all_zero(values):
    """Tell whether no document has a value; in most queries one of the first few has."""
    i = 0
    while i < values.size and values[i] <= 0.0:
        i += 1
    return i == values.size


@jit
def fill_values(part, label, ptr, discount, out, first, last):
    """Fill the `label_values` of queries `first` to `last`."""
    for q in range(first, last):
        start, end = ptr[q], ptr[q + 1]
        label_values(part, label[start:end], discount, documents(out, start, end))
