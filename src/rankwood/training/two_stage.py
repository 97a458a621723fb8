"""TwoStage: a ranker that re-ranks the best documents of another, trained as in [bivariate2024]."""

from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.listwise_features import listwise_features, with_score
from rankwood.data.ranking_data import RankingData
from rankwood.data.truncation import merge_scores, top_mask
from rankwood.metrics.evaluate import evaluate, named_metrics
from rankwood.metrics.evaluation import Evaluation
from rankwood.training import model_file, stage_checks
from rankwood.training.cross_fit import cross_fit, score_new
from rankwood.training.inputs import training_data
from rankwood.training.ranker import Ranker


class TwoStage(BaseEstimator):
    """Rank with one model, and rank the best documents of each list again with another.

    The second model must not be trained on lists that are better than those it will see. So the queries of
    the training data are split into folds, and fold i is ranked by a first-stage model that saw the other folds
    only. Validation data is split too: model i is stopped by the other folds, and ranks fold i. New queries
    are split as well, and fold i of them is ranked by model i [bivariate2024].

    Parameters
    ----------
    first, second : Ranker, optional
        Rankers to train; they stay as they are, clones are trained. Default: ``Ranker()``.
    top : int
        How many documents of each list the second stage ranks.
    folds : int
        First-stage models. 1 means a single one, trained on everything: fast, but its lists of the training
        queries are better than those of new ones.
    listwise : bool
        Give the second stage `listwise_features`, made of the cut lists. The score of the first stage is a
        feature in any case.
    ideal : {"full", "list"}
        What the second stage knows of documents below the cut: their labels, so that NDCG in training and
        in early stopping has the ideal of the full list (as LambdaMART* in the paper), or nothing.
    random_state : int
        Seed of the folds; the rankers have seeds of their own.
    verbose : bool or None
        Show a progress bar over the folds; None means on a terminal. The second ranker shows its own.

    Attributes
    ----------
    first_ : list of rankers
        First-stage models by fold.
    second_ : ranker
        The second-stage model.
    folds_ : array
        Fold of each training query, in order of first appearance.
    history_ : dict
        Validation metrics by round: ``"first"``, by fold, and ``"second"``.
    seconds_ : dict
        Time spent on the first stage, on making lists, and on the second stage.
    cross_scores_ : list of arrays
        First-stage scores of the training data and, if given, of the validation data. Not in files.
    n_features_in_, feature_names_in_
        What `predict` expects.
    """

    # scikit-learn's metadata routing hands these on, once it is switched on.
    __metadata_request__fit: ClassVar = {"qid": True, "group": True, "weight": True, "valid": True}
    __metadata_request__predict: ClassVar = {"qid": True, "group": True}
    __metadata_request__score: ClassVar = {"qid": True, "group": True}

    def __init__(
        self,
        first: Any = None,
        second: Any = None,
        *,
        top: int = 20,
        folds: int = 10,
        listwise: bool = True,
        ideal: str = "full",
        random_state: int = 0,
        verbose: bool | None = None,
    ) -> None:
        self.first = first
        self.second = second
        self.top = top
        self.folds = folds
        self.listwise = listwise
        self.ideal = ideal
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        weight: Any = None,
        valid: Any = None,
    ) -> "TwoStage":
        """Train both stages on a RankingData, or on what makes one; `valid` is what both stop by."""
        train = training_data(X, y, qid, group, weight, "fit")
        valid = stage_checks.valid_of(valid, train)
        self._check(train, valid)
        # What is fitted changes only together: an interrupt in the first stage leaves all as it was.
        fitted = self._fit_first(train, valid)
        self._fit_second(train, valid, fitted)
        return self

    def fit_second(self, train: Any, *, valid: Any = None) -> "TwoStage":
        """Train the second stage anew, on the same data and with the first stage there is.

        After ``set_params(second=...)``, or with another `top`, `listwise` or `ideal`: to compare second stages
        without training the first again.
        """
        check_is_fitted(self, "first_")
        if not isinstance(train, RankingData):
            raise checks.InputError(
                f"fit_second needs a RankingData with the rows that fit was given, got {type(train).__name__}."
            )
        train = stage_checks.named(train, list(getattr(self, "feature_names_in_", [])) or None)
        valid = stage_checks.valid_of(valid, train)
        scores = getattr(self, "cross_scores_", [])
        sets = [data for data in (train, valid) if data is not None]
        if getattr(self, "_seen", None) != [stage_checks.fingerprint(data) for data in sets]:
            raise checks.InputError(
                "fit_second needs the data that fit was given, training and validation, rows in the same order, in "
                "this session: a file doesn't keep the scores of its rows."
            )
        self._check(train, valid)
        self._fit_second(train, valid, {"cross_scores_": scores, "seconds_": self.seconds_})
        return self

    def _check(self, train: RankingData, valid: RankingData | None) -> None:
        """Raise unless parameters and data make sense: a second stage that can't train should say so first."""
        checks.at_least(self.top, 1, "top")
        folds = checks.at_least(self.folds, 1, "folds")
        checks.at_least(self.random_state, 0, "random_state")
        checks.one_of(self.listwise, (True, False), "listwise")
        checks.one_of(self.ideal, ("full", "list"), "ideal")
        self._check_stages(train)
        queries = train.groups.ids.size
        if queries < folds:
            raise checks.InputError(
                f"folds must be at most the number of training queries, {queries}, got {folds}."
            )
        if folds > 1 and valid is not None and valid.groups.ids.size < 2:
            raise checks.InputError(
                "the validation data has a single query, and the model that ranks it must not be stopped by it; "
                "give more queries, or set folds=1."
            )

    def _check_stages(self, train: RankingData) -> None:
        """Raise unless both rankers can be trained, on lists such as one that is made here."""
        for stage in ("first", "second"):
            stage_checks.check_kind(getattr(self, stage), stage)
        with stage_checks.said_of("first"):
            stage_checks.check_ranker(self.first, train.beyond is not None)
            stage_checks.check_columns(self.first, train)
        with stage_checks.said_of("second"):
            stage_checks.check_ranker(self.second, self.ideal == "full")
            stage_checks.check_pairs(self.second, self.top, train)
            one = train.select([0])
            stage_checks.check_columns(self.second, self._lists(one, np.zeros(len(one))))

    def _fit_first(self, train: RankingData, valid: RankingData | None) -> dict[str, Any]:
        """Train a model without each fold, and rank the fold with it."""
        start = perf_counter()
        sets = [train] if valid is None else [train, valid]
        first = Ranker() if self.first is None else self.first
        crossed = cross_fit(first, sets, self.folds, self.random_state, self.verbose)
        fitted: dict[str, Any] = {"first_": crossed.rankers, "folds_": crossed.folds[0]}
        fitted |= {"cross_scores_": crossed.scores, "n_features_in_": train.n_features}
        fitted["_seen"] = [stage_checks.fingerprint(data) for data in sets]
        if train.feature_names is not None:
            fitted["feature_names_in_"] = np.array(train.feature_names, dtype=object)
        return {**fitted, "seconds_": {"first": perf_counter() - start}}

    def _fit_second(
        self, train: RankingData, valid: RankingData | None, fitted: dict[str, Any]
    ) -> None:
        """Train the second stage on the cut lists; an interrupted one keeps the trees it has."""
        start = perf_counter()
        scores = fitted["cross_scores_"]
        sets = [d for d in (train, valid) if d is not None]
        lists = [self._lists(d, s) for d, s in zip(sets, scores, strict=True)]
        made = perf_counter()
        second = Ranker() if self.second is None else clone(self.second)
        finished = False
        try:
            second.fit(lists[0], valid=lists[1] if len(lists) > 1 else None)
            finished = True
        finally:
            if finished or hasattr(second, "model_"):
                clock = {"lists": made - start, "second": perf_counter() - made}
                fitted |= {"second_": second, "seconds_": {**fitted["seconds_"], **clock}}
                if "first_" in fitted:
                    self.__dict__.pop("feature_names_in_", None)
                self.__dict__.update(fitted)
            elif not hasattr(self, "second_"):  # fit_second can go on from the first stage
                self.__dict__.update(fitted)

    def _lists(
        self, data: RankingData, scores: np.ndarray, mask: np.ndarray | None = None
    ) -> RankingData:
        """Return the second-stage lists, rows in the caller's order; a mask says which rows are in them."""
        if mask is None:
            mask = top_mask(data, scores, self.top, self.random_state)
        cut = data.cut_to(mask)
        if self.ideal == "list":
            cut.unlisted = None
        return (listwise_features if self.listwise else with_score)(cut, scores[mask])

    def first_scores(self, X: Any, *, qid: Any = None, group: Any = None) -> np.ndarray:
        """Return the first-stage score of each row: fold i of the queries is scored by model i.

        Folds are random and depend on the number of queries, their order and `random_state` only.
        """
        return score_new(self.first_, self._data(X, qid, group), self.random_state)

    def lists(self, X: Any, *, qid: Any = None, group: Any = None) -> RankingData:
        """Return what the second stage is given: the cut lists with their features."""
        data = self._data(X, qid, group)
        return self._lists(data, self.first_scores(data))

    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> np.ndarray:
        """Return one score per row, in the caller's order, that ranks each query.

        The best `top` documents of the first stage have the scores of the second. The others follow in
        first-stage order: the lowest of those scores less 1, 2, ..., one step for each different first-stage score.
        Scores of different queries can't be compared.
        """
        data = self._data(X, qid, group)
        scores = self.first_scores(data)
        mask = top_mask(data, scores, self.top, self.random_state)
        return merge_scores(
            self.second_.predict(self._lists(data, scores, mask)), scores, mask, data.groups
        )

    def evaluate(self, metrics: Any, data: RankingData, **rules: Any) -> Evaluation:
        """Evaluate the ranking of both stages on whole lists, as `rankwood.evaluate` does."""
        return evaluate(metrics, data, self.predict(data), **rules)

    def score(self, X: Any, y: Any = None, *, qid: Any = None, group: Any = None) -> float:
        """Return the mean of the second stage's first `eval_metric`, times -1 if lower is better."""
        data = training_data(X, y, qid, group, None, "score")
        ranker = Ranker() if self.second is None else self.second
        if not hasattr(ranker, "eval_metric"):
            raise checks.InputError(
                f"score takes the metric from second, and this {type(ranker).__name__} has no eval_metric: use "
                "evaluate(metrics, data)."
            )
        first = next(iter(named_metrics(ranker.eval_metric).values()))
        (mean,) = self.evaluate(first, data).mean().values()
        return mean if getattr(first, "higher_is_better", True) else -mean

    def _data(self, X: Any, qid: Any, group: Any) -> RankingData:
        """Return a RankingData with the features trained on; labels that nobody knows are 0."""
        check_is_fitted(self, "second_")
        if not isinstance(X, RankingData):
            if qid is None and group is None:
                raise checks.InputError(
                    "predict needs to know the queries, as lists are cut: give a RankingData, qid= or group=."
                )
            rows = X.num_rows if hasattr(X, "num_rows") else np.shape(X)[0]
            X = RankingData(X, np.zeros(rows), qid=qid, group=group)
        elif qid is not None or group is not None:
            raise checks.InputError("a RankingData knows its queries: leave out qid and group.")
        return stage_checks.named(X, list(getattr(self, "feature_names_in_", [])) or None)

    @property
    def history_(self) -> dict[str, Any]:
        """Validation metrics by round: of each first-stage model, and of the second stage."""
        check_is_fitted(self, "second_")
        second, *first = (getattr(r, "history_", {}) for r in (self.second_, *self.first_))
        return {"first": first, "second": second}

    def save(self, path: str | Path) -> None:
        """Write both stages into one JSON file."""
        check_is_fitted(self, "second_")
        content = {
            "params": {
                **model_file.params_of(self),
                **{
                    name: stage_checks.params_of(getattr(self, name), name)
                    for name in ("first", "second")
                },
            },
            "n_features": self.n_features_in_,
            "feature_names": list(getattr(self, "feature_names_in_", [])) or None,
            "folds": self.folds_.tolist(),
            "seconds": self.seconds_,
            "first": [stage_checks.content_of(r, "first") for r in self.first_],
            "second": stage_checks.content_of(self.second_, "second"),
        }
        model_file.write_content(content, path, "TwoStage")

    @classmethod
    def load(cls, path: str | Path) -> "TwoStage":
        """Read a model that `save` wrote; it predicts the same bits."""
        content = model_file.read_content(path, "TwoStage")
        model = cls()
        with model_file.sound(path):
            params = dict(content["params"])
            for name in ("first", "second"):
                params[name] = None if params[name] is None else Ranker(**params[name])
            model.set_params(**params)
            model.n_features_in_ = int(content["n_features"])
            if content["feature_names"]:
                model.feature_names_in_ = np.array(content["feature_names"], dtype=object)
            model.folds_ = np.array(content["folds"], np.int64)
            model.seconds_ = content["seconds"]
            model.first_ = [stage_checks.loaded(one, path) for one in content["first"]]
            model.second_ = stage_checks.loaded(content["second"], path)
        return model
