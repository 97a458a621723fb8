"""What every writer gets: a forest with the names and the shift of its target, after the caller's options."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankwood.forest import Forest
from rankwood.forest.export import cuts


class ExportedModel(NamedTuple):
    """A model to write."""

    #: With ``missing="zero"`` its missing values go where 0 goes.
    forest: Forest
    #: Names of the features in the target, by column.
    names: tuple[str, ...]
    #: Name of the model in the target.
    name: str
    #: What is added to every score so that none is negative; 0 if nothing is.
    shift: float = 0.0
    #: Values of categorical features by column.
    categories: dict[int, tuple[Any, ...]] | None = None
    #: Whether missing values were sent where 0 goes, which isn't where the model sends them.
    zeroed: bool = False
    #: Elasticsearch's query of each feature, by name in the target.
    queries: dict[str, Any] | None = None

    @property
    def constant(self) -> float:
        """What is added to the sum of the leaves."""
        return float(self.forest.base) + self.shift

    @property
    def used(self) -> list[int]:
        """The columns that splits read, in order."""
        return np.unique(self.forest.feature).tolist()


def with_missing_as_zero(forest: Forest) -> Forest:
    """Return a forest that sends missing values of numerical features where it sends 0."""
    left = np.where(forest.categorical, forest.missing_left, cuts.missing_as_zero(forest.threshold))
    return replace(forest, missing_left=left)


def features_by_missing(forest: Forest) -> np.ndarray:
    """Return the columns of numerical splits whose missing values go elsewhere than 0."""
    other = forest.missing_left != cuts.missing_as_zero(forest.threshold)
    return np.unique(forest.feature[other & ~forest.categorical])


def lowest_score(forest: Forest) -> float:
    """Return a number that no score is below, even if a target adds leaves in float32 in the order of trees."""
    low, rounded, narrow = 0.0, 0.0, np.float32(0)
    for tree in range(forest.first_leaf.size - 1):
        leaves = forest.leaf_value[forest.first_leaf[tree] : forest.first_leaf[tree + 1]]
        low += float(leaves.min())
        rounded += float(np.float32(leaves.min()))  # Vespa: leaves of float32, added in float64
        narrow = np.float32(narrow + np.float32(leaves.min()))
    return min(low, rounded, float(narrow)) + float(forest.base)
