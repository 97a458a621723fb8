"""The features of data, or of a model: their number, their names, and the values of those that are categorical."""

from typing import NamedTuple

from rankwood.data.tables.categories import Categories


class Schema(NamedTuple):
    """What is known of features."""

    n_features: int
    #: None if features have no names.
    names: list[str] | None
    #: Values of categorical features by name.
    categories: Categories

    def labels(self) -> list[str]:
        """Return a name for each feature: its own, or its number, from 1 as in LETOR files."""
        return self.names or [f"feature {i}" for i in range(1, self.n_features + 1)]
