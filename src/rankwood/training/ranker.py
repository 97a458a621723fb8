"""Ranker: the scikit-learn estimator."""

from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.labels import check_queries_once
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.streamed_data import StreamedData
from rankwood.engines import base
from rankwood.engines.sharing import Share, noise_of
from rankwood.metrics.evaluate import named_metrics
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer
from rankwood.training import model_file
from rankwood.training.context import FitContext
from rankwood.training.estimator import QueryIds, RankingEstimator, Sizes
from rankwood.training.monitoring import named_records, records_of
from rankwood.training.parameters import check_shared, engine_params
from rankwood.training.prediction_inputs import documents_to_score, need_groups
from rankwood.training.scoring import predicted
from rankwood.training.streaming import scores_of_stream
from rankwood.training.tree_fitting import fit_trees

_ALONE = FitContext()


class Ranker(RankingEstimator):
    """Learn to rank with boosted trees.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition of parts.
    engine : {"lightgbm", "xgboost", "catboost", "pairtree"}
        The program that grows the trees: ``"lightgbm"`` trains every objective; ``"xgboost"`` all but those of pairs
        (``"bi-..."``); ``"catboost"`` those that are losses of its own (YetiRank, StochasticRank, LambdaMart,
        QueryRMSE, QuerySoftMax, PairLogit); ``"pairtree"`` those of pairs.
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
        Seed of everything random. The same seed gives the same bits on any number of threads.
    record : list of str or None
        Curves to record in `record_`: ``"effective_pairs"``, the share of all pairs that the objective uses;
        ``"coherency"``, the share of queries with an incoherent pair, or ``"coherency@5"`` to state the cutoff;
        ``"seconds"``.
    warm_start : bool
        Whether another `fit` goes on from the trees that there are: give a larger `n_estimators`. On the same data the
        model is that of one longer run.
    n_jobs : int or None
        Threads; None means every core.
    verbose : bool or None
        Show a progress bar; None means on a terminal.
    **engine_params
        ``monotone={"price": -1}`` and ``interactions=[["price", "stock"]]`` are constraints, see docs/training.md.
        Any other keyword is passed to the engine. LightGBM has ``extra_trees=True`` unless you set it, except for
        objectives of pairs; docs/defaults.md explains the defaults.

    Attributes
    ----------
    history_ : dict
        Validation metrics by round, by name; with several sets, those of others than the first have the name of the
        set before, as in ``"later ndcg@10"``.
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
        Rounds of an earlier run, after which this one went on: with a checkpoint or `warm_start`; otherwise 0.
    objective_ : part
        The objective as a composition.
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
    _files: ClassVar = model_file

    def __init__(
        self,
        objective: Any = "lambdarank-ndcg@10",
        engine: str = "lightgbm",
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
        known = self._get_param_names()
        own = {name: v for name, v in params.items() if name.partition("__")[0] in known}
        super().set_params(**own)
        others = {name: v for name, v in params.items() if name not in own}
        self.engine_params = {**self.engine_params, **others}
        return self

    def _fit(self, train: RankingData, valid: Any, context: FitContext = _ALONE) -> None:
        """Train a model; set nothing before a round is done."""
        fit_trees(self, train, valid, context)

    def _check(self, unlisted: bool) -> None:
        check_shared(self)
        objective = to_objective(self.objective)
        base.check(self.engine, objective, unlisted)
        base.check_params(self.engine, engine_params(self), objective)
        named_metrics(self.eval_metric)
        known = records_of(objective)
        for name in named_records(self.record):
            if name not in known:
                raise checks.InputError(
                    f"record: this objective has no {name!r}, only {', '.join(map(repr, known))}."
                )

    def _check_columns(self, data: RankingData) -> None:
        base.check_columns(engine_params(self), data)

    def _groups(self, train: RankingData, share: Share | None = None) -> Groups:
        """Return the queries, with documents in the order in which ties are ranked."""
        if not self.shuffle:
            return train.groups
        return train.groups.shuffled(self.random_state, noise_of(share, self.random_state))

    def _computer(
        self, objective: Any, train: RankingData, groups: Groups, share: Share | None = None
    ) -> GradientComputer:
        """Return what computes the gradients."""
        return GradientComputer(
            objective,
            train.y,
            groups,
            train.weight,
            real=np.float32,
            n_jobs=self.n_jobs,
            seed=self.random_state,
            unlisted=train.unlisted,
            sample_weight=train.sample_weight,
            numbers=None if share is None else share.queries,
        )

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
        if isinstance(X, StreamedData):
            check_queries_once(X, qid, group)
            return scores_of_stream(self, X)
        if hasattr(X, "__dask_graph__"):
            check_is_fitted(self, "model_")
            return import_module("rankwood.distributed.scoring").predict(self, X, qid)
        X, groups = documents_to_score(self, X, qid, group)
        if X.shape[0] == 0:
            return np.zeros(0)
        if not self.model_.needs_groups:
            return predicted(self, X)
        return self.model_.predict(X, groups=need_groups(groups, "model"), n_jobs=self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of the splits on each feature, as shares of 1; zeros if there are no splits."""
        check_is_fitted(self, "model_")
        gains = self.model_.importances()
        return gains / (gains.sum() or 1.0)

    def _score_metric(self) -> Any:
        return self.eval_metric
