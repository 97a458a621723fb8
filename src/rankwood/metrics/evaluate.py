"""Metrics by name, and their values for each query."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rankwood import _check, _run, spec
from rankwood._jit import inner, jit, lower
from rankwood.data.lists import grouped
from rankwood.metrics.dcg import DCG, GAINS, NDCG
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.plan import plan
from rankwood.metrics.query import Query, arrange
from rankwood.metrics.verbs import columns, value


def ndcg(k: int | None = None, gain: str = "exp") -> NDCG:
    """Normalised discounted cumulative gain of the first k [jarvelin2002]."""
    return NDCG(k, GAINS[_check.one_of(gain, GAINS, "gain")])


def dcg(k: int | None = None, gain: str = "exp") -> DCG:
    """Discounted cumulative gain of the first k [jarvelin2002]."""
    return DCG(k, GAINS[_check.one_of(gain, GAINS, "gain")])


METRICS: dict[str, Callable[..., Any]] = {"ndcg": ndcg, "dcg": dcg}
TIES = ("worst", "input", "best", "average")
EMPTY = (0, 1, "skip")
#: What a program does where programs differ; what the caller states wins.
CONVENTIONS: dict[str, dict[str, Any]] = {
    "lightgbm": {"gain": "exp", "ties": "input", "empty": 1},
    "sklearn": {"gain": "linear", "ties": "average", "empty": 0},
}


def metric(name: Any, **params: Any) -> Any:
    """Return the metric of this name: ``"ndcg@10"``, ``"dcg(gain='linear')"``, or a part."""
    return spec.build(name, METRICS, "metric", params)


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
    y : array or RankingData
        Labels, or a data set that knows labels and queries.
    scores : array
        Scores, in the order of `y`.
    qid, group : array, optional
        Query id of each row, in any order, or sizes of consecutive queries; one query without both.
    ties : {"worst", "input", "best", "average"}
        Order of documents with equal scores: less relevant first, the caller's order, more relevant
        first, or the mean over all orders. Default "worst", so that a constant score earns nothing.
    empty : {0, 1, "skip"}
        What a query without relevant documents scores in a metric that is at most 1; "skip" leaves it
        out of every mean, with NaN as its value. Default 0.
    convention : {"lightgbm", "sklearn"}, optional
        Gain, ties and empty rule of that program, as far as not stated otherwise.
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
    rules: dict[str, Any] = {"ties": "worst", "empty": 0}
    if convention is not None:
        rules.update(CONVENTIONS[_check.one_of(convention, CONVENTIONS, "convention")])
    rules["ties"] = rules["ties"] if ties is None else _check.one_of(ties, TIES, "ties")
    rules["empty"] = rules["empty"] if empty is None else _check.one_of(empty, EMPTY, "empty")
    parts = named_metrics(metrics, rules)
    y, groups = grouped(y, qid, group)
    scores = _check.vector(scores, "scores", y.size)
    evaluator = Evaluator(parts, y, groups, rules["ties"], rules["empty"], n_jobs)
    return evaluator(scores)


def named_metrics(metrics: Any, defaults: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return metrics by the names the caller used."""
    listed = (
        [metrics]
        if isinstance(metrics, str) or not isinstance(metrics, Iterable)
        else list(metrics)
    )
    if not listed:
        raise _check.InputError("there is no metric; give at least one, such as 'ndcg@10'.")
    parts = {str(m): spec.build(m, METRICS, "metric", {}, defaults) for m in listed}
    for name, part in parts.items():
        if getattr(type(part), "Raw", None) not in value.table:
            raise _check.InputError(f"{name} is no metric; known are {', '.join(METRICS)}.")
    return parts


class Evaluator:
    """Metrics over one set of labelled queries: everything that stays the same between scores."""

    def __init__(
        self,
        metrics: dict[str, Any],
        y: np.ndarray,
        groups: Any,
        ties: str = "worst",
        empty: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.metrics = metrics
        self.ties = ties
        self.empty = empty
        self.n_jobs = n_jobs
        self._groups = groups
        self._plans = {
            name: plan(m, y, groups.ptr, groups.rows, n_jobs=n_jobs) for name, m in metrics.items()
        }
        self._label = y[groups.rows]
        # Some label is above 0; reduceat needs no sizes of 0, and there are none.
        self._relevant = np.maximum.reduceat(self._label, groups.ptr[:-1]) > 0

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the value of each metric for each query."""
        groups, ties = self._groups, TIES.index(self.ties)
        slot, key = np.empty(scores.size, np.int64), np.empty(scores.size)

        def rank(first: int, last: int) -> None:
            _rank(groups.ptr, groups.rows, self._label, scores, ties, slot, key, first, last)

        _run.over(groups.sizes, rank, self.n_jobs)
        table = {name: self._values(name, slot, key) for name in self.metrics}
        return Evaluation(groups.ids, table, {"ties": self.ties, "empty": self.empty})

    def _values(self, name: str, slot: np.ndarray, key: np.ndarray) -> np.ndarray:
        part, plan_ = self.metrics[name], self._plans[name]
        raw, out = lower(part), np.empty(self._groups.ids.size)
        average = self.ties == "average"
        _run.over(
            self._groups.sizes,
            lambda a, b: _values(raw, plan_, slot, key, average, out, a, b),
            self.n_jobs,
        )
        if self.empty == "skip":
            out[~self._relevant] = np.nan
        elif getattr(part, "normalised", False):
            out[~self._relevant] = self.empty
        return out


@jit
def _rank(ptr, rows, label, scores, ties, slot, key, first, last):
    """Fill `slot` and `key` with each query's slots and scores by rank; `ties` is a place in TIES."""
    for q in range(first, last):
        a, b = ptr[q], ptr[q + 1]
        for i in range(a, b):
            slot[i] = i - a
            key[i] = scores[rows[i]]
        arrange(key[a:b], slot[a:b])
        if ties == 0 or ties == 2:
            sign = -1.0 if ties == 0 else 1.0
            i = a
            while i < b:  # runs of equal scores go by label; arrange sorts downwards
                j = i + 1
                while j < b and key[j] == key[i]:
                    j += 1
                if j - i > 1:
                    score = key[i]
                    for t in range(i, j):
                        key[t] = sign * label[a + slot[t]]
                    arrange(key[i:j], slot[i:j])
                    for t in range(i, j):
                        key[t] = score
                i = j


@jit
def _values(metric, plan, slot, key, average, out, first, last):
    """Value of a metric for each query, documents being in rank order."""
    for q in range(first, last):
        a, b = plan.ptr[q], plan.ptr[q + 1]
        worth = plan.worth[a:b]
        if average:
            worth = _tied_mean(worth, slot[a:b], key[a:b])
        ranked = Query(plan.label[a:b], key[a:b], slot[a:b], plan.table)
        out[q] = value(metric, b - a, columns(metric, ranked, worth))


@inner
def _tied_mean(worth, slot, key):
    """What a document is worth on average over all orders of those with its score.

    The mean of a metric over the orders of tied documents is the metric of their mean worth, as long
    as it is a sum of worth times discount.
    """
    mean = np.empty(worth.size)
    i = 0
    while i < worth.size:
        j, total = i, 0.0
        while j < worth.size and key[j] == key[i]:
            total += worth[slot[j]]
            j += 1
        for t in range(i, j):
            mean[slot[t]] = total / (j - i)
        i = j
    return mean
