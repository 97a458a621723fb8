"""Scores of trained trees by the fast forest, where that is faster than the engine; the bits are the same."""

import threading
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from rankwood._core import checks
from rankwood._core.compile import has_cached_code
from rankwood.data.frames import dense
from rankwood.forest import forest_of, kernels
from rankwood.forest.conversion import has_engine_bits
from rankwood.forest.early_exit import ExitingForest, early_exit
from rankwood.forest.fast import FastForest, prepared
from rankwood.training.prediction_inputs import PredictionInput, documents_to_score

# Seconds, roughly: of an engine for a document in a tree, of preparing a byte of a model's text, of compiling.
_ENGINE, _PREPARING, _COMPILING = 1e-7, 5e-8, 3.0
_REALS = (np.float32, np.float64)


class _Kept:
    """What is known of a model: seconds that its engine has spent, and the forest once it has paid to prepare one."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.tried = False
        self.forest: Any = None
        self.fast: FastForest | None = None

    def prepare(self, model: Any) -> None:
        """Prepare a model, if that is possible."""
        self.tried = True
        try:
            forest = forest_of(model)
        except (
            checks.InputError
        ):  # linear leaves, zeros as missing values and so on: the engine scores
            return
        if has_engine_bits(model, forest):
            self.forest, self.fast = forest, prepared(forest)


#: By model, for as long as the model lives. Copies and pickles of a ranker know nothing of it.
_KEPT: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
_LOCK = threading.Lock()


def predicted(ranker: Any, X: Any) -> np.ndarray:
    """Return the scores of a ranker's trees: by its engine, until preparing a fast forest pays."""
    fast = None if sparse.issparse(X) else _fast_if_it_pays(ranker, X.shape[0])
    if fast is None:
        return ranker.model_.predict(X, n_jobs=ranker.n_jobs)
    return fast.scores(X, ranker.n_jobs)


def engine_only(model: Any) -> None:
    """Let the engine itself score from now on: its object is in the user's hands, who may change it."""
    with _LOCK:
        _KEPT[model] = kept = _Kept()
        kept.tried = True


def _fast_if_it_pays(ranker: Any, documents: int) -> FastForest | None:
    """Return the fast forest of a ranker's model; None if there is none, or not yet."""
    model = ranker.model_
    with _LOCK:
        kept = _KEPT.setdefault(model, _Kept())
        if not kept.tried:
            kept.spent += documents * ranker.best_iteration_ * _ENGINE
            if kept.spent > _preparing_seconds(model):
                kept.prepare(model)
        return kept.fast


def _preparing_seconds(model: Any) -> float:
    ready = has_cached_code(kernels.score_by_programs) or has_cached_code(kernels.score_by_levels)
    return len(model.text) * _PREPARING + (0.0 if ready else _COMPILING)


def _prepared_now(model: Any) -> _Kept:
    """Return what is prepared of a model, now if it was not before."""
    with _LOCK:
        kept = _KEPT.setdefault(model, _Kept())
        if not kept.tried:
            kept.prepare(model)
        return kept


class Scorer:
    """Score documents fast, with the same bits as `predict`; `Ranker.scorer` makes it.

    It is prepared once, keeps the model that the ranker had then, and may be called by several threads at once. Models
    that can't be prepared, and sparse matrices, are scored by the engine; the scores are the same.

    Parameters
    ----------
    ranker : Ranker
        A fitted ranker of trees.
    stop : int or EarlyExit, optional
        When documents leave early; see `Ranker.scorer`.

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

    def __init__(self, ranker: Any, stop: Any = None) -> None:
        self._ranker = copy(ranker)  # a later fit of the ranker leaves the scorer as it is
        self._kept = _prepared_now(ranker.model_)
        # Categories of a table are matched by value, so matrices for such models are looked at.
        self._width = -1 if getattr(ranker, "categories_", {}) else ranker.n_features_in_
        self.is_fast = self._kept.fast is not None
        exit_rule = early_exit(stop)
        self._exiting: ExitingForest | None = None
        if exit_rule is not None and self._kept.fast is not None:
            self._exiting = ExitingForest(self._kept.forest, self._kept.fast, exit_rule)

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
            Query ids or sizes of consecutive queries, for early exit; without them all rows are one query.

        Returns
        -------
        array of float64
            One score per row, with the bits of `predict`. With early exit, the scores of dropped documents are below
            all others of their query and mean nothing else.

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
        given = self._documents(X, qid, group)
        if given.X.shape[0] == 0:
            return np.zeros(0)
        if self._exiting is not None:
            return self._with_exit(self._exiting, given)
        if self._kept.fast is None or sparse.issparse(given.X):
            return self._ranker.model_.predict(given.X, n_jobs=self._ranker.n_jobs)
        return self._kept.fast.scores(given.X, self._ranker.n_jobs)

    def _documents(self, X: Any, qid: Any, group: Any) -> PredictionInput:
        """Return documents with the features of the model; a plain matrix, which has them, needs no second look."""
        plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in _REALS
        if plain and qid is None and group is None and X.shape[1] == self._width:
            return PredictionInput(X, None)
        return documents_to_score(self._ranker, X, qid, group)

    def _with_exit(self, exiting: ExitingForest, given: PredictionInput) -> np.ndarray:
        """Return scores with early exit, query by query."""
        X = dense(given.X)
        if given.groups is None:
            return exiting.scores(X, np.array([0, X.shape[0]]))
        rows, sizes = given.groups.rows, given.groups.sizes
        out = np.empty(X.shape[0])
        out[rows] = exiting.scores(X[rows], np.concatenate([[0], np.cumsum(sizes)]))
        return out
