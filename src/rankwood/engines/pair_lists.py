"""What engines on pairs share: documents list by list, scores of their pairs, and which differences they look at."""

from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.groups import Groups
from rankwood.data.listwise_features import base_features
from rankwood.data.ranking_data import RankingData
from rankwood.engines import _parameters
from rankwood.engines.base import Task
from rankwood.engines.pairtree.binning import single
from rankwood.engines.pairtree.layout import Layout


class Lists:
    """Documents list by list (float32), and the scores of their ordered pairs so far."""

    def __init__(self, data: RankingData, groups: Groups) -> None:
        self.rows = groups.rows
        self.X = single(_parameters.dense(data.X[groups.rows]))
        self.layout = Layout(groups.ptr)
        self.scores = np.zeros(self.layout.n_pairs)

    def item_scores(self, n_jobs: int | None = None) -> np.ndarray:
        """Return the scores of documents, in the caller's order."""
        scores = np.empty(self.rows.size)
        scores[self.rows] = self.layout.item_scores(self.scores, n_jobs)
        return scores


def lists_of(task: Task) -> tuple[Lists, Lists | None]:
    """Return the lists to learn from, and those to stop by; of the latter none need have two documents."""
    if task.groups.sizes.max(initial=0) < 2:
        raise checks.InputError("no query has two documents: there are no pairs to learn from.")
    valid = None if task.valid is None else Lists(task.valid, task.valid.groups)
    return Lists(task.train, task.groups), valid


def columns_of(wanted: Any, names: list[str] | None, n_features: int) -> list[int]:
    """Return the columns whose differences are features of a pair, by number.

    "base" are those that `listwise_features` did not add, "all" are all, "none" are none; or a list of names or
    numbers.
    """
    if isinstance(wanted, str):
        checks.one_of(wanted, ("base", "all", "none"), "differences")
        if wanted == "none":
            return []
        return base_features(names if wanted == "base" else None, n_features).tolist()
    found = []
    for column in _listed(wanted):
        if isinstance(column, str):
            if not names or column not in names:
                near = checks.nearest(column, names) if names else "; features have no names here."
                raise checks.InputError(f"differences: there is no feature {column!r}{near}")
            column = names.index(column)
        if checks.at_least(column, 0, "differences") >= n_features:
            raise checks.InputError(
                f"differences must be below {n_features}, the number of features, got {column}."
            )
        found.append(int(column))
    return sorted(set(found))


def _listed(wanted: Any) -> list[Any]:
    try:
        if not isinstance(wanted, bytes):  # they would be numbers
            return list(wanted)
    except TypeError:
        pass
    raise checks.InputError(
        "differences must be 'base', 'all', 'none' or a list of features by name or number, as in "
        f"differences=[0, 2], got {wanted!r}."
    )
