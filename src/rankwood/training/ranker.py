"""Ranker: the scikit-learn estimator."""

from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood._core.progress import bar
from rankwood.data.frames import column, column_names, is_frame, matrix
from rankwood.data.groups import group_rows
from rankwood.data.ranking_data import RankingData, lacking, training_data, validation_data
from rankwood.engines import base
from rankwood.metrics.evaluate import evaluate, named_metrics
from rankwood.objectives.bivariate import computer_for
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.gradients import GradientComputer
from rankwood.training import model_file
from rankwood.training.monitoring import Recorder, Watch
from rankwood.training.parameters import check_shared, engine_params


class Ranker(BaseEstimator):
    """Learn to rank with boosted trees.

    Parameters
    ----------
    objective : str or part
        A name such as ``"lambdarank-ndcg@10"`` or a composition of parts.
    engine : str
        What grows the trees: ``"lightgbm"`` trains every objective; ``"xgboost"`` all but those on pairs
        (``"bi-..."``); ``"catboost"`` those that are losses of its own (YetiRank, StochasticRank, LambdaMart,
        QueryRMSE, QuerySoftMax, PairLogit); ``"pairtree"`` those on pairs.
    n_estimators : int
        Number of trees, at most.
    learning_rate : float or None
        Weight of each tree; None means 0.1, and 0.01 for objectives on pairs (docs/bivariate.md says why).
    num_leaves, max_depth, min_child_samples, min_child_weight, reg_alpha, reg_lambda, subsample, colsample_bytree
        Scikit-learn's usual names on every engine; one that an engine lacks is ignored at its default, and
        any other value is an error. docs/engines.md has the table.
    eval_metric : str, part, or list of them
        Metrics on the validation data after each round; the first decides when to stop.
    early_stopping_rounds : int or None
        Stop when the first metric has not improved for so many rounds, and keep the best round.
        None trains all rounds and keeps them. Needs validation data; without, all rounds are kept.
    shuffle : bool
        Shuffle the documents of each query once before the first round. All scores are equal then, so
        the order of the file would decide the first tree, and files are often sorted by label.
    random_state : int
        Seed of everything random. The same seed gives the same bits on any number of threads.
    record : list of str or None
        What to record of each round in `record_`: ``"effective_pairs"``, the share of all pairs that the
        objective uses; ``"coherency"``, the share of queries with an incoherent pair; ``"seconds"``.
    n_jobs : int or None
        Threads; None means every core.
    verbose : bool or None
        Show a progress bar; None means on a terminal.
    **engine_params
        Any other keyword goes to the engine as it is.

    Attributes
    ----------
    history_ : dict
        Validation metrics by round.
    seconds_ : dict
        Time spent on gradients, trees and evaluation, and on diagnostics if there is a record.
    record_ : dict
        Curves of what was recorded, one value per round; docs/diagnostics.md explains them.
    best_iteration_ : int
        Number of trees in the model.
    objective_ : part
        The objective as a composition.
    feature_importances_ : array
        What splits on each feature gained, as shares of 1.
    n_features_in_, feature_names_in_
        What `predict` expects.
    """

    # scikit-learn's metadata routing hands these on, once it is switched on.
    __metadata_request__fit: ClassVar = {"qid": True, "group": True, "weight": True, "valid": True}
    __metadata_request__predict: ClassVar = {"qid": True, "group": True}
    __metadata_request__score: ClassVar = {"qid": True, "group": True}

    def __init__(
        self,
        objective: Any = "lambdarank-ndcg@10",
        engine: str = "lightgbm",
        *,
        n_estimators: int = 100,
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
        record: Any = None,
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
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.engine_params = engine_params

    # Keywords for the engine are parameters like any other, so that clone and grid search see them.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, those of the engine included."""
        return {**super().get_params(deep), **self.engine_params}

    def set_params(self, **params: Any) -> "Ranker":
        """Set parameters; names that Ranker doesn't have go to the engine."""
        known = [name.partition("__")[0] for name in self._get_param_names()]
        own = {k: v for k, v in params.items() if k.partition("__")[0] in known}
        super().set_params(**own)
        self.engine_params = {
            **self.engine_params,
            **{k: v for k, v in params.items() if k not in own},
        }
        return self

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        weight: Any = None,
        valid: Any = None,
    ) -> "Ranker":
        """Train on a RankingData, or on features and labels with query ids (or group sizes).

        Parameters
        ----------
        X, y, qid, group, weight
            A RankingData alone, or what makes one.
        valid : RankingData or (X, y, qid), optional
            Data to evaluate after each round and to stop by.
        """
        train = training_data(X, y, qid, group, weight, "fit")
        valid = None if valid is None else validation_data(valid, train)
        rounds = check_shared(self)
        objective = to_objective(self.objective)
        base.check(self.engine, objective, train.beyond is not None)
        groups = train.groups.shuffled(self.random_state) if self.shuffle else train.groups
        jobs, seed = self.n_jobs, self.random_state
        drive = computer_for(objective)(
            objective, train.y, groups, train.weight, np.float32, jobs, seed, train.beyond
        )
        recorder = Recorder(self.record, drive, train.y, groups)
        watch = Watch(self.eval_metric, self.early_stopping_rounds, valid, jobs)
        task = base.Task(train, groups, valid, objective, rounds, bool(recorder.curves))
        engine = base.start(self.engine, engine_params(self), task)
        if valid is not None and watch.patience is not None and not engine.keeps_rounds:
            raise checks.InputError(
                "later rounds of this kind of boosting change earlier trees, so the best round can't be "
                "kept; set early_stopping_rounds=None."
            )
        # What is fitted changes only together, and only once there is a model.
        fitted = {"objective_": objective, "n_features_in_": train.n_features}
        if train.feature_names is not None:
            fitted["feature_names_in_"] = np.array(train.feature_names, dtype=object)
        self._train(engine, drive, watch, recorder, rounds, fitted)
        return self

    def _train(
        self,
        engine: base.Engine,
        drive: GradientComputer,
        watch: Watch,
        recorder: Recorder,
        rounds: int,
        fitted: dict[str, Any],
    ) -> None:
        """Run the rounds. An interrupted run keeps the trees it has before it lets the interrupt go on."""
        clock = {"gradients": 0.0, "trees": 0.0, "evaluation": 0.0}
        if recorder.curves:
            clock["diagnostics"] = 0.0
        spent = {"gradients": 0.0, "diagnostics": 0.0}
        done = 0

        def gradients(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            start = perf_counter()
            grad, hess = drive(scores, done)
            if engine.takes_gradients:
                spent["gradients"] = perf_counter() - start
            recorder.look(scores, grad, done)
            spent["diagnostics"] = perf_counter() - start - spent["gradients"]
            return grad, hess

        try:
            with bar(rounds, "Training", self.verbose) as step:
                for _ in range(rounds):
                    start = perf_counter()
                    more = engine.update(gradients)
                    grown = perf_counter()
                    spent["trees"] = grown - start - spent["gradients"] - spent["diagnostics"]
                    done += 1
                    stop = watch.look(engine, done)
                    spent["evaluation"] = perf_counter() - grown
                    recorder.spend(spent)
                    for name in clock:
                        clock[name] += spent[name]
                    step(watch.note)
                    if stop or not more:
                        break
        finally:
            if done:
                best = watch.best or done
                fitted |= {"model_": engine.model(best), "best_iteration_": best}
                record = recorder.up_to(done)
                fitted |= {"history_": watch.history, "seconds_": clock, "record_": record}
                self.__dict__.pop("feature_names_in_", None)
                self.__dict__.update(fitted)

    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> np.ndarray:
        """Return one score per row of a matrix or a RankingData, in the caller's order.

        Models of pairs (objectives `bi-...`) compare the documents of a query: with a matrix they need `qid`, which
        may be the name of a column of a table, or `group`.
        """
        check_is_fitted(self, "model_")
        groups = X.groups if isinstance(X, RankingData) else None
        if groups is not None and not (qid is None and group is None):
            raise checks.InputError("a RankingData knows its queries: leave out qid and group.")
        X, qid = self._features(X, qid)
        if X.shape[1] != self.n_features_in_:
            raise checks.InputError(
                f"X has {X.shape[1]} features, but the model was trained on {self.n_features_in_}; "
                "for a LETOR file give load_letor(..., n_features=...)."
            )
        if X.shape[0] == 0:
            return np.zeros(0)
        if not getattr(self.model_, "needs_lists", False):
            return self.model_.predict(X, self.n_jobs)
        if groups is None and qid is None and group is None:
            raise checks.InputError(
                "this model scores a document by comparing it with the others of its query: give predict a "
                "RankingData, qid= or group=."
            )
        groups = groups or group_rows(X.shape[0], qid, group)
        return self.model_.predict(X, groups=groups, n_jobs=self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """What splits on each feature gained, as shares of 1; zeros if nothing was split."""
        check_is_fitted(self, "model_")
        gained = self.model_.importances()
        return gained / (gained.sum() or 1.0)

    def _features(self, X: Any, qid: Any) -> tuple[Any, Any]:
        """Return a matrix and query ids; of a table or a data set with names, the features trained on, by name."""
        names = list(getattr(self, "feature_names_in_", []))
        if isinstance(X, RankingData):
            return (X.with_features(names) if names else X).X, None
        drop: tuple[str, ...] = ()
        if isinstance(qid, str):
            if not is_frame(X):
                raise checks.InputError(f"qid can name a column only if X is a table, got {qid!r}.")
            drop, qid = (qid,), column(X, qid)
        if names and is_frame(X):
            missing = [n for n in names if n not in column_names(X)]
            if missing:
                raise lacking(missing[0], column_names(X))
            return matrix(X, only=names)[0], qid
        return matrix(X, drop)[0], qid

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: None = None,
    ) -> float:
        """Return the mean of the first `eval_metric`, times -1 if lower is better.

        `sample_weight` is there because scikit-learn's Pipeline asks for it; every query counts the same.
        """
        if sample_weight is not None:
            raise checks.InputError("score counts every query the same: leave out sample_weight.")
        data = training_data(X, y, qid, group, None, "score")
        first = next(iter(named_metrics(self.eval_metric).values()))
        (mean,) = evaluate(first, data, self.predict(data), n_jobs=self.n_jobs).mean().values()
        # scikit-learn looks for the highest score.
        return mean if getattr(first, "higher_is_better", True) else -mean

    def save(self, path: str | Path) -> None:
        """Write the model as JSON: a header, and the engine's own text."""
        check_is_fitted(self, "model_")
        model_file.write(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Ranker":
        """Read a model that `save` wrote; it predicts the same bits."""
        ranker = cls()
        model_file.read(ranker, path)
        return ranker
