"""The features of data, or of a model: their number, their names, and the values of those that are categorical."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rankwood.data.tables.categories import Categories

#: What 0.4 and before called features without names, with what `listwise_features` adds to a name.
_FORMER = re.compile(r"\Ax(0|[1-9]\d*)(:\w+)?\Z")


def numbered_names(n_features: int) -> list[str]:
    """Return the names of features that have none: "f1" is feature 1 of a LETOR file, and column 0 of an array.

    It is the only place that makes such names; whoever shows, writes or reads them asks here.
    """
    return [f"f{i}" for i in range(1, n_features + 1)]


def renamed_since(names: Sequence[str]) -> list[str]:
    """Return names as they are now, "f1" and "f1:rank", of what 0.4 and before called "x0" and "x0:rank"."""
    return [_FORMER.sub(lambda m: f"f{int(m[1]) + 1}{m[2] or ''}", name) for name in names]


class Schema(NamedTuple):
    """What is known of features."""

    n_features: int
    #: None if features have no names.
    names: list[str] | None
    #: Values of categorical features by name.
    categories: Categories

    def labels(self) -> list[str]:
        """Return a name for each feature: its own, or "f1", "f2" and so on."""
        return self.names or numbered_names(self.n_features)
