"""GSF: groups of documents are scored together, and a document has the mean of its scores [ai2019]."""

import numpy as np
import torch
from torch import Tensor, nn

from rankwood.neural.architectures.lists import Lists
from rankwood.neural.architectures.tower import Tower, TowerShape


class GSF(nn.Module):
    """A tower over the features of a group of documents, with a score for each of them.

    The groups are rolling windows over a shuffled list, as many as documents; windows at the end wrap around to the
    first documents. So each document is once in each position of a group. A list that is shorter than a group is
    repeated until the group is full.
    """

    def __init__(
        self, inputs: int, shape: TowerShape, group_size: int, differences: bool = False
    ) -> None:
        super().__init__()
        self.group_size = group_size
        self.differences = differences
        self.tower = Tower((group_size + differences) * inputs, group_size, shape)

    def forward(self, rows: Tensor, lists: Lists) -> Tensor:
        """Return a score per row, the mean over the orders of the lists."""
        step = np.arange(self.group_size)
        starts, sizes = lists.starts[:, None], lists.sizes[:, None]
        members = starts + (lists.places[:, None] + step) % sizes
        # Position j of the group that begins j documents earlier.
        found = (starts + (lists.places[:, None] - step) % sizes) * self.group_size + step
        members_, found_ = lists.on_device(members), lists.on_device(found)
        scores = [self._scores(rows, order, members_, found_) for order in lists.orders]
        return torch.stack(scores).mean(0)

    def _scores(self, rows: Tensor, order: Tensor, members: Tensor, found: Tensor) -> Tensor:
        """Return the mean score of each row over its groups, in one order."""
        shuffled = rows.index_select(0, order)
        groups = shuffled.index_select(0, members.flatten()).view(*members.shape, -1)
        parts = [groups.flatten(1)]
        if self.differences:
            parts.append(groups[:, 0] - groups[:, 1])
        outputs = self.tower(torch.cat(parts, 1))
        means = outputs.flatten().index_select(0, found.flatten()).view(found.shape).mean(1)
        return torch.empty_like(means).index_copy(0, order, means)
