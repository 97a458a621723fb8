"""What a model of trees offers beside scores: explanations of scores, and files for other programs."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import group_rows
from rankwood.data.tables.frames import dense
from rankwood.estimators.prediction import documents_to_score
from rankwood.fit.result import FitResult
from rankwood.forest import forest_of
from rankwood.forest.convert.from_pairs import pair_trees
from rankwood.forest.explain.explain import ExplainedDocuments, explain_documents, prepared_trees
from rankwood.forest.explain.explanation import Explanation
from rankwood.forest.export.export_report import ExportReport
from rankwood.forest.export.exporting import (
    ExportOptions,
    TrainedForest,
    TrainedPairs,
    export_forest,
    export_pairs,
)
from rankwood.forest.export.row_check import Rows


def explained(result: FitResult, X: Any, qid: Any, group: Any, n_jobs: int | None) -> Explanation:
    """Split the scores of documents by feature; see `Ranker.explain`."""
    model, schema = result.model, result.schema
    if model.needs_groups:
        raise checks.InputError(
            "a model of pairs (bi-...) scores a document by comparing it with others, so its score isn't a sum over "
            "its own features: permutation_importance of rankwood.explanation takes any model."
        )
    matrix, groups = documents_to_score(schema, X, qid, group)
    comments = getattr(X, "comments", None)
    documents = ExplainedDocuments(
        dense(matrix),
        group_rows(matrix.shape[0]) if groups is None else groups,  # all rows are one query
        model.predict(matrix, n_jobs=n_jobs),
        None if comments is None else comments.doc_ids,
    )
    trees = prepared_trees(model, lambda: forest_of(model, schema.names))
    return explain_documents(trees, documents, schema, n_jobs)


def exported(
    result: FitResult,
    predict: Callable[[Any], np.ndarray],
    path: str | Path,
    format: str,
    options: ExportOptions,
) -> ExportReport:
    """Write a model for another program; see `Ranker.export`."""
    model, schema = result.model, result.schema
    if model.needs_groups and format != "json":
        raise checks.InputError(
            f"a model of pairs scores a document by comparing it with the others of its query, which {format} can't "
            "do: export it with format='json', or serve it by predict."
        )
    rows = None if options.check is None else _rows_of(result, options.check)
    if not model.needs_groups:
        forest = forest_of(model, schema.names)
        trained = TrainedForest(forest, schema.categories, rows)
        return export_forest(trained, os.fspath(path), format, options)
    names = tuple(schema.labels())
    scores = None if rows is None else predict(options.check)
    pairs = TrainedPairs(pair_trees(model, schema.n_features), names, rows, scores)
    return export_pairs(pairs, path, options)


def _rows_of(result: FitResult, documents: Any) -> Rows:
    """Return rows to compare, with the features that were trained on; without queries they are one list."""
    X, groups = documents_to_score(result.schema, documents, None, None)
    X = np.asarray(dense(X), np.float64)
    if not len(X):
        raise checks.InputError("check has no rows, expected some.")
    if groups is None:
        return Rows(X, np.array([0, len(X)]), np.arange(len(X)))
    return Rows(X, groups.ptr, groups.rows)
