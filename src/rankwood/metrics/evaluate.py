"""Values of metrics for each query."""

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._core import checks, threads
from rankwood._core.jit import check_labels, inline, inner, jit, lower
from rankwood._core.sorting import SHORT, Query, arrange, count, discounts, resort
from rankwood.data.labels import labels_and_groups
from rankwood.data.trec import Qrels, join_run
from rankwood.data.unlisted import Beyond
from rankwood.metrics import conventions
from rankwood.metrics.conventions import CONVENTIONS, DEFAULTS, EMPTY, TIES
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.registry import METRICS, metric
from rankwood.metrics.verbs import tied, value, worth

__all__ = [
    "CONVENTIONS",
    "EMPTY",
    "METRICS",
    "TIES",
    "Evaluator",
    "evaluate",
    "metric",
    "named_metrics",
]


#: Queries in rank order: where each starts, how many of its documents were ranked, slot and score by rank.
Ranking = namedtuple("Ranking", "ptr length slot key")


def evaluate(
    metrics: Any,
    y: Any,
    scores: Any,
    *,
    qid: Any = None,
    group: Any = None,
    ties: str | None = None,
    empty: Any = None,
    convention: str | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Evaluate scores by metrics, query by query.

    Parameters
    ----------
    metrics : str, part, or list of them
        Names such as ``"ndcg@10"`` or ``"dcg@5(gain='linear')"``.
    y : array, RankingData or Qrels
        Labels, a data set that knows labels and queries, or the judgments of `load_qrels`.
    scores : array or Run
        Scores, in the order of `y`; with judgments, the run of `load_run`. Where less is better (ARP), judged documents
        that the run lacks come behind those it has, relevant ones last; other metrics don't rank them.
    qid, group : array, optional
        Query id of each row, in any order, or sizes of consecutive queries; one query without both.
    ties : {"worst", "input", "best", "average"}
        Order of documents with equal scores: less relevant first, the caller's order, more relevant
        first, or the mean over all orders. Default "worst", so that a constant score earns nothing.
    empty : {0, 1, "skip"}
        What a query without relevant documents scores in a metric that is at most 1; "skip" leaves it
        out of every mean, with NaN as its value. Default 0.
    convention : {"lightgbm", "xgboost", "catboost", "trec_eval", "ranklib", "sklearn"}, optional
        Definitions, ties and empty rule of that program, as far as not stated otherwise.
    n_jobs : int, optional
        Threads; None means every core.

    Returns
    -------
    Evaluation
        One row per query, one column per metric.

    Examples
    --------
    >>> import rankwood as rw
    >>> ev = rw.evaluate(["ndcg", "dcg@1"], [0, 1, 1], [0.3, 0.2, 0.9], qid=["a", "a", "b"])
    >>> ev.mean()["dcg@1"]
    0.5
    >>> ev.per_query["ndcg"].round(6).tolist()
    [0.63093, 1.0]
    """
    known = conventions.rules(convention, ties, empty)
    built = {name: conventions.build(m, known) for name, m in _listed(metrics).items()}
    found, beyond = None, getattr(y, "beyond", None)
    if isinstance(y, Qrels):
        _check_alone(qid, group)
        y, scores, groups, found = join_run(y, scores, known["missing"])
    else:
        y, groups = labels_and_groups(y, qid, group)
        scores = checks.vector(scores, "scores", y.size)
    if known["scores"] == "float32":
        scores = scores.astype(np.float32).astype(np.float64)
    parts = {name: part for name, (part, _) in built.items()}
    rule = {name: own for name, (_, own) in built.items()}
    ev = Evaluator(parts, y, groups, known["ties"], rule, n_jobs, found, beyond)(scores)
    if convention is not None:
        ev.conventions["convention"] = convention
    return ev


def named_metrics(metrics: Any) -> dict[str, Any]:
    """Return metrics by the names the caller used."""
    return {name: conventions.build(m, DEFAULTS)[0] for name, m in _listed(metrics).items()}


def _listed(metrics: Any) -> dict[str, Any]:
    listed = (
        [metrics]
        if isinstance(metrics, str) or not isinstance(metrics, Iterable)
        else list(metrics)
    )
    if not listed:
        raise checks.InputError("there is no metric; give at least one, such as 'ndcg@10'.")
    return {str(m): m for m in listed}


def _check_alone(qid: Any, group: Any) -> None:
    if qid is not None or group is not None:
        raise checks.InputError("judgments know their queries: leave out qid and group.")


class Evaluator:
    """Metrics over one set of labelled queries: everything that stays the same between scores.

    Parameters
    ----------
    metrics : dict
        Parts by name.
    y : array of float64
        Labels, in the caller's order.
    groups : Groups
        Rows by query.
    ties : str
        One of TIES.
    empty : value or dict
        One of EMPTY, for all metrics or by name.
    n_jobs : int, optional
        Threads; None means every core.
    found : array of bool, optional
        Whether a document was ranked at all. Others count in what is relevant and nowhere else; but where less is
        better they come last, by label, as nothing may be gained by leaving out a relevant one.
    beyond : Beyond, optional
        Labels of documents that belong to the queries and are not among the scores: none of them was ranked.
    """

    def __init__(
        self,
        metrics: dict[str, Any],
        y: np.ndarray,
        groups: Any,
        ties: str = "worst",
        empty: Any = 0,
        n_jobs: int | None = None,
        found: np.ndarray | None = None,
        beyond: Beyond | None = None,
    ) -> None:
        if beyond is not None:
            found, groups = np.arange(y.size + beyond.y.size) < y.size, beyond.extend(groups)
            y = np.append(y, beyond.y)
        self.metrics = metrics
        self.ties = ties
        self.empty = empty if isinstance(empty, dict) else dict.fromkeys(metrics, empty)
        self.n_jobs = n_jobs
        self._groups = groups
        self._found = found
        self._length = groups.sizes
        if found is not None:
            self._length = np.add.reduceat(found[groups.rows].astype(np.int64), groups.ptr[:-1])
            self._behind = -1.0 - y
        for part in metrics.values():
            check_labels(part, y)
        self._label = y[groups.rows]
        self._table = discounts(int(groups.sizes.max()))

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the value of each metric for each query."""
        groups, label = self._groups, self._label
        if self._found is not None:  # what was not ranked comes last, the most relevant at the end
            ranked = scores if scores.size < label.size else scores[self._found]
            scores = self._behind.copy()
            scores[self._found] = np.unique(ranked, return_inverse=True)[1]
        ranking = Ranking(
            groups.ptr, self._length, np.empty(scores.size, np.int64), np.empty(scores.size)
        )
        whole = ranking._replace(length=groups.sizes)
        raw = [lower(part) for part in self.metrics.values()]
        upward = [getattr(part, "higher_is_better", True) for part in self.metrics.values()]
        out = np.empty((len(raw), groups.ids.size))
        empty = np.empty(out.shape, bool)
        ties, values = TIES.index(self.ties), _tied_values if self.ties == "average" else _values

        def run(first: int, last: int) -> None:
            _rank(groups.rows, label, scores, ties, ranking, first, last)
            for i, part in enumerate(raw):
                lists = ranking if upward[i] else whole
                values(part, lists, label, self._table, out[i], empty[i], first, last)

        # Every metric is a call of its own, and calls take their time: few chunks.
        threads.over(groups.sizes, run, self.n_jobs, chunks=2)
        return self._evaluation(out, empty)

    def _evaluation(self, out: np.ndarray, empty: np.ndarray) -> Evaluation:
        """Return the result, queries without relevant documents being valued by the rules."""
        for i, (name, part) in enumerate(self.metrics.items()):
            if self.empty[name] == "skip":
                out[i, empty[i]] = np.nan
            elif self.empty[name] == 1 and getattr(part, "normalised", False):
                out[i, empty[i]] = 1.0
        said = set(self.empty.values())
        rules = {"ties": self.ties, "empty": said.pop() if len(said) == 1 else self.empty}
        values = dict(zip(self.metrics, out, strict=True))
        definitions = {name: repr(part) for name, part in self.metrics.items()}
        return Evaluation(self._groups.ids, values, rules, definitions)


# Functions count the owners of the arrays they are handed, and threads that count the owners of one array
# wait for each other: what is handed on inside the loops over queries is our own.


@jit
def _rank(rows, label, scores, ties, ranking, first, last):
    """Fill `ranking` with each query's slots and scores by rank; `ties` is a place in TIES."""
    longest = _longest(ranking.ptr, first, last)
    own, slots = np.empty((3, longest)), np.empty(longest, np.int64)
    for q in range(first, last):
        a = ranking.ptr[q]
        n = ranking.ptr[q + 1] - a
        score, key, slot = own[0, :n], own[1, :n], slots[:n]
        for i in range(n):
            score[i] = key[i] = scores[rows[a + i]]
            slot[i] = i
        if n <= SHORT:
            count(score, key, slot)
        else:
            arrange(key, slot)
        if ties == 0 or ties == 2:
            for i in range(n):
                own[2, i] = label[a + i]
            _by_label(own[2], -1.0 if ties == 0 else 1.0, key, slot)
        for i in range(n):
            ranking.key[a + i], ranking.slot[a + i] = key[i], slot[i]


@inner
def _longest(ptr, first, last):
    longest = 0
    for q in range(first, last):
        n = ptr[q + 1] - ptr[q]
        longest = n if n > longest else longest
    return longest


@inner
def _by_label(label, sign, key, slot):
    """Put runs of equal scores in the order of their labels: upwards, or downwards if `sign` is 1."""
    i = 0
    while i < key.size:
        j = i + 1
        while j < key.size and key[j] == key[i]:
            j += 1
        if j - i > 1:
            score = key[i]
            for t in range(i, j):
                key[t] = sign * label[slot[t]]
            resort(key[i:j], slot[i:j])
            for t in range(i, j):
                key[t] = score
        i = j


@jit
def _values(metric, ranking, label, table, out, empty, first, last):
    """Value of a metric for each query, and whether no document is worth anything."""
    longest = _longest(ranking.ptr, first, last)
    rows, slots, discount = np.empty((3, longest)), np.empty(longest, np.int64), table.copy()
    for q in range(first, last):
        ranked, own = _ranked(ranking, q, label, discount, rows, slots)
        worth(metric, ranked.label, discount, own)
        out[q] = value(metric, ranked, own)
        empty[q] = _nothing(own)


@jit
def _tied_values(metric, ranking, label, table, out, empty, first, last):
    """The same, the value being the mean over all orders of documents with equal scores."""
    longest = _longest(ranking.ptr, first, last)
    rows, slots, discount = np.empty((3, longest)), np.empty(longest, np.int64), table.copy()
    for q in range(first, last):
        ranked, own = _ranked(ranking, q, label, discount, rows, slots)
        worth(metric, ranked.label, discount, own)
        out[q] = tied(metric, ranked, own)
        empty[q] = _nothing(own)


@inline
def _ranked(ranking, q, label, table, rows, slots):
    """One query, and room for what its documents are worth, in arrays that no other thread has."""
    a, n, ranked = ranking.ptr[q], ranking.ptr[q + 1] - ranking.ptr[q], ranking.length[q]
    for i in range(n):
        rows[0, i] = label[a + i]
    for i in range(ranked):
        rows[1, i], slots[i] = ranking.key[a + i], ranking.slot[a + i]
    return Query(rows[0, :n], rows[1, :ranked], slots[:ranked], table), rows[2, :n]


@inner
def _nothing(own):
    """Whether no document is worth anything; in most queries one of the first few is."""
    i = 0
    while i < own.size and own[i] <= 0.0:
        i += 1
    return i == own.size
