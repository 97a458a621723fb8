"""The data arguments of `predict`: documents with the features that a model was trained on."""

from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.data.arguments import missing_column
from rankwood.data.groups import Groups, group_rows
from rankwood.data.labels import check_queries_once
from rankwood.data.source import Source
from rankwood.data.stream.files import is_file_names
from rankwood.data.tables.categories import Categories, recoded_matrix
from rankwood.data.tables.frames import column, column_names, features, is_frame
from rankwood.data.tables.schema import Schema


class PredictionInput(NamedTuple):
    """Documents to score: a matrix with the features that were trained on, and the queries if they are known."""

    X: Any
    groups: Groups | None


def documents_to_score(
    schema: Schema, X: Any, qid: Any, group: Any, who: str = "Ranker"
) -> PredictionInput:
    """Return what `predict` was given; raise unless it has the features that the model was trained on."""
    if is_file_names(X):
        raise checks.InputError(
            "predict takes data, not the names of files: give load_letor(file), or stream_files(files) if they don't "
            "fit in memory."
        )
    check_queries_once(X, qid, group)
    groups = X.groups if isinstance(X, Source) else None
    X, qid = matching_features(X, qid, schema.names, schema.categories)
    if X.shape[1] != schema.n_features:
        raise checks.InputError(
            f"X has {X.shape[1]} features, but {who} is expecting {schema.n_features} "
            "features as input, as it was trained on; for a LETOR file give load_letor(..., n_features=...)."
        )
    if groups is None and X.shape[0] and not (qid is None and group is None):
        groups = group_rows(X.shape[0], qid, group)
    return PredictionInput(X, groups)


def need_groups(groups: Groups | None, what: str) -> Groups:
    """Return the queries; raise if there are none, and `what` compares the documents of a query."""
    if groups is None:
        raise checks.InputError(
            f"this {what} scores a document by comparing it with the others of its query: give predict a "
            "RankingData, qid= or group=."
        )
    return groups


def matching_features(
    X: Any, qid: Any, names: list[str] | None, categories: Categories
) -> tuple[Any, Any]:
    """Return a matrix with the features that were trained on, and the query ids.

    Features are matched by name if both the model and `X` have names, and categories by value. `qid` may be the name
    of a column of a table.
    """
    if isinstance(X, Source):
        data = X.with_features(names) if names else X
        matrix, columns = data.matrix(), data.feature_names
        return recoded_matrix(matrix, columns, data.categories, categories, "the model"), None
    drop: tuple[str, ...] = ()
    if isinstance(qid, str):
        if not is_frame(X):
            raise checks.InputError(f"qid can name a column only if X is a table, got {qid!r}.")
        drop, qid = (qid,), column(X, qid)
    only = None
    if names and is_frame(X):
        missing = [name for name in names if name not in column_names(X)]
        if missing:
            raise missing_column(missing[0], column_names(X))
        only = names
    table = features(X, drop, only, text_columns=categories)
    return recoded_matrix(table.X, table.names, table.categories, categories, "the model"), qid
