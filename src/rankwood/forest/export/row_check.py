"""Rows scored twice: by the model, and by the reference scorer of the target on the file itself."""

from typing import NamedTuple

import numpy as np

from rankwood.engines.model_trees.arrays import TreeArrays
from rankwood.forest import Forest
from rankwood.forest.export.reference import Semantics, reference_scores
from rankwood.forest.export.target_trees import places_of_leaves

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
    forest: Forest,
    written: TreeArrays,
    read: TreeArrays,
    semantics: Semantics,
    rows: Rows,
    shift: float,
) -> Check:
    """Compare a forest with what a target makes of its file.

    Parameters
    ----------
    forest : Forest
        The model.
    written, read : TreeArrays
        Trees as they were written, whose leaves have the forest's numbers, and as they were read from the file.
    semantics : Semantics
        How the target scores.
    rows : Rows
        What to score.
    shift : float
        What was added to every score.

    Returns
    -------
    Check
        The differences.
    """
    place_here, place_there = places_of_leaves(written), places_of_leaves(read)
    other, narrow = np.zeros(len(rows.X), bool), np.zeros(len(rows.X), bool)
    scores = np.empty(len(rows.X))

    def differ(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        theirs = reference_scores(read, X, semantics)
        ours = forest.leaf(X) + forest.first_leaf[:-1]
        places = place_there[theirs.leaf[:, : forest.n_trees]]
        return (place_here[ours] != places).any(axis=1), theirs.score

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
        documents = rows.order[start:stop]
        here, there = (np.argsort(-s[documents], kind="stable") for s in (ours, theirs))
        other += int((here != there).sum())
    return other


def worst_check(checks: list[Check]) -> Check:
    """Return the worst of several checks of the same rows, number by number."""
    return checks[0]._replace(
        largest_difference=max(c.largest_difference for c in checks),
        other_leaf=max(c.other_leaf or 0 for c in checks),
        by_float32=min(c.by_float32 or 0 for c in checks),
        other_rank=max(c.other_rank for c in checks),
    )
