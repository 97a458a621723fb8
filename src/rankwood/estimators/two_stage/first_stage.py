"""The first stage of a TwoStage on new queries, which none of its models was trained on."""

from time import perf_counter
from typing import Any, Protocol

import numpy as np

from rankwood._util import checks
from rankwood.data.ranking_data import RankingData
from rankwood.estimators.two_stage.cross_fit import (
    CrossFit,
    Stream,
    Trainable,
    cross_fit_folds,
    fit_whole,
    score_queries,
)
from rankwood.fit.context import FitContext
from rankwood.fit.validation import ValidationSets

SERVE = ("mean", "fold", "refit")
#: What models did before there was a choice; files of that time don't name it.
FORMER = "fold"


class StageSettings(Protocol):
    """The parameters of a TwoStage, but for its stages."""

    top: int
    folds: int
    listwise: bool
    ideal: str
    serve: str
    random_state: int


class FirstStage(StageSettings, Protocol):
    """A fitted TwoStage, as far as its first stage goes."""

    first_: list[Any]
    refit_: Any


def check_settings(model: StageSettings) -> None:
    """Raise unless the parameters of a TwoStage, but for its stages, can be used."""
    checks.at_least(model.top, 1, "top")
    checks.at_least(model.folds, 1, "folds")
    checks.at_least(model.random_state, 0, "random_state")
    checks.one_of(model.listwise, (True, False), "listwise")
    checks.one_of(model.ideal, ("full", "list"), "ideal")
    checks.one_of(model.serve, SERVE, "serve")


def serving_scores(model: FirstStage, data: RankingData) -> np.ndarray:
    """Score new queries by the first stage of a fitted TwoStage, as its `serve` says."""
    serve = checks.one_of(model.serve, SERVE, "serve")
    if len(model.first_) == 1:  # a single model was trained on everything
        return _all_queries(model.first_[0], data)
    if serve == "fold":
        return _fold_scores(model.first_, data, model.random_state)
    if serve == "mean":
        total = np.zeros(len(data))
        for ranker in model.first_:
            total += _all_queries(ranker, data)
        return total / len(model.first_)
    if model.refit_ is None:
        raise checks.InputError(
            "serve='refit' needs a first-stage model of all training queries, which this TwoStage was trained "
            "without: call fit again with serve='refit', or set_params(serve='mean')."
        )
    return _all_queries(model.refit_, data)


def needs_refit(serve: str, folds: int) -> bool:
    """Return whether new queries need a model beside those of the folds."""
    return serve == "refit" and folds > 1


def with_refit(
    first: CrossFit, ranker: Trainable, train: RankingData, valid: ValidationSets | None
) -> CrossFit:
    """Return a cross-fit with a model of all training queries; it is trained if there is none yet."""
    if first.refit is not None:
        return first
    start = perf_counter()
    whole = fit_whole(ranker, train, valid, FitContext())
    return first._replace(refit=whole, seconds=first.seconds + perf_counter() - start)


def _fold_scores(rankers: list[Any], data: RankingData, seed: int) -> np.ndarray:
    """Score queries that are split into folds too: model i scores fold i."""
    fold = cross_fit_folds(data, len(rankers), seed, Stream.UNSEEN)
    scores = np.empty(len(data))
    for i, ranker in enumerate(rankers):
        score_queries(ranker, data, fold == i, scores)
    return scores


def _all_queries(ranker: Trainable, data: RankingData) -> np.ndarray:
    """Return the scores of all queries by one model."""
    return checks.vector(ranker.predict(data), "first-stage scores", len(data))
