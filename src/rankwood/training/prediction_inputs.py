"""The data arguments of `predict`: documents with the features that a model was trained on."""

from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from rankwood._core import checks
from rankwood.data.arguments import missing_column
from rankwood.data.categories import Categories, recoded_matrix
from rankwood.data.frames import column, column_names, features, is_frame
from rankwood.data.groups import Groups, group_rows
from rankwood.data.labels import check_queries_once
from rankwood.data.ranking_data import RankingData
from rankwood.data.stream.files import is_file_names


class PredictionInput(NamedTuple):
    """Documents to score: a matrix with the features that were trained on, and the queries if they are known."""

    X: Any
    groups: Groups | None


def documents_to_score(estimator: Any, X: Any, qid: Any, group: Any) -> PredictionInput:
    """Return what `predict` was given; raise unless it has the features that the model was trained on."""
    check_is_fitted(estimator, "model_")
    if is_file_names(X):
        raise checks.InputError(
            "predict takes data, not the names of files: give load_letor(file), or stream_files(files) if they don't "
            "fit in memory."
        )
    check_queries_once(X, qid, group)
    groups = X.groups if isinstance(X, RankingData) else None
    categories = getattr(estimator, "categories_", {})  # older pickles have none
    X, qid = matching_features(X, qid, estimator._feature_names(), categories)
    if X.shape[1] != estimator.n_features_in_:
        raise checks.InputError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
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
    if isinstance(X, RankingData):
        data = X.with_features(names) if names else X
        given = data.feature_names
        return recoded_matrix(data.X, given, data.categories, categories, "the model"), None
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
    found = features(X, drop, only, text_columns=categories)
    return recoded_matrix(found.X, found.names, found.categories, categories, "the model"), qid
