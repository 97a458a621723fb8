"""Estimators for scikit-learn's own checks, which know no queries: all rows are one query."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import rankwood as rw


class _OneQuery:
    """Adds the query that scikit-learn's checks omit; a RankingData has its own."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight, **_queries(X))

    def predict(self, X):
        return super().predict(X, **_queries(X))

    def score(self, X, y=None):
        return super().score(X, y, **_queries(X))


class OneQueryRanker(_OneQuery, rw.Ranker):
    """A Ranker of one query."""


class OneQueryNetwork(BaseEstimator):
    """A NeuralRanker of one query; its parameter `transform` would make scikit-learn take it for a transformer."""

    def __init__(self, architecture="dnn"):
        self.architecture = architecture

    def fit(self, X, y=None, sample_weight=None):
        sizes = (
            {"size": 4, "layers": 1, "heads": 1}
            if self.architecture == "setrank"
            else {"hidden": (4,)}
        )
        ranker = rw.NeuralRanker(self.architecture, epochs=1, n_jobs=1, verbose=False, **sizes)
        self.ranker_ = ranker.fit(X, y, sample_weight=sample_weight, **_queries(X))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(ranker, name):
                setattr(self, name, getattr(ranker, name))
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.ranker_.predict(X, **_queries(X))

    def score(self, X, y=None):
        return self.ranker_.score(X, y, **_queries(X))

    def __sklearn_tags__(self):
        return rw.NeuralRanker(self.architecture).__sklearn_tags__()


class OneQueryTwoStage(_OneQuery, rw.TwoStage):
    """A TwoStage of one query."""


def _queries(X):
    """Return the argument for one query of all rows."""
    if isinstance(X, rw.RankingData):
        return {}
    rows = X.shape[0] if hasattr(X, "shape") and X.shape else len(np.asarray(X))
    return {"qid": np.zeros(rows, np.int64)} if rows else {"group": []}
