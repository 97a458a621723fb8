"""Ranker: the scikit-learn estimator."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwood._util import checks
from rankwood.data.source import Source
from rankwood.data.tables.frames import is_lazy
from rankwood.engines import base
from rankwood.estimators.base import QueryIds, RankingEstimator, Sizes
from rankwood.estimators.fitted import SingleModel
from rankwood.estimators.parameters import (
    check_shared,
    chosen,
    engine_params,
    rounds_of,
    values_before_study,
)
from rankwood.estimators.scoring import scores_of
from rankwood.estimators.warm_start import rounds_so_far
from rankwood.fit.context import FitContext
from rankwood.fit.files.model_file import load_trees, result_of
from rankwood.fit.loop import FitData, fit
from rankwood.fit.observers.recording import check_records
from rankwood.fit.result import FitResult, Settings
from rankwood.fit.spec import FitSpec
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import named_metrics
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of

_ALONE = FitContext()
#: Parameters that may change when a run is resumed.
_FREE = ("n_estimators", "early_stopping_rounds", "n_jobs", "verbose")


class Ranker(SingleModel, RankingEstimator):
    """Learn to rank with boosted trees.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition of parts.
    engine : {"rankwood", "lightgbm", "xgboost", "catboost"} or None
        The program that grows the trees: ``"rankwood"``, our own, trains every objective; ``"lightgbm"`` and
        ``"xgboost"`` all but those of pairs (``"bi-..."``); ``"catboost"`` those that are losses of its own (YetiRank,
        StochasticRank, LambdaMart, QueryRMSE, QuerySoftMax, PairLogit, RMSE). ``"pairtree"`` is another name of
        ``"rankwood"`` for objectives of pairs. None means ``"pairtree"`` for objectives of pairs and ``"lightgbm"`` for
        all others.
    n_estimators : int or None
        Largest number of trees; None means 500 if validation data can stop training, and 100 otherwise.
    learning_rate : float or None
        Weight of each tree; None means 0.05, and 0.01 for objectives of pairs (docs/bivariate.md explains why).
    num_leaves, max_depth, min_child_samples, min_child_weight : int, int, int and float
        scikit-learn's usual names on every engine; docs/engines.md has the table.
    reg_alpha, reg_lambda, subsample, colsample_bytree : float
        The same. If an engine lacks one, its default is ignored and any other value is an error.
    eval_metric : str, part, or list of them
        Metrics on the validation data after each round; the first one decides early stopping.
    early_stopping_rounds : int or None
        Stop if the first metric has not improved for this many rounds, and keep the best round. None, or no
        validation data: train all rounds and keep them.
    shuffle : bool
        Shuffle the documents of each query once before the first round. All scores are tied then, so
        the order of the file would decide the first tree, and files are often sorted by label.
    random_state : int
        Seed of everything random. The same seed gives bit-identical results on any number of threads.
    record : list of str or None
        Curves to record in `record_`: ``"effective_pairs"``, the share of all pairs that the objective uses;
        ``"coherency"``, the share of queries with an incoherent pair, or ``"coherency@5(definition=paper)"`` to state
        cutoff and definition, as in `rankwood.diagnose`; ``"seconds"``.
    warm_start : bool
        Whether another `fit` resumes from the trees that there are: give a larger `n_estimators`. On the same data the
        model is that of one longer run.
    n_jobs : int or None
        Threads; None means every core.
    verbose : bool or None
        Show a progress bar; None means on a terminal.
    **engine_params
        ``monotone={"price": -1}`` and ``interactions=[["price", "stock"]]`` are constraints, see docs/training.md.
        Any other keyword is passed to the engine. LightGBM has ``extra_trees=True`` unless you set it; docs/defaults.md
        explains the defaults.

    Attributes
    ----------
    result_ : FitResult
        The complete result of the last fit, which the other attributes read; docs/after-training.md explains it.
    history_ : dict
        Validation metrics by round, by name; with several sets, the names of all but the first stand before their
        metrics, as in ``"later ndcg@10"``.
    validation_sets_ : list of str
        Names of the validation sets; the first one decides early stopping.
    seconds_ : dict
        Time spent on compiling, gradients, trees and evaluation, on diagnostics if there is a record, and on callbacks
        if there are any.
    record_ : dict
        Recorded curves, one value per round; docs/diagnostics.md explains them.
    best_iteration_ : int
        Number of trees in the model.
    resumed_after_ : int
        Rounds of an earlier run, after which this one resumed: with a checkpoint or `warm_start`; otherwise 0.
    objective_ : part
        The objective as a composition.
    engine_ : str
        The engine that trains, `engine` or its default.
    chosen_ : dict
        Values of parameters that were left open.
    feature_importances_ : array
        Gain of the splits on each feature, as shares of 1.
    n_features_in_, feature_names_in_, categories_
        Number and, if they have any, names of the features; values of categorical features by name.

    Examples
    --------
    >>> import rankwood as rw
    >>> train, valid, test = (rw.load_demo(part) for part in ("train", "valid", "test"))
    >>> ranker = rw.Ranker("lambdarank-ndcg@10", n_jobs=1)
    >>> ranker.fit(train, valid=valid).best_iteration_
    83
    >>> round(rw.evaluate("ndcg@10", test, ranker.predict(test)).mean()["ndcg@10"], 2)
    0.79
    """

    _kind = "Ranker"

    def __init__(
        self,
        objective: Any = "lambdarank-ndcg@10",
        engine: str | None = None,
        *,
        n_estimators: int | None = None,
        learning_rate: float | None = None,
        num_leaves: int = 31,
        max_depth: int = -1,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        eval_metric: Any = "ndcg@10",
        early_stopping_rounds: int | None = 50,
        shuffle: bool = True,
        random_state: int = 0,
        record: str | list[str] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        **engine_params: Any,
    ) -> None:
        self.objective = objective
        self.engine = engine
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.shuffle = shuffle
        self.random_state = random_state
        self.record = record
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.engine_params = engine_params

    @property
    def engine_(self) -> str:
        """The engine that trains: `engine`, or the default of the objective."""
        return (
            base.default_engine(to_objective(self.objective))
            if self.engine is None
            else self.engine
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, those of the engine included, so that `clone` and grid search see them.

        Parameters
        ----------
        deep : bool
            Whether to add the parameters of parameters that are estimators.

        Returns
        -------
        dict
            Values by name.
        """
        return {**super().get_params(deep), **self.engine_params}

    def set_params(self, **params: Any) -> "Ranker":
        """Set parameters.

        Parameters
        ----------
        **params
            Values by name; names that Ranker lacks are passed to the engine.

        Returns
        -------
        Ranker
            The estimator itself.
        """
        names = self._get_param_names()
        named = {name: v for name, v in params.items() if name.partition("__")[0] in names}
        super().set_params(**named)
        others = {name: v for name, v in params.items() if name not in named}
        self.engine_params = {**self.engine_params, **others}
        return self

    def _fit(
        self, train: Source, valid: ValidationSets | None, context: FitContext = _ALONE
    ) -> None:
        """Train a model; set nothing before a round is done."""
        spec = self._spec(valid is not None, train.in_blocks, train.unlisted is not None)
        if context.checkpoint is not None:
            self._check_resumable()
        if self.warm_start and hasattr(self, "result_"):
            if context.checkpoint is not None:
                raise checks.InputError(
                    "checkpoint can't be combined with warm_start on a fitted ranker, whose trees the file doesn't "
                    "know: a checkpoint resumes with more rounds by itself, so omit one of the two."
                )
            earlier = rounds_so_far(self.result_, spec, FitData(train, valid))
            context = replace(context, earlier=earlier)
        context = replace(context, fitted=self._with_result)
        fit(spec, FitData(train, valid), context, load_trees, self._set_result)

    def _spec(self, validated: bool, in_blocks: bool = False, unlisted: bool = False) -> FitSpec:
        """Return what is to be trained; the arguments say what data there is."""
        self._check(unlisted)
        objective = to_objective(self.objective)
        rounds = rounds_of(self, validated)
        values = chosen(self)
        if self.n_estimators is None:
            values["n_estimators"] = rounds
        params = engine_params(self)
        if in_blocks:
            defaults = base.abilities_of(self.engine_).on_streams
            unset = {name: value for name, value in defaults.items() if params.get(name) is None}
            params, values = params | unset, values | unset
        return FitSpec(
            settings=Settings(
                self._kind, self.engine_, objective, self.get_params(deep=False), values
            ),
            start=partial(base.start, self.engine_),
            params=params,
            metrics=named_metrics(self.eval_metric),
            rounds=rounds,
            patience=self.early_stopping_rounds,
            seed=self.random_state,
            shuffle=self.shuffle,
            n_jobs=self.n_jobs,
            record=self.record,
            free=_FREE,
            verbose=self.verbose,
        )

    def _check_resumable(self) -> None:
        """Raise if a run of the engine can't be resumed from a checkpoint."""
        if not base.abilities_of(self.engine_).takes_gradients:
            raise checks.InputError(
                f"engine={self.engine_!r} keeps no checkpoint: its training can't be resumed bit-identically. Omit "
                "checkpoint, or use engine='lightgbm' or 'xgboost'."
            )

    def _check_streamed(self) -> None:
        if not base.abilities_of(self.engine_).streams:
            able = [repr(name) for name, row in base.ENGINES.items() if row.streams]
            raise checks.InputError(
                f"engine={self.engine_!r} needs all features in memory, and a stream has them in files: use "
                f"{' or '.join(able)}, or load the files."
            )
        if unit_of(to_objective(self.objective)) == "pairs":
            raise checks.InputError(
                "objectives of pairs (bi-...) need all features in memory, and a stream has them in files: use an "
                "objective of documents, or load the files."
            )
        self._check(False)

    def _fit_on_cluster(self, placed: Any, context: FitContext) -> None:
        try:
            from rankwood.cluster.fitting import fit_on_cluster
        except ModuleNotFoundError as error:
            raise checks.InputError(
                f"training on a cluster needs the package {error.name}: pip install 'rankwood[dask]'."
            ) from None
        self._check(False)
        if context.checkpoint is not None:
            self._check_resumable()
        if self.record or self.warm_start:
            raise checks.InputError(
                "record and warm_start can't be used on a cluster yet: leave them at their defaults."
            )
        context = replace(context, fitted=self._with_result)
        fit_on_cluster(self._spec, placed, context, self._set_result)

    def _fill(self, content: Any, path: str | Path) -> None:
        result = result_of(content, path, load_trees, self._kind)
        self.set_params(**content["params"])
        if "chosen" not in content:  # of a version with other defaults: a clone trains with those
            before = values_before_study(self.engine_, result.settings.objective)
            open_values = {name: before[name] for name in chosen(self)}
            self.set_params(**open_values)
            params = {**result.settings.params, **open_values}
            result = replace(result, settings=result.settings._replace(params=params))
        self._set_result(result)

    def _own_object(self, name: str) -> Any:
        check_is_fitted(self)
        if not hasattr(type(self.model_), name):
            others = ("booster_", "module_", "model_")
            other = next(
                one for one in others if one == "model_" or hasattr(type(self.model_), one[:-1])
            )
            raise AttributeError(f"{type(self).__name__} has no {name}_: read {other}.")
        return getattr(self.model_, name)

    def _trees(self, what: str) -> FitResult:
        if not hasattr(self.model_, "text"):
            return super()._trees(what)
        return self.result_

    def _check(self, unlisted: bool) -> None:
        check_shared(self)
        objective = to_objective(self.objective)
        base.check(self.engine_, objective, unlisted)
        base.check_params(self.engine_, engine_params(self), objective)
        named_metrics(self.eval_metric)
        check_records(self.record, objective)

    def _check_columns(self, data: Source) -> None:
        base.check_columns(engine_params(self), data)

    def predict(self, X: Any, *, qid: QueryIds = None, group: Sizes = None) -> np.ndarray:
        """Score documents: the higher, the better.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents in any order. Columns of a table are matched by name if the model was trained on names. A Dask
            DataFrame or array is scored lazily, partition by partition.
        qid, group : optional
            Query ids (or the name of a column that has them), or sizes of consecutive queries. Models of pairs
            (objectives ``bi-...``) compare the documents of a query, and need one of them unless `X` is a RankingData.

        Returns
        -------
        array of float64
            One score per row, in the order of the rows.

        Raises
        ------
        InputError
            If features don't match those of the training data, or if the model needs queries and there are none.
        """
        if is_lazy(X):
            from rankwood.cluster.scoring import lazy_scores  # Dask's collections come with Dask

            check_is_fitted(self)
            return lazy_scores(self, self.result_, X, qid)
        check_is_fitted(self)
        return scores_of(self.result_, X, qid, group, self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of the splits on each feature, as shares of 1; zeros if there are no splits."""
        check_is_fitted(self)
        shares = self.result_.importances()
        if shares is None:
            raise AttributeError("the model has no importances of features")
        return shares
