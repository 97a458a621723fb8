"""Explain the scores of a ranker: prepare its trees once, then split scores by feature."""

from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rankwood._core import checks
from rankwood.data.frames import dense
from rankwood.data.groups import group_rows
from rankwood.data.ranking_data import RankingData
from rankwood.explanation.record import Explanation
from rankwood.explanation.symmetric import last_split_first
from rankwood.explanation.tree_shap import TreeShap
from rankwood.forest import Forest
from rankwood.training.prediction_inputs import documents_to_score
from rankwood.training.summary import feature_labels


class _Prepared(NamedTuple):
    """A model's trees, ready to explain documents, and to add their leaves in float64."""

    shap: TreeShap
    exact: Forest


_PREPARED: WeakKeyDictionary[Any, _Prepared] = WeakKeyDictionary()


def explain(ranker: Any, X: Any, qid: Any = None, *, group: Any = None) -> Explanation:
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
    _check_kind(ranker)
    matrix, groups = documents_to_score(ranker, X, qid, group)
    if groups is None:  # all rows are one query
        groups = group_rows(matrix.shape[0])
    prepared = _prepare(ranker)
    values = dense(matrix)
    scores = prepared.exact.predict(values)
    comments = X.comments if isinstance(X, RankingData) else None
    documents = None if comments is None else comments.doc_ids
    names = feature_labels(ranker, ranker.n_features_in_)
    return Explanation(
        values=prepared.shap.values(values, ranker.n_jobs),
        base=prepared.shap.base,
        scores=scores,
        rounding=ranker.model_.predict(matrix, n_jobs=ranker.n_jobs) - scores,
        X=np.asarray(values, np.float64),
        feature_names=names,
        groups=groups,
        documents=documents if documents and any(documents) else None,
        categories=dict(getattr(ranker, "categories_", {})),
    )


def _check_kind(ranker: Any) -> None:
    """Raise, with what works instead, if a model isn't one of trees on documents."""
    if hasattr(ranker, "second_"):
        raise checks.InputError(
            "TwoStage has several models: explain each by itself, model.first_[0].explain(X, qid=...) and "
            "model.second_.explain(model.lists(data))."
        )
    if getattr(ranker, "engine", None) == "neural":
        raise checks.InputError(
            "a network has no trees to take contributions from: permutation_importance and partial_dependence of "
            "rankwood.explanation take any model."
        )
    if getattr(getattr(ranker, "model_", None), "needs_groups", False):
        raise checks.InputError(
            "a model of pairs (bi-...) scores a document by comparing it with others, so its score is no sum over its "
            "own features: permutation_importance of rankwood.explanation takes any model."
        )


def _prepare(ranker: Any) -> _Prepared:
    """Return what holds for all documents, made once for each model."""
    model = ranker.model_
    if model not in _PREPARED:
        forest = ranker.forest()
        exact = replace(forest, float32_sum=False) if forest.float32_sum else forest
        explained = last_split_first(forest) if forest.engine == "catboost" else forest
        _PREPARED[model] = _Prepared(TreeShap(explained), exact)
    return _PREPARED[model]
