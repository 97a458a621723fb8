"""The feed-forward tower that every network but SetRank ends with."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn

from rankwood.neural.architectures.glorot import glorot_dense

_EPSILON = 1e-3  # of the variance in batch normalisation, as in Keras


class TowerShape(NamedTuple):
    """Sizes of the layers of a tower, and what is between them.

    `momentum` is the weight of the newest batch in the running mean and variance of batch normalisation.
    """

    hidden: Sequence[int]
    dropout: float
    batch_norm: bool
    momentum: float
    input_norm: bool


class Tower(nn.Module):
    """Per layer: dense, batch normalisation, ReLU, dropout; a dense layer at the end.

    Rows are documents, without padding: batch normalisation must not see padding.
    """

    def __init__(self, inputs: int, outputs: int, shape: TowerShape) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        if shape.input_norm:
            layers.append(nn.BatchNorm1d(inputs, _EPSILON, shape.momentum))
        width = inputs
        for size in shape.hidden:
            layers.append(layer := glorot_dense(width, size))
            if shape.batch_norm:
                # Batch normalisation subtracts the mean and the bias with it, so the bias has no gradient to sum up.
                layer.bias.requires_grad_(False)
                layers.append(nn.BatchNorm1d(size, _EPSILON, shape.momentum))
            layers += [nn.ReLU(), nn.Dropout(shape.dropout)]
            width = size
        layers.append(glorot_dense(width, outputs))
        self.layers = nn.Sequential(*layers)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the outputs of each row."""
        return self.layers(rows)
