"""Rows scored twice: by the model, and by the reference scorer of the target on the file itself."""

from typing import Any, NamedTuple

import numpy as np

from rankwood.export.reference import Semantics, score
from rankwood.export.trees import Trees, places_of_leaves

_ROWS_AT_A_TIME = 4096


class Check(NamedTuple):
    """Rows scored by the model and, by the rules of the target, by the exported file: what differs.

    Attributes
    ----------
    rows, queries : int
        Numbers of rows and queries.
    largest_difference : float
        The largest difference of the two scores of a row, the shift subtracted.
    other_leaf : int or None
        Rows with another leaf in at least one tree; None if the model isn't one of documents.
    by_float32 : int or None
        Those of them that keep their leaves once their features are rounded to float32.
    other_rank : int
        Rows with another rank in their query; ties are ranked by row.

    Examples
    --------
    >>> import rankwood as rw
    >>> ranker = rw.Ranker(n_estimators=3, n_jobs=1).fit(rw.load_demo("train"))
    >>> ranker.export("m.json", "json", check=rw.load_demo("test")).check.other_rank
    0
    """

    rows: int
    queries: int
    largest_difference: float
    other_leaf: int | None
    by_float32: int | None
    other_rank: int


class Rows(NamedTuple):
    """Rows as a forest has scored them."""

    X: np.ndarray
    #: First row of each query in `order`, and the rows query by query.
    starts: np.ndarray
    order: np.ndarray


def check_forest(
    forest: Any, made: Trees, found: Trees, semantics: Semantics, rows: Rows, shift: float
) -> Check:
    """Compare a forest with what a target makes of its file.

    Parameters
    ----------
    forest : Forest
        The model.
    made, found : Trees
        Trees as they were written, whose leaves have the forest's numbers, and as they were read from the file.
    semantics : Semantics
        The rules of the target.
    rows : Rows
        What to score.
    shift : float
        What was added to every score.

    Returns
    -------
    Check
        The differences.
    """
    wanted_place, found_place = places_of_leaves(made), places_of_leaves(found)
    other, narrow = np.zeros(len(rows.X), bool), np.zeros(len(rows.X), bool)
    scores = np.empty(len(rows.X))

    def differ(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        theirs = score(found, X, semantics)
        ours = forest.leaf(X) + forest.first_leaf[:-1]
        places = found_place[theirs.leaf[:, : forest.n_trees]]
        return (wanted_place[ours] != places).any(axis=1), theirs.score

    for start in range(0, len(rows.X), _ROWS_AT_A_TIME):
        part = slice(start, start + _ROWS_AT_A_TIME)
        other[part], scores[part] = differ(rows.X[part])
        if other[part].any():
            with np.errstate(over="ignore", under="ignore"):
                rounded = rows.X[part][other[part]].astype(np.float32).astype(np.float64)
            narrow[np.flatnonzero(other[part]) + start] = ~differ(rounded)[0]
    return Check(
        rows=len(rows.X),
        queries=rows.starts.size - 1,
        largest_difference=_largest(forest.predict(rows.X), scores - shift),
        other_leaf=int(other.sum()),
        by_float32=int(narrow.sum()),
        other_rank=other_ranks(forest.predict(rows.X), scores, rows),
    )


def _largest(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two scores of a row."""
    return float(np.abs(a - b).max(initial=0.0))


def other_ranks(ours: np.ndarray, theirs: np.ndarray, rows: Rows) -> int:
    """Return how many rows have another rank in their query."""
    other = 0
    for start, stop in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        own = rows.order[start:stop]
        mine, other_order = (np.argsort(-s[own], kind="stable") for s in (ours, theirs))
        other += int((mine != other_order).sum())
    return other


def worst(found: list[Check]) -> Check:
    """Return the worst of several checks of the same rows, number by number."""
    first = found[0]
    return first._replace(
        largest_difference=max(c.largest_difference for c in found),
        other_leaf=max(c.other_leaf or 0 for c in found),
        by_float32=min(c.by_float32 or 0 for c in found),
        other_rank=max(c.other_rank for c in found),
    )
