"""A fitted estimator as the package `export` takes it: its forest or its trees on pairs, and rows to compare."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.frames import dense
from rankwood.export.checking import Rows
from rankwood.export.exporting import (
    ExportOptions,
    TrainedForest,
    TrainedPairs,
    check_request,
    export_forest,
    export_pairs,
)
from rankwood.export.report import ExportReport
from rankwood.training.prediction_inputs import documents_to_score


def trained_export(
    estimator: Any, path: str | Path, format: str, options: ExportOptions
) -> ExportReport:
    """Write a fitted estimator for another program; see `Ranker.export`."""
    check_is_fitted(estimator)
    check_request(path, format, options)
    _check_kind(estimator, format, os.fspath(path))
    rows = None if options.check is None else _rows_of(estimator, options.check)
    if estimator.model_.needs_groups:
        width = estimator.n_features_in_
        names = tuple(estimator._feature_names() or (f"f{i}" for i in range(width)))
        scores = None if rows is None else estimator.predict(options.check)
        return export_pairs(TrainedPairs(estimator.model_, names, rows, scores), path, options)
    categories = getattr(estimator, "categories_", {})
    return export_forest(TrainedForest(estimator.forest(), categories, rows), path, format, options)


def _check_kind(estimator: Any, format: str, path: str) -> None:
    """Raise unless a target can hold a model of this kind."""
    if hasattr(estimator, "second_"):
        first = "refit_" if getattr(estimator, "refit_", None) is not None else "first_[0]"
        raise checks.InputError(
            f"TwoStage has two stages: export the first by {first}.export({path!r}, {format!r}), and rank its best "
            "documents again by a service that calls predict of this model."
        )
    if not hasattr(estimator.model_, "text"):
        raise checks.InputError(
            f"{type(estimator).__name__} is a network, and export writes trees: give module_ to torch.onnx.export, or "
            "serve it by predict."
        )
    if estimator.model_.needs_groups and format != "json":
        raise checks.InputError(
            f"a model of pairs scores a document by comparing it with the others of its query, which {format} can't "
            "do: export it with format='json', or serve it by predict."
        )


def _rows_of(estimator: Any, given: Any) -> Rows:
    """Return rows to compare, with the features that were trained on; without queries they are one list."""
    X, groups = documents_to_score(estimator, given, None, None)
    X = np.asarray(dense(X), np.float64)
    if not len(X):
        raise checks.InputError("check has no rows, expected some.")
    if groups is None:
        return Rows(X, np.array([0, len(X)]), np.arange(len(X)))
    return Rows(X, groups.ptr, groups.rows)
