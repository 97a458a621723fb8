"""A line of numbers, whatever it is about: what is measured by round, by cutoff or along a formula."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    """A named line: its points, what its values measure, and the place that was kept, such as the best round."""

    label: str
    x: np.ndarray
    y: np.ndarray
    quantity: str = ""
    kept: float | None = None

    @property
    def kept_value(self) -> float | None:
        """The value at the place that was kept; None if no place was kept, or if the curve doesn't reach it."""
        if self.kept is None:
            return None
        places = np.flatnonzero(self.x == self.kept)
        return float(self.y[places[0]]) if places.size else None


def by_round(
    label: str, values: Sequence[float] | np.ndarray, quantity: str = "", kept: int | None = None
) -> Curve:
    """Return the curve of one value per round; rounds count from 1."""
    y = np.asarray(values, np.float64)
    return Curve(label, np.arange(1, y.size + 1), y, quantity, kept)
