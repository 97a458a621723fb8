"""Checked arguments of `RankingData`."""

from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.data.comments import Comments
from rankwood.data.groups import Groups
from rankwood.data.tables.frames import column, is_frame
from rankwood.data.tables.schema import renamed_since


def resolved_columns(X: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return arguments with columns of X in place of their names, and these names."""
    named = tuple(name for name in values if isinstance(name, str))
    if named and not is_frame(X):
        raise checks.InputError(
            f"y, qid and sample_weight can name columns only if X is a table, got {named[0]!r}."
        )
    return tuple(column(X, a) if isinstance(a, str) else a for a in values), named


def query_weights(weight: Any, n_queries: int) -> np.ndarray | None:
    """Return positive weights, one per query."""
    if weight is None:
        return None
    a = checks.vector(weight, "weight")
    if a.size != n_queries:
        raise checks.InputError(
            f"weight has {a.size} values, but there are {n_queries} queries: give one per query, "
            "in order of first appearance."
        )
    if a.min() <= 0:
        raise checks.InputError(
            f"weight must be positive, got {a.min():g} at query {int(a.argmin())}."
        )
    return a


class Weights(NamedTuple):
    """Weights of queries; and weights of rows, if rows of a query have different ones."""

    queries: np.ndarray | None
    rows: np.ndarray | None


def checked_weights(weight: Any, sample_weight: Any, groups: Groups) -> Weights:
    """Return the weights of queries and of rows; a weight that all rows of a query share belongs to the query."""
    queries = query_weights(weight, groups.ids.size)
    if sample_weight is None:
        return Weights(queries, None)
    rows = checks.vector(sample_weight, "sample_weight", groups.rows.size)
    if rows.min() <= 0:
        at = int(rows.argmin())
        raise checks.InputError(
            f"sample_weight must be above zero, got {rows[at]:g} at row {at}: omit documents that don't count."
        )
    first = rows[groups.rows[groups.ptr[:-1]]]
    if (groups.per_row(first) != rows).any():
        return Weights(queries, rows)
    return Weights(combined_weights(queries, first, np.arange(first.size)), None)


def combined_weights(
    a: np.ndarray | None, b: np.ndarray | None, queries: np.ndarray
) -> np.ndarray | None:
    """Return weights `a` times the weights `b` of `queries`; None stands for ones."""
    if b is None:
        return a
    return b[queries] if a is None else a * b[queries]


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a copy that can't be written to, whatever the caller does with the original."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def distinct_names(names: Any, n_features: int) -> list[str] | None:
    """Return names of features as text; raise unless they are distinct."""
    if names is None:
        return None
    names = [str(n) for n in names]
    if len(names) != n_features:
        raise checks.InputError(
            f"feature_names has {len(names)} names, but X has {n_features} columns."
        )
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise checks.InputError(f"feature_names must differ, but {twice!r} is there twice.")
    return names


def row_comments(comments: Any, n_rows: int) -> Comments | None:
    """Return comments, one per row."""
    if comments is None:
        return None
    if not isinstance(comments, Comments):
        comments = Comments.of(comments)
    if len(comments) != n_rows:
        raise checks.InputError(
            f"comments has {len(comments)} values, but there are {n_rows} rows."
        )
    return comments


def features_by_name(names: list[str], wanted: list[str]) -> list[int]:
    """Return the positions of features by name; raise if data has no feature of that name.

    Models of 0.4 and before on `listwise_features` of data without names call them "x0" and "x0:rank".
    """
    lacking = [name for name in wanted if name not in names]
    renamed = renamed_since(wanted)
    if lacking and "f1:mean" in renamed and set(renamed) <= set(names):
        wanted, lacking = renamed, []
    if lacking:
        raise missing_column(lacking[0], names)
    return [names.index(name) for name in wanted]


def missing_column(name: str, names: list[str], table: str = "X") -> checks.InputError:
    """Return the error for a column that a model needs and a table doesn't have."""
    near = checks.nearest(name, names).rstrip("?.")
    return checks.InputError(
        f"{table} lacks the column {name!r}{near}; the model was trained on it."
    )
