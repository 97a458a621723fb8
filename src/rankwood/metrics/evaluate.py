"""Values of metrics for each query."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwood._kernels import threads
from rankwood._kernels.compile.jit import callable_kernel
from rankwood._kernels.device import is_device_array, on_host
from rankwood._kernels.numeric.sorting import make_sort_scratch
from rankwood._kernels.parts import check_labels, lower
from rankwood._util import checks
from rankwood.data.labels import evaluated_columns, labels_and_groups
from rankwood.data.ranking_data import RankingData
from rankwood.data.tables.frames import is_lazy
from rankwood.data.trec.files import Qrels
from rankwood.data.trec.judged_run import join_run
from rankwood.data.trec.judgments import groups_by_id, to_judgments
from rankwood.data.unlisted import UnlistedLabels
from rankwood.metrics import conventions
from rankwood.metrics.conventions import CONVENTIONS, DEFAULTS, EMPTY, TIES
from rankwood.metrics.evaluation import Evaluation
from rankwood.metrics.kernels import (
    AsRanked,
    MeanOverTies,
    Measured,
    Queries,
    Ranking,
    RankScratch,
    Values,
    measure_queries,
    rank_queries,
)
from rankwood.metrics.ranked import discounts
from rankwood.metrics.registry import METRICS, metric
from rankwood.metrics.verbs import higher_is_better, is_normalised

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


def evaluate(
    metrics: Any,
    data: Any = None,
    scores: Any = None,
    *,
    y: Any = None,
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
        Names such as ``"ndcg@10"`` or ``"dcg@5(gain='linear')"``, or names of other programs such as ``"P(rel=2)@5"``
        (docs/names.md).
    data : array, RankingData, Qrels, dict, table or iterable
        Labels, a data set that knows labels and queries, a table with them in columns, or judgments: those of
        `load_qrels`, a dictionary ``{query: {document: label}}``, a table or rows with `query_id`, `doc_id` and
        `relevance`, or ranx's `Qrels`.
    scores : array, str, Run, dict, table or iterable
        Scores, in the order of `data`, on the host, on a GPU, or on a cluster of Dask; or the name of their column in
        a table. With judgments, a run: that of `load_run`, or with a `score` in the forms of judgments. Where less is
        better (ARP), judged documents that the run lacks come behind those it has, relevant ones last; other metrics
        don't rank them.
    y : array or str, optional
        Labels, if `data` is a table: the name of a column, or an array.
    qid, group : array or str, optional
        Query id of each row, in any order, or the name of a column of a table; or sizes of consecutive queries; one
        query without both.
    ties : {"worst", "input", "best", "average"}
        Order of documents with equal scores: less relevant first, the caller's order, more relevant
        first, or the mean over all orders. Default "worst", so that a constant score earns nothing.
    empty : {0, 1, "skip"}
        What a query without relevant documents scores in a metric that is at most 1; "skip" leaves it
        out of every mean, with NaN as its value. Default 0.
    convention : {"lightgbm", "xgboost", "catboost", "trec_eval", "ir_measures", "ranx", "ranklib", "sklearn"}, optional
        Definitions, ties and empty rule of that program, as far as not stated otherwise. With "trec_eval" and
        "ir_measures", equal scores go by decreasing document id, where the data have ids.
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
    >>> table = pandas.DataFrame({"label": [1, 0], "score": [2, 1], "query": ["a", "a"]})  # doctest: +SKIP
    >>> rw.evaluate("ndcg@10", table, "score", y="label", qid="query")  # doctest: +SKIP
    Evaluation(ndcg@10=1.00000; 1 query)
    """
    y, scores, qid = evaluated_columns(data, y, scores, qid)
    y, scores, qid, group = _computed(y, scores, qid, group)
    rules = conventions.rules(convention, ties, empty)
    built = {name: conventions.build(m, rules) for name, m in _listed(metrics).items()}
    found, unlisted = None, getattr(y, "unlisted", None)
    y, scores = to_judgments(y, scores)
    if isinstance(y, Qrels):
        _check_alone(qid, group)
        y, scores, groups, found = join_run(y, scores, rules["missing"])
    else:
        data = y
        y, groups = labels_and_groups(on_host(y), on_host(qid), on_host(group))
        if rules["by_id"] and isinstance(data, RankingData):
            groups = groups_by_id(data)
        scores = scores if is_device_array(scores) else checks.vector(scores, "scores", y.size)
    parts = {name: part for name, (part, _) in built.items()}
    rule = {name: own for name, (_, own) in built.items()}
    evaluator: Evaluator
    if is_device_array(scores):
        from rankwood.metrics.cuda import DeviceEvaluator

        _check_precision(scores, rules["scores"], convention)
        evaluator = DeviceEvaluator(parts, y, groups, rules["ties"], rule, unlisted=unlisted)
    else:
        evaluator = Evaluator(
            parts,
            y,
            groups,
            rules["ties"],
            rule,
            n_jobs=n_jobs,
            found=found,
            unlisted=unlisted,
            single=rules["scores"] == "float32",
        )
    ev = evaluator(scores)
    if convention is not None:
        ev.conventions["convention"] = convention
    return ev


def _check_precision(scores: Any, precision: str, convention: str | None) -> None:
    """Raise if a convention rounds scores to float32 and those on a GPU have more digits."""
    if precision == "float32" and "float32" not in str(scores.dtype):
        raise checks.InputError(
            f"convention {convention!r} compares scores in float32: give those on the GPU in float32."
        )


def _computed(*arguments: Any) -> tuple[Any, ...]:
    """Return collections of Dask as arrays, computed together, and other values as they are."""
    if not any(is_lazy(argument) for argument in arguments):
        return arguments
    import dask

    computed = dask.compute(*arguments)
    return tuple(
        np.asarray(new) if is_lazy(old) else old
        for old, new in zip(arguments, computed, strict=True)
    )


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
        raise checks.InputError("judgments know their queries: omit qid and group.")


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
        better they come last, by label, as nothing may be gained by omitting a relevant one.
    unlisted : UnlistedLabels, optional
        Labels of documents that belong to the queries and are not among the scores: none of them was ranked.
    single : bool
        Whether scores are rounded to single precision, as some programs keep them.
    """

    def __init__(
        self,
        metrics: dict[str, Any],
        y: np.ndarray,
        groups: Any,
        ties: str = "worst",
        empty: Any = 0,
        *,
        n_jobs: int | None = None,
        found: np.ndarray | None = None,
        unlisted: UnlistedLabels | None = None,
        single: bool = False,
    ) -> None:
        if unlisted is not None:
            found = np.arange(y.size + unlisted.y.size) < y.size
            groups, y = unlisted.extend(groups), np.append(y, unlisted.y)
        self.metrics = metrics
        self.ties = ties
        self.empty = empty if isinstance(empty, dict) else dict.fromkeys(metrics, empty)
        self.n_jobs = n_jobs
        self._single = single
        self._groups = groups
        self._found = found
        self._length = groups.sizes
        if found is not None:
            self._length = np.add.reduceat(found[groups.rows].astype(np.int64), groups.ptr[:-1])
            self._behind = -1.0 - y
        for metric_ in metrics.values():
            check_labels(metric_, y)
        self._label = y[groups.rows]
        self._discount = discounts(int(groups.sizes.max()))

    def __call__(self, scores: np.ndarray) -> Evaluation:
        """Return the value of each metric for each query."""
        groups, label = self._groups, self._label
        if self._single:
            scores = scores.astype(np.float32).astype(np.float64)
        if self._found is not None:  # what was not ranked comes last, the most relevant at the end
            ranked = scores if scores.size < label.size else scores[self._found]
            scores = self._behind.copy()
            scores[self._found] = np.unique(ranked, return_inverse=True)[1]
        ranking = Ranking(
            groups.ptr, self._length, np.empty(scores.size, np.int64), np.empty(scores.size)
        )
        whole = ranking._replace(length=groups.sizes)
        rule = lower(MeanOverTies() if self.ties == "average" else AsRanked())
        measured = [Measured(lower(part), rule) for part in self.metrics.values()]
        upward = [higher_is_better(part) for part in self.metrics.values()]
        out = np.empty((len(measured), groups.ids.size))
        empty = np.empty(out.shape, bool)
        queries = Queries(groups.rows, label, self._discount)
        ties = TIES.index(self.ties)
        rank, values = callable_kernel(rank_queries), callable_kernel(measure_queries)

        def run(first: int, last: int) -> None:
            longest = int(groups.sizes[first:last].max(initial=0))
            scratch = RankScratch(np.empty(longest), make_sort_scratch(longest))
            rank(queries, scores, ties, ranking, scratch, first, last)
            for i, one in enumerate(measured):
                lists = ranking if upward[i] else whole
                found = Values(out[i], empty[i])
                values(one, queries, lists, scratch.score, found, first, last)

        # Every metric is a call of its own, and calls take their time: few chunks.
        threads.run_ranges(run, groups.sizes, self.n_jobs, chunks=2)
        return self._evaluation(out, empty)

    def _evaluation(self, out: np.ndarray, empty: np.ndarray) -> Evaluation:
        """Return the result, queries without relevant documents being valued by the rules."""
        for i, (name, one) in enumerate(self.metrics.items()):
            if self.empty[name] == "skip":
                out[i, empty[i]] = np.nan
            elif self.empty[name] == 1 and is_normalised(one):
                out[i, empty[i]] = 1.0
        said = set(self.empty.values())
        rules = {"ties": self.ties, "empty": said.pop() if len(said) == 1 else self.empty}
        values = dict(zip(self.metrics, out, strict=True))
        definitions = {name: repr(part) for name, part in self.metrics.items()}
        return Evaluation(self._groups.ids, values, rules, definitions)
