"""Explain the scores of trees: they are prepared once per model, then scores are split by feature."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from rankwood.data.groups import Groups
from rankwood.data.tables.schema import Schema
from rankwood.forest import Forest
from rankwood.forest.explain.explanation import Explanation
from rankwood.forest.explain.tree_shap import TreeShap, last_split_first


class Explainable(Protocol):
    """A fitted model that can explain its scores."""

    def explain(self, X: Any, qid: Any = None, *, group: Any = None) -> Explanation:
        """Split the scores of documents by feature."""


class ExplainedDocuments(NamedTuple):
    """Documents whose scores are to be explained."""

    #: Features, dense; missing values are NaN, categories their positions.
    X: np.ndarray
    groups: Groups
    #: Their scores by the model's engine.
    scores: np.ndarray
    #: Their ids, if they have any.
    ids: Sequence[str] | None = None


class PreparedTrees(NamedTuple):
    """A model's trees, ready to explain documents, and to add their leaves in float64."""

    shap: TreeShap
    exact: Forest


_PREPARED: WeakKeyDictionary[Any, PreparedTrees] = WeakKeyDictionary()


def explain(ranker: Explainable, X: Any, qid: Any = None, *, group: Any = None) -> Explanation:
    """Split the scores of documents by feature, as exact SHAP values: what `Ranker.explain` does.

    Parameters
    ----------
    ranker : Ranker
        A fitted model of trees on documents.
    X : RankingData, matrix or table
        Documents, as in `predict`.
    qid, group : optional
        Queries, as in `predict`; without them all rows are one query.

    Returns
    -------
    Explanation
        Contributions by document and feature.

    Raises
    ------
    InputError
        If the model is of several stages, of pairs, or a network; or if X can't be scored.

    Examples
    --------
    >>> import rankwood as rw
    >>> from rankwood.explanation import explain
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> explain(ranker, rw.load_demo("test")).values.shape
    (847, 20)
    """
    return ranker.explain(X, qid, group=group)


def prepared_trees(model: Any, forest_of_model: Callable[[], Forest]) -> PreparedTrees:
    """Return what holds for all documents, computed once per model and kept while the model lives."""
    if model not in _PREPARED:
        forest = forest_of_model()
        exact = replace(forest, float32_sum=False) if forest.float32_sum else forest
        explained = last_split_first(forest) if forest.engine == "catboost" else forest
        _PREPARED[model] = PreparedTrees(TreeShap(explained), exact)
    return _PREPARED[model]


def explain_documents(
    trees: PreparedTrees, documents: ExplainedDocuments, schema: Schema, n_jobs: int | None
) -> Explanation:
    """Return the scores of documents, split by feature."""
    scores = trees.exact.predict(documents.X)
    return Explanation(
        values=trees.shap.values(documents.X, n_jobs),
        base=trees.shap.base,
        scores=scores,
        rounding=documents.scores - scores,
        X=np.asarray(documents.X, np.float64),
        feature_names=list(schema.labels()),
        groups=documents.groups,
        documents=documents.ids if documents.ids and any(documents.ids) else None,
        categories=dict(schema.categories),
    )
