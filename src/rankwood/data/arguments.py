"""Checked arguments of `RankingData`."""

import warnings
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.comments import Comments


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


def distinct_names(names: Any, n_features: int) -> list[str] | None:
    """Return names of features as text, all different."""
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


def unlisted_or_beyond(unlisted: Any, beyond: Any) -> Any:
    """Return `unlisted`, or what was given under its former name."""
    if beyond is None:
        return unlisted
    if unlisted is not None:
        raise checks.InputError("beyond is the former name of unlisted: give one of them.")
    warnings.warn("beyond= is called unlisted= now.", DeprecationWarning, stacklevel=3)
    return beyond


def missing_column(name: str, known: list[str]) -> checks.InputError:
    """Return the error for a column that a model needs and a table doesn't have."""
    near = checks.nearest(name, known).rstrip("?.")
    return checks.InputError(f"X lacks the column {name!r}{near}; the model was trained on it.")
