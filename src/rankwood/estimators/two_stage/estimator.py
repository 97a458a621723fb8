"""TwoStage: a ranker that re-ranks the best documents of another, trained as in [bivariate2024]."""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rankwood._util import checks, interrupts
from rankwood.data.ranking_data import RankingData
from rankwood.data.truncation import merge_scores
from rankwood.estimators.base import QueryIds, RankingEstimator, Sizes
from rankwood.estimators.fitted import TrainedFacts, TrainedOn
from rankwood.estimators.ranker import Ranker
from rankwood.estimators.two_stage import checks as stage_checks
from rankwood.estimators.two_stage import files, first_stage
from rankwood.estimators.two_stage.cross_fit import CrossFit, Watched, cross_fit, fit_stage
from rankwood.estimators.two_stage.lists import kept_rows, second_stage_lists
from rankwood.fit.context import FitContext
from rankwood.fit.origin import origin_of
from rankwood.fit.result import DataSize, FitResult, StagesResult
from rankwood.fit.validation import ValidationSets
from rankwood.metrics.evaluate import evaluate
from rankwood.metrics.evaluation import Evaluation

_ALONE = FitContext()


class TwoStage(TrainedOn, RankingEstimator):
    """Rank with one model, and rank the best documents of each list again with another.

    The second stage must train on lists as good as those it will see at prediction time, and a model ranks its own
    training queries too well. So the training queries are split into folds, and fold i is ranked by a first-stage
    model that was trained on the other folds. Validation queries are split too: model i is stopped by the other
    folds, and ranks fold i [bivariate2024].

    Parameters
    ----------
    first, second : Ranker or NeuralRanker, optional
        Rankers to train. They are cloned, and stay as they are. Default: ``Ranker()``.
    top : int
        Number of documents of each list that the second stage ranks.
    folds : int
        Number of first-stage models. 1 means a single one, trained on everything: that is fast, but its lists of
        the training queries are better than those of new queries.
    listwise : bool
        Give the second stage `listwise_features`, computed from the truncated lists. The score of the first stage is
        a feature in any case.
    ideal : {"full", "list"}
        Whether the second stage knows the labels of documents below the cutoff, so that NDCG in training and
        in early stopping has the ideal of the full list (as LambdaMART* in the paper), or of the truncated one.
    serve : {"mean", "fold", "refit"}
        First-stage scores of new queries: the mean of the models of all folds; as in the paper, new queries are split
        into folds as well, and model i ranks fold i of them, so that scores depend on what else is in the batch; or
        the scores of one more model, which is trained on all training queries. With one fold they are the same.
    random_state : int
        Seed of the folds; the rankers have seeds of their own.
    verbose : bool or None
        Show a progress bar over the folds; None means on a terminal. The second ranker shows its own.

    Attributes
    ----------
    first_, second_ : list of rankers, and ranker
        First-stage models by fold, and the second-stage model.
    refit_ : ranker or None
        First-stage model of all training queries, if ``serve="refit"``.
    folds_ : array
        Fold of each training query, in order of first appearance.
    result_ : StagesResult
        The results of all stages and folds, as a tree.
    history_ : dict
        Validation metrics by round: ``"first"``, by fold, and ``"second"``.
    seconds_ : dict
        Time spent on the first stage, on making lists, and on the second stage.
    cross_scores_ : list of arrays
        First-stage scores of the training data and, if given, of the validation data. Files don't keep them.
    n_features_in_, feature_names_in_
        Number and, if they have any, names of the features.

    Examples
    --------
    >>> import rankwood as rw
    >>> train, test = rw.load_demo("train"), rw.load_demo("test")
    >>> ranker = rw.Ranker(n_estimators=5, num_leaves=7, n_jobs=1)
    >>> model = rw.TwoStage(ranker, ranker, top=10, folds=2).fit(train)
    >>> len(model.first_), len(test), len(model.lists(test))  # 40 lists of 10 documents
    (2, 847, 400)
    >>> round(model.score(test), 2)
    0.71
    """

    _kind = "TwoStage"

    def __init__(
        self,
        first: Any = None,
        second: Any = None,
        *,
        top: int = 20,
        folds: int = 10,
        listwise: bool = True,
        ideal: str = "full",
        serve: str = "mean",
        random_state: int = 0,
        verbose: bool | None = None,
    ) -> None:
        self.first = first
        self.second = second
        self.top = top
        self.folds = folds
        self.listwise = listwise
        self.ideal = ideal
        self.serve = serve
        self.random_state = random_state
        self.verbose = verbose

    @interrupts.held()
    def _fit(
        self, train: RankingData, valid: ValidationSets | None, context: FitContext = _ALONE
    ) -> None:
        """Train both stages."""
        sets = stage_checks.matching_validation(valid, train)
        stage_checks.check_two_stage(self, train, sets)
        with files.opened_checkpoint(self, context):
            self._fit_stages(train, sets, context)
            if context.checkpoint is not None:  # the stages have files, and now the whole has one
                self.save(context.checkpoint.path)

    def _fit_stages(
        self, train: RankingData, sets: ValidationSets | None, context: FitContext
    ) -> None:
        watched = Watched(self.verbose, context)
        refit = first_stage.needs_refit(self.serve, self.folds)
        first = cross_fit(
            self._first_ranker(), train, sets, self.folds, self.random_state, watched, refit
        )
        self._fit_second(train, sets, first, context)

    @interrupts.held()
    def fit_second(self, train: RankingData, *, valid: Any = None) -> "TwoStage":
        """Train the second stage again, on the first stage that `fit` trained in this session.

        After ``set_params(second=...)``, or with another `top`, `listwise` or `ideal`, this compares second stages
        without training the first again.

        Parameters
        ----------
        train, valid : RankingData
            The data that `fit` was given, rows in the same order.

        Returns
        -------
        TwoStage
            The estimator itself.
        """
        check_is_fitted(self, "first_")
        train, valid = stage_checks.same_data(self, train, valid)
        stage_checks.check_two_stage(self, train, valid)
        first = self._cross_fit
        if first_stage.needs_refit(self.serve, len(first.rankers)):
            first = first_stage.with_refit(first, self._first_ranker(), train, valid)
        self._fit_second(train, valid, first)
        return self

    def _first_ranker(self) -> Any:
        return Ranker() if self.first is None else self.first

    def _fit_second(
        self,
        train: RankingData,
        valid: ValidationSets | None,
        first: CrossFit,
        context: FitContext = _ALONE,
    ) -> None:
        """Train the second stage on the truncated lists, and set what is fitted."""
        start = perf_counter()
        lists = second_stage_lists(self, train, first.scores[0])
        named = stage_checks.in_memory(valid)
        valid_lists = {
            name: second_stage_lists(self, data, scores)
            for (name, data), scores in zip(named.items(), first.scores[1:], strict=True)
        }
        made = perf_counter()
        second = Ranker() if self.second is None else clone(self.second)
        finished = False
        try:
            fit_stage(second, lists, valid_lists or None, context.stage_of("second"))
            finished = True
        finally:
            trained = finished or hasattr(
                second, "result_"
            )  # an interrupted ranker keeps its trees
            # A failed second stage leaves an earlier model as it was; without one, `fit_second` can try again.
            if trained or not hasattr(self, "second_"):
                size = DataSize(int(train.groups.ids.size), len(train))
                self._trained_on = TrainedFacts(train.schema, size, origin_of("", train))
                self._cross_fit = first
                self.first_ = first.rankers
                self.refit_ = first.refit
                self.folds_ = first.folds[0]
                self.cross_scores_ = first.scores
                self.seconds_ = {"first": first.seconds}
            if trained:
                self.second_ = second
                self.seconds_ |= {"lists": made - start, "second": perf_counter() - made}

    def _check(self, unlisted: bool) -> None:
        raise checks.InputError(
            "a stage can't be a TwoStage itself: give a Ranker or a NeuralRanker."
        )

    def first_scores(self, X: Any, *, qid: QueryIds = None, group: Sizes = None) -> np.ndarray:
        """Score documents by the first stage, as `serve` says.

        Parameters
        ----------
        X, qid, group : RankingData, matrix or table, and arrays
            As in `predict`. The folds of ``serve="fold"`` depend on the number of queries, on their order and on
            `random_state` only.

        Returns
        -------
        array of float64
            One score per row, in the order of the rows.
        """
        return first_stage.serving_scores(self, self._data(X, qid, group))

    def lists(self, X: Any, *, qid: QueryIds = None, group: Sizes = None) -> RankingData:
        """Return the lists that the second stage ranks, truncated and with all features.

        Parameters
        ----------
        X, qid, group : RankingData, matrix or table, and arrays
            As in `predict`.

        Returns
        -------
        RankingData
            The best `top` documents of each query, in the order of the rows.
        """
        data = self._data(X, qid, group)
        return second_stage_lists(self, data, self.first_scores(data))

    def predict(self, X: Any, *, qid: QueryIds = None, group: Sizes = None) -> np.ndarray:
        """Score documents, so that each query is ranked by both stages.

        The best `top` documents of the first stage have the scores of the second. The others follow in the order of
        the first: their scores are the lowest of those scores minus 1, 2, ..., with ties where the first stage has
        ties. Scores of different queries can't be compared.

        Parameters
        ----------
        X : RankingData, matrix or table
            Documents in any order.
        qid, group : optional
            Query ids (or the name of a column that has them), or sizes of consecutive queries; one of them is
            needed unless `X` is a RankingData.

        Returns
        -------
        array of float64
            One score per row, in the order of the rows.
        """
        data = self._data(X, qid, group)
        return self._ranked_again(data, self.first_scores(data))

    def _ranked_again(self, data: RankingData, scores: np.ndarray) -> np.ndarray:
        """Return scores by both stages; `scores` are those of the first."""
        kept = kept_rows(self, data, scores)
        second = self.second_.predict(second_stage_lists(self, data, scores, kept))
        return merge_scores(second, scores, kept, data.groups)

    def evaluate(self, metrics: Any, data: RankingData, **rules: Any) -> Evaluation:
        """Evaluate the ranking by both stages on whole lists.

        Parameters
        ----------
        metrics, data, **rules : str or list of str, RankingData, and keywords
            As in `rankwood.evaluate`; `data` is a RankingData.

        Returns
        -------
        Evaluation
            Metrics by query.
        """
        return evaluate(metrics, data, self.predict(data), **rules)

    def _score_metric(self) -> Any:
        ranker = Ranker() if self.second is None else self.second
        if not hasattr(ranker, "eval_metric"):
            raise checks.InputError(
                f"score takes the metric from second, and this {type(ranker).__name__} has no eval_metric: use "
                "evaluate(metrics, data)."
            )
        return ranker.eval_metric

    def _data(self, X: Any, qid: Any, group: Any) -> RankingData:
        """Return a RankingData with the features that were trained on."""
        check_is_fitted(self)
        return stage_checks.prediction_data(self, X, qid, group)

    @property
    def history_(self) -> dict[str, Any]:
        """Validation metrics by round: of each first-stage model, and of the second stage."""
        check_is_fitted(self)
        second, *first = (getattr(r, "history_", {}) for r in (self.second_, *self.first_))
        return {"first": first, "second": second}

    @property
    def result_(self) -> StagesResult:
        """The results of all models."""
        params = self.get_params(deep=False)
        facts, own = self._facts(), [getattr(ranker, "result_", None) for ranker in self.first_]
        return StagesResult(
            params={n: v for n, v in params.items() if n not in ("first", "second")},
            schema=facts.schema,
            first=own,
            refit=getattr(self.refit_, "result_", None),
            second=getattr(self.second_, "result_", None),
            seconds=self.seconds_,
            data_size=facts.data_size,
            origin=facts.origin,
        )

    def _set_n_jobs(self, n_jobs: int | None) -> None:
        for model in (*self.first_, self.refit_, self.second_):
            if model is not None:
                model.set_params(n_jobs=n_jobs)

    def _facts(self) -> TrainedFacts:
        return self._trained_on

    def _content(self) -> dict[str, Any]:
        return files.stages_content(self)

    def _fill(self, content: Any, path: str | Path) -> None:
        files.fill_stages(self, content, path)

    def _check_streamed(self) -> None:
        raise checks.InputError(
            "TwoStage needs all features in memory, and a stream has them in files: load the files, or train a Ranker."
        )

    def _fit_on_cluster(self, placed: Any, context: FitContext) -> None:
        raise checks.InputError(
            "TwoStage trains on one machine: omit cluster, or use Ranker(engine='xgboost')."
        )

    def _own_object(self, name: str) -> Any:
        raise AttributeError(
            f"TwoStage has several models: read first_[0].{name}_ and second_.{name}_."
        )

    def _trees(self, what: str) -> FitResult:
        if what == "export":
            first = "first_[0]" if self.refit_ is None else "refit_"
            raise checks.InputError(
                f"TwoStage has two stages: export the first by {first}.export(path, format), and rank its best "
                "documents again by a service that calls predict of this model."
            )
        if what == "explanation":
            raise checks.InputError(
                "TwoStage has several models: explain each by itself, model.first_[0].explain(X, qid=...) and "
                "model.second_.explain(model.lists(data))."
            )
        raise checks.InputError(
            f"TwoStage has several models: use first_[0].{what}() and second_.{what}()."
        )

    def __sklearn_tags__(self) -> Any:
        return stage_checks.tags_of_both(super().__sklearn_tags__(), self.first, self.second)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "second_")
