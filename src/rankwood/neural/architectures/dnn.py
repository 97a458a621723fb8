"""DNN: a feed-forward network that scores one document at a time."""

from torch import Tensor, nn

from rankwood.neural.architectures.lists import Lists
from rankwood.neural.architectures.tower import Tower, TowerShape


class DNN(nn.Module):
    """A tower over the features of a document."""

    def __init__(self, inputs: int, shape: TowerShape) -> None:
        super().__init__()
        self.tower = Tower(inputs, 1, shape)

    def forward(self, rows: Tensor, lists: Lists) -> Tensor:
        """Return a score per row; lists don't matter."""
        return self.tower(rows).squeeze(1)
