"""Query ids among the features of a table, which a model would memorise: found and warned about."""

import re
from typing import Any

import numpy as np

from rankwood._util.warning import warn
from rankwood.data.groups import Groups
from rankwood.data.tables.frames import dense

#: Names of columns that have query ids: letters only, in lower case.
_NAMES = frozenset(
    [
        "qid",
        "queryid",
        "query",
        "queryno",
        "querynumber",
        "group",
        "groupid",
        "topic",
        "topicid",
        "searchid",
        "srchid",
        "sessionid",
        "impressionid",
        "requestid",
    ]
)
_FEWEST = 10  # queries from which on different whole numbers can't be a coincidence
_SAMPLE = 50  # queries that show at once that most columns aren't constant in queries


def warn_about_query_columns(X: Any, names: list[str], groups: Groups) -> None:
    """Warn about features that look like query ids: by their names, or as whole numbers that identify queries."""
    for name in query_columns(X, names, groups):
        reason = (
            "All documents are one query now"
            if groups.ids.size == 1
            else "It has one value in each query, and the model can learn it by heart"
        )
        warn(
            f"is the feature {name!r} the query column? {reason}: give qid={name!r}, which takes it out of the "
            "features, or omit it from X."
        )


def query_columns(X: Any, names: list[str], groups: Groups) -> list[str]:
    """Return the names of features that look like query ids."""
    suspects = []
    for at in _candidates(X, names, groups):
        column = dense(X[:, [at]])[:, 0]
        value = column[groups.rows[groups.ptr[:-1]]]
        if groups.ids.size > 1 and not (column == groups.per_row(value)).all():
            continue
        if is_query_name(names[at]) or _tells_apart(value, groups):
            suspects.append(names[at])
    return suspects


def is_query_name(name: str) -> bool:
    """Return whether a column of this name has query ids, as a rule."""
    return re.sub(r"[^a-z]", "", name.lower()) in _NAMES


def _tells_apart(value: np.ndarray, groups: Groups) -> bool:
    """Whether each query has its own whole number, and not by chance."""
    return bool(
        value.size >= _FEWEST
        and groups.sizes.max() > 1
        and (value == np.floor(value)).all()
        and np.unique(value).size == value.size
    )


def _candidates(X: Any, names: list[str], groups: Groups) -> list[int]:
    """Return columns that are constant in the first queries of two documents or more, or that have a query's name."""
    some = np.flatnonzero(groups.sizes > 1)[:_SAMPLE]
    first, second = groups.rows[groups.ptr[some]], groups.rows[groups.ptr[some] + 1]
    constant = (dense(X[first]) == dense(X[second])).all(axis=0)
    if groups.ids.size == 1:
        constant[:] = False
    return [at for at, name in enumerate(names) if constant[at] or is_query_name(name)]
