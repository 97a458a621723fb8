"""A random sample of rows that go by once, for the bins of all of them."""

import numpy as np

from rankwood._core.rng import generator

#: Rows that decide the bins, as many as LightGBM draws itself.
SAMPLE = 200_000


class RowSample:
    """At most `size` of the rows: all of them, in order, if there are no more.

    Each row draws a number, and the rows with the smallest stay, so that the sample doesn't depend on blocks.

    Parameters
    ----------
    size : int
        The most rows.
    fill_value : float
        The value of features that earlier blocks lack.
    """

    def __init__(self, size: int, fill_value: float = 0.0) -> None:
        self._size, self._fill_value = size, fill_value
        self._random = generator(0)
        self._X = np.empty((0, 0), np.float32)
        self._number = np.empty(0)
        self._used = 0

    def add(self, X: np.ndarray) -> None:
        """Look at the next rows."""
        if self._size == 0:
            return
        number: np.ndarray = self._random.random(X.shape[0])  # type: ignore[assignment]
        free = min(self._size - self._used, X.shape[0])
        self._make_room(self._used + free, X)
        self._X[self._used : self._used + free, : X.shape[1]] = X[:free]
        self._number[self._used : self._used + free] = number[:free]
        self._used += free
        if free < X.shape[0]:
            self._replace(X[free:], number[free:])

    def rows(self) -> np.ndarray:
        """Return the sample."""
        return self._X[: self._used]

    def _replace(self, X: np.ndarray, number: np.ndarray) -> None:
        """Put new rows in the places of those that leave."""
        near = np.flatnonzero(number < self._number.max())
        order = np.argsort(np.concatenate([self._number, number[near]]), kind="stable")
        stay, leave = order[: self._size], np.sort(order[self._size :])
        new = near[np.sort(stay[stay >= self._size]) - self._size]
        old = leave[leave < self._size]  # as many as are new
        self._X[old, : X.shape[1]] = X[new]
        self._number[old] = number[new]

    def _make_room(self, rows: int, X: np.ndarray) -> None:
        """Grow to a number of rows, and to the width and the type of X."""
        capacity, width = self._X.shape
        if X.shape[1] > width:
            wide = np.full((capacity, X.shape[1]), self._fill_value, X.dtype)
            wide[:, :width] = self._X
            self._X, width = wide, X.shape[1]
        if rows > capacity:
            more = min(self._size, max(rows, 2 * capacity))
            self._X.resize(
                (more, width), refcheck=False
            )  # in place, so that memory isn't taken twice
            self._X[capacity:] = self._fill_value
            self._number.resize(more, refcheck=False)
