"""What targets share that walk the forest's own arrays in the engine's own widths: C, and JSON with a walker."""

from typing import Any

import numpy as np

from rankwood.export.reference import (
    Semantics,
    as_float32,
    as_they_are,
    at_most,
    is_nan,
    sum_in_order,
)
from rankwood.export.rules import Cuts
from rankwood.export.trees import Trees, trees_of


def own_trees(forest: Any) -> Trees:
    """Return the trees of a forest as they are."""
    no = np.zeros(forest.threshold.size, bool)
    return trees_of(forest, Cuts(forest.threshold, no, ~no))


def own_semantics(forest: Any) -> tuple[Semantics, ...]:
    """Return the engine's own comparison and sum; the last tree has the constant, from which the sum starts."""

    def features(X: np.ndarray) -> np.ndarray:
        # Rounded to float32, but compared as doubles: a double beside a threshold must stay apart.
        return as_float32(X).astype(np.float64) if forest.float32_input else as_they_are(X)

    def total(leaves: np.ndarray) -> np.ndarray:
        real = np.float32 if forest.float32_sum else np.float64
        return sum_in_order(np.roll(leaves, 1, axis=1).astype(real))

    return (Semantics("engine's own", features, at_most, is_nan, total),)
