"""The documents behind a page: labels, and the scores and ranks that each model gave them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankwood._kernels.numeric.elementary import exp2
from rankwood.data.groups import Groups, group_rows
from rankwood.data.ranking_data import RankingData
from rankwood.data.trec.files import Qrels, Run
from rankwood.metrics.ranked import discounts
from rankwood.report.page.scored import ScoredModel


@dataclass(frozen=True)
class Documents:
    """Labels by row, and scores by model and row; NaN where a model didn't score a document."""

    groups: Groups
    label: np.ndarray
    scores: np.ndarray
    #: Names or comments of the rows; a list or `Comments`.
    names: Any = None
    #: By query, labels of documents that are not here, which ideals count.
    unlisted: Any = None

    @cached_property
    def query(self) -> np.ndarray:
        """The position of each row's query."""
        return self.groups.per_row(np.arange(self.groups.ids.size))

    @cached_property
    def ranks(self) -> np.ndarray:
        """The rank of each row by model, from 1; 0 if a model didn't score the document.

        Documents with equal scores are ranked as the default rule of metrics has it: less relevant ones first.
        """
        ranks = np.zeros(self.scores.shape, np.int64)
        start = np.repeat(self.groups.ptr[:-1], self.groups.sizes)
        for scores, rank in zip(self.scores, ranks, strict=True):
            order = np.lexsort((self.label, -scores, self.query))
            rank[order] = np.arange(order.size) - start + 1
            rank[np.isnan(scores)] = 0
        return ranks

    @cached_property
    def relevant(self) -> np.ndarray:
        """The number of documents of each query with a label above 0."""
        return np.bincount(self.query, self.label > 0, self.groups.ids.size).astype(np.int64)

    def rows(self, q: int) -> np.ndarray:
        """Return the rows of a query."""
        return self.groups.rows[self.groups.ptr[q] : self.groups.ptr[q + 1]]

    def name(self, row: int) -> str:
        """Return the name or the comment of a row, empty if there is none."""
        return "" if self.names is None else str(self.names[row])

    def ndcg_parts(self, k: int) -> np.ndarray:
        """Return by model and row what a document adds to the NDCG@k of its query; the last model is the ideal."""
        gain = exp2(self.label) - 1.0
        ideal_rank, best = self._ideal(k)
        discount = np.append(0.0, discounts(k))  # by rank; 0 for documents without one
        share = np.divide(gain, best[self.query], out=np.zeros_like(gain), where=gain > 0)
        ranks = np.vstack([self.ranks, ideal_rank])
        return share * np.where(ranks <= k, discount[np.minimum(ranks, k)], 0.0)

    def _ideal(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ideal rank of each row, and the ideal DCG@k of each query."""
        label, query = self.label, self.query
        n = label.size
        if self.unlisted is not None:
            sizes = np.diff(self.unlisted.ptr)
            label = np.append(label, self.unlisted.y)
            query = np.append(query, np.repeat(np.arange(sizes.size), sizes))
        order = np.lexsort((-label, query))
        counts = np.bincount(query, minlength=self.groups.ids.size)
        start = np.repeat(np.cumsum(counts) - counts, counts)
        rank = np.empty(label.size, np.int64)
        rank[order] = np.arange(order.size) - start + 1
        within = rank <= k
        gains = (exp2(label[within]) - 1.0) * discounts(k)[rank[within] - 1]
        return rank[:n], np.bincount(query[within], gains, self.groups.ids.size)


def documents_of(models: Sequence[ScoredModel], test: Any) -> Documents | None:
    """Return the documents of the test data; None if there are only evaluations."""
    if isinstance(test, RankingData):
        nothing = np.full(len(test), np.nan)
        scores = [nothing if m.scores is None else m.scores for m in models]
        return Documents(test.groups, test.y, np.array(scores), test.comments, test.unlisted)
    return _judged(models, test) if isinstance(test, Qrels) else None


def _judged(models: Sequence[ScoredModel], qrels: Qrels) -> Documents:
    """Return the documents of judgments and of all runs; documents without a judgment have label 0."""
    queries = set(qrels.qid)
    label = {
        (q, doc): max(float(y), 0.0)
        for q, doc, y in zip(qrels.qid, qrels.doc, qrels.label, strict=True)
    }
    runs = [
        {
            (q, doc): float(s)
            for q, doc, s in zip(m.scores.qid, m.scores.doc, m.scores.score, strict=True)
            if q in queries
        }
        if isinstance(m.scores, Run)
        else {}
        for m in models
    ]
    keys = list(dict.fromkeys([*label, *(key for run in runs for key in run)]))
    scores = np.array([[run.get(key, np.nan) for key in keys] for run in runs])
    groups = group_rows(len(keys), [q for q, _ in keys])
    labels = np.array([label.get(key, 0.0) for key in keys])
    return Documents(groups, labels, scores, [doc for _, doc in keys])
