"""Checks of a TwoStage and of its data, before anything is trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, cast

import numpy as np
from sklearn.utils import get_tags

from rankwood._util import checks
from rankwood.data.labels import check_queries_once
from rankwood.data.ranking_data import RankingData
from rankwood.data.source import Source
from rankwood.data.tables.categories import recoded_data
from rankwood.engines import base
from rankwood.estimators.base import RankingEstimator
from rankwood.estimators.prediction import matching_features
from rankwood.estimators.ranker import Ranker
from rankwood.estimators.two_stage.first_stage import check_settings
from rankwood.estimators.two_stage.lists import second_stage_lists
from rankwood.fit.validation import ValidationSets, validation_sets
from rankwood.objectives.document_weights import check_document_weights
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.objectives.units import unit_of


@contextmanager
def naming_stage(stage: str) -> Iterator[None]:
    """Add the stage to errors."""
    try:
        yield
    except checks.InputError as error:
        raise checks.InputError(f"in {stage}, {error}") from None


def check_two_stage(model: Any, train: RankingData, valid: ValidationSets | None) -> None:
    """Raise unless the parameters of a TwoStage make sense, and fit the data."""
    check_settings(model)
    for stage in ("first", "second"):
        _check_kind(getattr(model, stage), stage)
    with naming_stage("first"):
        _check_stage(model.first, train.unlisted is not None, train)
    with naming_stage("second"):
        one = train.select([0])
        _check_pairs(model.second, model.top, train)
        lists = second_stage_lists(model, one, np.zeros(len(one)))
        _check_stage(model.second, model.ideal == "full", lists)
    queries, folds = train.groups.ids.size, model.folds
    if queries < folds:
        raise checks.InputError(
            f"folds must be at most the number of training queries, {queries}, got {folds}."
        )
    sets = [] if valid is None else list(valid.by_name.values())
    if folds > 1 and any(data.groups.ids.size < 2 for data in sets):
        raise checks.InputError(
            "the validation data has a single query, and the model that ranks it must not be stopped by it; "
            "give more queries, or set folds=1."
        )


def tags_of_both(tags: Any, *stages: Any) -> Any:
    """Return the tags of an estimator that accepts what both stages accept; None is a Ranker."""
    for stage in stages:
        if stage is not None:
            accepted = get_tags(stage).input_tags
            tags.input_tags.sparse &= accepted.sparse
            tags.input_tags.allow_nan &= accepted.allow_nan
    return tags


def _check_kind(ranker: Any, stage: str) -> None:
    """Raise unless a stage is None or an estimator."""
    if ranker is None:
        return
    needed = ("fit", "predict", "get_params")
    if isinstance(ranker, type) or not all(hasattr(ranker, name) for name in needed):
        raise checks.InputError(f"{stage} must be a Ranker or a NeuralRanker, got {ranker!r}.")


def _check_stage(ranker: Any, unlisted: bool, data: RankingData) -> None:
    """Raise unless a stage can be trained; estimators of others check themselves."""
    if isinstance(ranker, RankingEstimator):
        ranker._check(unlisted)
        ranker._check_columns(data)
        check_document_weights(to_objective(ranker.objective), data.sample_weight)


def _check_pairs(ranker: Any, top: int, train: RankingData) -> None:
    """Raise if a ranker compares the documents of a list, and no list has two."""
    if not isinstance(ranker, Ranker) or unit_of(to_objective(ranker.objective)) != "pairs":
        return
    base.refuse_categories(train, "models of pairs")
    what = f"objective={ranker.objective!r} compares the documents of a list, and "
    if top < 2:
        raise checks.InputError(f"{what}top={top} leaves one of each: set top to 2 or more.")
    if train.groups.sizes.max() < 2:
        raise checks.InputError(f"{what}no training query has two: there are no pairs.")


def matching_validation(valid: Any, train: RankingData) -> ValidationSets | None:
    """Return validation data with the features of the training data, under the same names."""
    matched = validation_sets(valid, train)
    if matched is None:
        return None
    names = train.feature_names
    sets = {name: with_feature_names(data, names) for name, data in in_memory(matched).items()}
    return ValidationSets({**sets}, matched.joined)


def in_memory(valid: ValidationSets | None) -> dict[str, RankingData]:
    """Return validation sets by name; a TwoStage has none in files, as it trains in memory."""
    return {} if valid is None else cast("dict[str, RankingData]", valid.by_name)


def same_data(model: Any, train: Any, valid: Any) -> tuple[RankingData, ValidationSets | None]:
    """Return training and validation data; raise unless they are what the first stage was trained on."""
    if not isinstance(train, RankingData):
        raise checks.InputError(
            f"fit_second needs a RankingData with the rows that fit was given, got {type(train).__name__}."
        )
    train = with_feature_names(train, model._feature_names())
    valid = matching_validation(valid, train)
    sets = [train] if valid is None else [train, *valid.by_name.values()]
    digests = [data.fingerprint() for data in sets]
    first = getattr(model, "_cross_fit", None)
    if first is None or first.fingerprints != digests:
        raise checks.InputError(
            "fit_second needs the data that fit was given, training and validation, rows in the same order, in "
            "this session: a file doesn't keep the scores of its rows."
        )
    return train, valid


def with_feature_names(data: RankingData, names: list[str] | None) -> RankingData:
    """Return data with the features of these names; if either has no names, columns are matched by position."""
    data = data.with_features(names) if names else data
    if data.feature_names == names:
        return data
    other = copy(data)
    other.feature_names = names
    return other


def prediction_data(model: Any, X: Any, qid: Any, group: Any) -> RankingData:
    """Return a RankingData with the features and categories that were trained on; labels are 0 if there are none.

    Both stages then find the categories that they know, so that unseen values are reported once.
    """
    check_queries_once(X, qid, group)
    names = model._feature_names()
    wanted = getattr(model, "categories_", {})  # older pickles have none
    if isinstance(X, RankingData):
        return recoded_data(with_feature_names(X, names), wanted, "the model")
    if isinstance(X, Source):
        X.matrix()  # a source that isn't in memory says so
    if qid is None and group is None:
        raise checks.InputError(
            "predict needs to know the queries, as lists are cut: give a RankingData, qid= or group=."
        )
    X, qid = matching_features(X, qid, names, wanted)
    data = with_feature_names(RankingData(X, np.zeros(X.shape[0]), qid=qid, group=group), names)
    data.categories = wanted
    return data
