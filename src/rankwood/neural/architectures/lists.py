"""The lists of a batch, as networks see them: flat, padded, or in groups."""

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from rankwood._kernels.numeric.rng import generator


class Lists:
    """Lists that follow each other in the rows of a batch, without padding.

    Parameters
    ----------
    lengths : array of int64
        Number of documents of each list.
    device : torch.device
        Where the rows are.
    orders : sequence of arrays
        Permutations of the rows that keep each list in its place; for networks that depend on an order.
    """

    def __init__(
        self, lengths: np.ndarray, device: torch.device, orders: tuple[np.ndarray, ...] = ()
    ) -> None:
        self.lengths, self.device = lengths, device
        self._orders = orders
        self.longest = int(lengths.max())
        self.shape = (lengths.size, self.longest)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first row of the list of each row."""
        return np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    @cached_property
    def places(self) -> np.ndarray:
        """The index of each row in its list."""
        return np.arange(self.starts.size) - self.starts

    @cached_property
    def sizes(self) -> np.ndarray:
        """The length of the list of each row."""
        return np.repeat(self.lengths, self.lengths)

    @cached_property
    def mask(self) -> Tensor:
        """Which cells of the padded layout, lists by places, have a document."""
        return self.on_device(np.arange(self.longest) < self.lengths[:, None])

    @cached_property
    def _cells(self) -> Tensor:
        query = np.repeat(np.arange(self.lengths.size), self.lengths)
        return self.on_device(query * self.longest + self.places)

    @cached_property
    def orders(self) -> tuple[Tensor, ...]:
        """The permutations of the rows, on the device."""
        return tuple(self.on_device(order) for order in self._orders)

    def on_device(self, values: np.ndarray) -> Tensor:
        """Return an array as a tensor beside the rows."""
        return torch.from_numpy(values).to(self.device, non_blocking=True)

    def pad(self, rows: Tensor) -> Tensor:
        """Return rows in the padded layout, zero where there is no document."""
        cells = rows.new_zeros(self.shape[0] * self.shape[1], *rows.shape[1:])
        return cells.index_copy(0, self._cells, rows).view(*self.shape, *rows.shape[1:])

    def flatten(self, padded: Tensor) -> Tensor:
        """Return the documents of a padded tensor as rows."""
        # No cell is selected twice, so no sum of the backward pass depends on an order.
        return padded.flatten(0, 1).index_select(0, self._cells)


def random_orders(
    lengths: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, ...]:
    """Return permutations that shuffle each list."""
    query = np.repeat(np.arange(lengths.size), lengths)
    return tuple(np.lexsort((rng.random(query.size), query)) for _ in range(draws))


def fixed_orders(
    lengths: np.ndarray, longest: int, seed: int, draws: int
) -> tuple[np.ndarray, ...]:
    """Return permutations of each list that depend on its length alone, not on the other lists."""
    query = np.repeat(np.arange(lengths.size), lengths)
    places = np.arange(query.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rng = generator(seed, 1)
    # A list of n documents takes the first n numbers, whatever `longest` is.
    noise = rng.random((longest, draws))
    return tuple(np.lexsort((noise[places, i], query)) for i in range(draws))
