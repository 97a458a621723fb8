"""Scores of trained trees by the fast forest, where that is faster than the engine; scores are bit-identical."""

import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from rankwood._kernels.compile.jit import has_cached_code
from rankwood._util import checks
from rankwood.data.labels import check_queries_once
from rankwood.data.source import Source
from rankwood.data.stream import StreamedData
from rankwood.engines.base import Model, TextModel
from rankwood.estimators.prediction import PredictionInput, documents_to_score, need_groups
from rankwood.fit.result import FitResult
from rankwood.forest import forest_of
from rankwood.forest.convert.conversion import has_engine_bits
from rankwood.forest.score import score_kernels as kernels
from rankwood.forest.score.fast import FastForest, prepared

# Seconds, roughly: of an engine for a document in a tree, of preparing a byte of a model's text, of compiling.
_ENGINE, _PREPARING, _COMPILING = 1e-7, 5e-8, 3.0
_REALS = (np.float32, np.float64)
#: Fast forests by model, for as long as the model lives; None if a model can't be prepared. They make a call faster and
#: change nothing else: whether a call uses one depends on the model, the number of documents, and whether the kernels
#: are compiled.
_FAST: WeakKeyDictionary[Any, FastForest | None] = WeakKeyDictionary()
_LOCK = threading.Lock()


def scores_of(
    result: FitResult, X: Any, qid: Any, group: Any, n_jobs: int | None = None
) -> np.ndarray:
    """Return the scores of documents by a model of trees, whatever X is: data, a matrix, or files block by block."""
    if isinstance(X, Source) and not result.model.needs_groups:
        return X.built(
            lambda _: _scores_in_memory(result, X, qid, group, n_jobs),
            lambda files: _scores_of_files(result, files, qid, group, n_jobs),
        )
    return _scores_in_memory(result, X, qid, group, n_jobs)


def _scores_in_memory(
    result: FitResult, X: Any, qid: Any, group: Any, n_jobs: int | None
) -> np.ndarray:
    X, groups = documents_to_score(result.schema, X, qid, group, result.settings.kind)
    if X.shape[0] == 0:
        return np.zeros(0)
    if result.model.needs_groups:
        return result.model.predict(X, groups=need_groups(groups, "model"), n_jobs=n_jobs)
    return _scores_of_matrix(result, X, n_jobs)


def _scores_of_files(
    result: FitResult, files: StreamedData, qid: Any, group: Any, n_jobs: int | None
) -> np.ndarray:
    check_queries_once(files, qid, group)
    names = result.schema.names
    files = (files.with_features(names) if names else files).widened(result.schema.n_features)
    return np.concatenate(
        [_scores_in_memory(result, X, None, None, n_jobs) for X in files.blocks()]
    )


def _scores_of_matrix(result: FitResult, X: Any, n_jobs: int | None) -> np.ndarray:
    """Return scores by the engine, or by the fast forest if preparing one pays for this call alone."""
    model = result.model
    fast = None
    if isinstance(model, TextModel) and not sparse.issparse(X):
        pays = X.shape[0] * result.rounds * _ENGINE > _preparing_seconds(model)
        fast = fast_forest(model) if pays else None
    return model.predict(X, n_jobs=n_jobs) if fast is None else fast.scores(X, n_jobs)


def _preparing_seconds(model: TextModel) -> float:
    ready = has_cached_code(kernels.score_by_programs) or has_cached_code(kernels.score_by_levels)
    return len(model.text) * _PREPARING + (0.0 if ready else _COMPILING)


def fast_forest(model: Model) -> FastForest | None:
    """Return the fast forest of a model, prepared once; None if it can't be prepared bit-identically."""
    with _LOCK:
        if model not in _FAST:
            _FAST[model] = _prepared(model)
        return _FAST[model]


def _prepared(model: Any) -> FastForest | None:
    try:
        forest = forest_of(model)
    except checks.InputError:  # linear leaves, zeros as missing values and so on: the engine scores
        return None
    return prepared(forest) if has_engine_bits(model, forest) else None


class Scorer:
    """Score documents fast, bit-identically to `predict`; `Ranker.scorer` makes it.

    It is prepared once, keeps the model that the ranker had then, and may be called by several threads at once. Models
    that can't be prepared, and sparse matrices, are scored by the engine; the scores are the same.

    Parameters
    ----------
    result : FitResult
        The result of a ranker of trees.
    n_jobs : int or None
        Number of threads.

    Attributes
    ----------
    is_fast : bool
        Whether the model could be prepared; otherwise its engine scores.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> score, test = ranker.scorer(), rw.load_demo("test")
    >>> bool((score(test) == ranker.predict(test)).all())
    True
    """

    def __init__(self, result: FitResult, n_jobs: int | None = None) -> None:
        self._result, self._n_jobs = result, n_jobs
        self._fast = fast_forest(result.model)
        # Categories of a table are matched by value, so matrices for such models are looked at.
        self._width = -1 if result.schema.categories else result.schema.n_features
        self.is_fast = self._fast is not None

    def __reduce__(self) -> Any:
        return Scorer, (self._result, self._n_jobs)  # the forest is prepared anew

    def __call__(self, X: Any, *, qid: Any = None, group: Any = None) -> np.ndarray:
        """Return `score(X)`."""
        return self.score(X, qid=qid, group=group)

    def score(self, X: Any, *, qid: Any = None, group: Any = None) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents, as `predict` takes them.
        qid, group : optional
            Query ids or sizes of consecutive queries, as in `predict`; no score depends on them.

        Returns
        -------
        array of float64
            One score per row, bit-identical to `predict`.

        Raises
        ------
        InputError
            If features don't match those of the training data.

        Examples
        --------
        >>> import rankwood as rw
        >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
        >>> ranker.scorer().score(rw.load_demo("test")).shape
        (847,)
        """
        if isinstance(X, Source):
            return X.built(
                lambda _: self._score_in_memory(X, qid, group),
                lambda files: scores_of(self._result, files, qid, group, self._n_jobs),
            )
        return self._score_in_memory(X, qid, group)

    def _score_in_memory(self, X: Any, qid: Any, group: Any) -> np.ndarray:
        documents = self._documents(X, qid, group).X
        if documents.shape[0] == 0:
            return np.zeros(0)
        if self._fast is None or sparse.issparse(documents):
            return self._result.model.predict(documents, n_jobs=self._n_jobs)
        return self._fast.scores(documents, self._n_jobs)

    def _documents(self, X: Any, qid: Any, group: Any) -> PredictionInput:
        """Return documents with the features of the model; a plain matrix, which has them, needs no second look."""
        plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in _REALS
        if plain and qid is None and group is None and X.shape[1] == self._width:
            return PredictionInput(X, None)
        return documents_to_score(self._result.schema, X, qid, group)
