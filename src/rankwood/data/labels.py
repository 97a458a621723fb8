"""Labels and groups, from a RankingData or from arrays."""

from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.arguments import resolved_columns
from rankwood.data.groups import Groups, group_rows
from rankwood.data.source import Source
from rankwood.data.tables.frames import column_names, is_frame


def check_queries_once(X: Any, qid: Any, group: Any) -> None:
    """Raise if queries are given beside a `RankingData`, which has its own."""
    if isinstance(X, Source) and not (qid is None and group is None):
        raise checks.InputError("a RankingData knows its queries: omit qid and group.")


def labels_and_groups(y: Any, qid: Any = None, group: Any = None) -> tuple[np.ndarray, Groups]:
    """Return labels and groups of a RankingData, or of labels with query ids or group sizes."""
    if isinstance(y, Source):
        check_queries_once(y, qid, group)
        return y.y, y.groups
    if is_frame(y) and len(column_names(y)) > 1:
        raise checks.InputError(
            "labels are one column, and this is a table of several: give the column, or in evaluate its name, as in "
            "evaluate(metrics, df, 'score', y='label', qid='query')."
        )
    y = checks.labels(y)
    return y, group_rows(y.size, qid, group)


def evaluated_columns(data: Any, y: Any, scores: Any, qid: Any) -> tuple[Any, Any, Any]:
    """Return labels (or data that has them), scores and query ids, with columns of a table in place of their names."""
    if data is None:
        data, y = y, None
    if is_frame(data) and y is not None:
        (y, scores, qid), _ = resolved_columns(data, (y, scores, qid))
        data = y
    elif y is not None:
        raise checks.InputError(
            "y is for the labels of a table: give labels once, as in evaluate(metrics, y, scores, qid=qid)."
        )
    named = next((value for value in (scores, qid) if isinstance(value, str)), None)
    if named is not None:
        what = "y, the column of labels, is missing" if is_frame(data) else "there is no table"
        raise checks.InputError(
            f"{named!r} is the name of a column, and {what}: write evaluate(metrics, df, 'score', y='label', "
            "qid='query')."
        )
    if data is None or scores is None:
        what = "labels" if data is None else "scores"
        raise checks.InputError(
            f"evaluate needs {what}: write evaluate(metrics, y, scores, qid=qid), or name the columns of a table, as "
            "in evaluate(metrics, df, 'score', y='label', qid='query')."
        )
    return data, scores, qid


def beside_labels(y: Any) -> dict[str, Any]:
    """Return what a data set holds beside labels and queries, by name, as whoever computes gradients takes it."""
    return {name: getattr(y, name, None) for name in ("unlisted", "pairs")}
