"""The stages of TwoStage: what must be right with them before anything is trained, their data, and their files."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _parameters, base
from rankwood.engines.pair_lists import columns_of
from rankwood.metrics.evaluate import named_metrics
from rankwood.objectives.bi import Bivariate
from rankwood.objectives.families.registry import objective as to_objective
from rankwood.training import model_file
from rankwood.training.inputs import validation_data
from rankwood.training.monitoring import named_records, records_of
from rankwood.training.parameters import check_shared, engine_params
from rankwood.training.ranker import Ranker

_LOOKED_AT = 64  # rows whose features are part of a fingerprint


@contextmanager
def said_of(stage: str) -> Iterator[None]:
    """Say in errors which stage they are about."""
    try:
        yield
    except checks.InputError as error:
        raise checks.InputError(f"in {stage}, {error}") from None


def check_kind(ranker: Any, stage: str) -> None:
    """Raise unless a stage has what is asked of one."""
    if ranker is None:
        return
    if isinstance(ranker, type) or not all(
        hasattr(ranker, a) for a in ("fit", "predict", "get_params")
    ):
        raise checks.InputError(f"{stage} must be a Ranker, got {ranker!r}.")


def check_ranker(ranker: Any, beyond: bool) -> None:
    """Raise unless a ranker can be trained, on lists with documents beyond them if there are."""
    if not isinstance(ranker, Ranker):
        return
    check_shared(ranker)
    objective = to_objective(ranker.objective)
    base.check(ranker.engine, objective, beyond)
    base.check_params(ranker.engine, engine_params(ranker), objective)
    named_metrics(ranker.eval_metric)
    known = records_of(objective)
    for name in named_records(ranker.record):
        if name not in known:
            raise checks.InputError(
                f"record: this objective has no {name!r}, only {', '.join(map(repr, known))}."
            )


def check_columns(ranker: Any, data: RankingData) -> None:
    """Raise unless data has the features that a ranker's parameters name."""
    if not isinstance(ranker, Ranker):
        return
    params, names = engine_params(ranker), data.feature_names
    if params.get("differences") is not None:
        columns_of(params["differences"], names, data.n_features)
    _parameters.categorical(params.get("categorical_feature"), data)


def check_pairs(ranker: Any, top: int, train: RankingData) -> None:
    """Raise if a ranker compares documents, and no list has two."""
    if not isinstance(ranker, Ranker) or not isinstance(to_objective(ranker.objective), Bivariate):
        return
    what = f"objective={ranker.objective!r} compares the documents of a list, and "
    if top < 2:
        raise checks.InputError(f"{what}top={top} leaves one of each: set top to 2 or more.")
    if train.groups.sizes.max() < 2:
        raise checks.InputError(f"{what}no training query has two: there are no pairs.")


def valid_of(valid: Any, train: RankingData) -> RankingData | None:
    """Return validation data with the features of the training data, under the same names."""
    return None if valid is None else named(validation_data(valid, train), train.feature_names)


def named(data: RankingData, names: list[str] | None) -> RankingData:
    """Return the features of these names; where one side has none, columns go by their places."""
    data = data.with_features(names) if names else data
    if data.feature_names == names:
        return data
    other = copy(data)
    other.feature_names = names
    return other


def fingerprint(data: RankingData) -> str:
    """Return a digest of the labels, the queries and the features of some rows, to know data by."""
    some = np.unique(np.linspace(0, len(data) - 1, _LOOKED_AT).astype(np.int64))
    X = data.X[some].toarray() if sparse.issparse(data.X) else np.asarray(data.X[some])
    found = hashlib.blake2b(digest_size=16)
    for array in (data.y, data.groups.ptr, data.groups.rows, X):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def content_of(ranker: Any, stage: str) -> dict[str, Any]:
    """Return a fitted stage as an object for JSON."""
    _check_file(ranker, stage)
    return model_file.content_of(ranker)


def params_of(ranker: Any, stage: str) -> dict[str, Any] | None:
    """Return the parameters of a stage as an object for JSON."""
    if ranker is None:
        return None
    _check_file(ranker, stage)
    return model_file.params_of(ranker)


def _check_file(ranker: Any, stage: str) -> None:
    if not isinstance(ranker, Ranker):
        raise checks.InputError(
            f"a file can hold stages that are Rankers, and {stage} is a {type(ranker).__name__}: keep it in a way "
            "of its own."
        )


def loaded(content: dict[str, Any], path: str | Path) -> Ranker:
    """Return the ranker of an object that `content_of` made."""
    ranker = Ranker()
    model_file.fill(ranker, content, path)
    return ranker
