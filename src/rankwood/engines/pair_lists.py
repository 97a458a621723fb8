"""What engines on pairs share: documents list by list, the scores of their pairs, and the columns of differences."""

from copy import copy
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.data.groups import Groups
from rankwood.data.listwise_features import base_features
from rankwood.data.source import Source
from rankwood.engines import _parameters
from rankwood.engines.base import TrainingTask
from rankwood.engines.pairtree.binning import as_float32
from rankwood.engines.pairtree.pair_layout import PairLayout


class PairLists:
    """Documents list by list (float32), and the scores of their ordered pairs so far.

    Parameters
    ----------
    data : Source
        The documents.
    groups : Groups
        Their queries; the documents of each query may be in another order than in `data`.

    Attributes
    ----------
    rows : array
        The row of `data` of each document.
    X : array
        The documents.
    layout : PairLayout
        Their pairs.
    scores : array
        The score of each pair.
    """

    def __init__(self, data: Source, groups: Groups) -> None:
        self.rows = groups.rows
        self.X = as_float32(_parameters.dense(data.matrix()[groups.rows]))
        self.layout = PairLayout(groups.ptr)
        self.scores = np.zeros(self.layout.n_pairs)

    def fresh(self) -> "PairLists":
        """Return the same documents with all scores 0, for another training run."""
        other = copy(self)
        other.scores = np.zeros(self.layout.n_pairs)
        return other

    def item_scores(self, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of documents, in the order of the rows of the data."""
        scores = np.empty(self.rows.size)
        scores[self.rows] = self.layout.item_scores(self.scores, n_jobs)
        return scores


def lists_of(task: TrainingTask) -> tuple[PairLists, PairLists | None]:
    """Return the training lists, and the validation lists, none of which need have two documents."""
    if task.groups.sizes.max(initial=0) < 2:
        raise checks.InputError("no query has two documents: there are no pairs to learn from.")
    train = task.once("lists", "train", lambda: PairLists(task.train, task.groups)).fresh()
    if task.valid is None:
        return train, None
    data = task.valid
    return train, task.once("valid lists", "valid", lambda: PairLists(data, data.groups)).fresh()


def columns_of(differences: Any, names: list[str] | None, n_features: int) -> list[int]:
    """Return the columns whose differences are features of a pair.

    Parameters
    ----------
    differences : {"base", "all", "none"} or list of str or int
        "base" stands for the columns that `listwise_features` did not add; a list has names or numbers of columns.
    names : list of str, optional
        The names of all columns.
    n_features : int
        Number of columns.

    Returns
    -------
    list of int
        Numbers of columns, in ascending order.

    Raises
    ------
    InputError
        If `differences` is something else, or there is no such column.
    """
    if isinstance(differences, str):
        checks.one_of(differences, ("base", "all", "none"), "differences")
        if differences == "none":
            return []
        return base_features(names if differences == "base" else None, n_features).tolist()
    return _parameters.column_numbers(_listed(differences), names, n_features, "differences")


def _listed(differences: Any) -> list[Any]:
    """Return the names or numbers of columns as a list, or raise."""
    try:
        if not isinstance(differences, bytes):  # bytes would be read as numbers
            return list(differences)
    except TypeError:
        pass
    raise checks.InputError(
        "differences must be 'base', 'all', 'none' or a list of features by name or number, as in "
        f"differences=[0, 2], got {differences!r}."
    )
