"""Attn-DIN: documents attend to each other, and a tower scores each of them [pasumarthi2020]."""

import torch
from torch import Tensor, nn

from rankwood.neural.architectures.attention import attend
from rankwood.neural.architectures.glorot import glorot_dense
from rankwood.neural.architectures.lists import Lists
from rankwood.neural.architectures.tower import Tower, TowerShape

_EPSILON = 1e-12  # of layer normalisation


class AttentionLayer(nn.Module):
    """Multi-head self-attention whose heads are as wide as the embedding, residual, layer normalisation.

    Dropout is of the attention weights, and again of what they give.
    """

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        # Keras has these weights in three dimensions, (size, heads, size) and (heads, size, size), and takes the first
        # one for the window of a convolution, by which it multiplies both fans.
        inside, outside = size * (heads + size), heads * (size + size)
        self.query = glorot_dense(size, heads * size, inside)
        self.key = glorot_dense(size, heads * size, inside)
        self.value = glorot_dense(size, heads * size, inside)
        self.out = glorot_dense(heads * size, size, outside)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(size, _EPSILON)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the new embeddings of padded lists."""
        seen = attend(self.query(x), self.key(x), self.value(x), mask, self.heads, self.dropout)
        return self.norm(x + self.dropout(self.out(seen)))


class AttnDIN(nn.Module):
    """An embedding, attention layers, and a tower over the features and the embedding of each document."""

    def __init__(
        self,
        inputs: int,
        shape: TowerShape,
        *,
        layers: int,
        heads: int,
        size: int,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.embed = glorot_dense(inputs, size)
        self.attention = nn.ModuleList(
            AttentionLayer(size, heads, attention_dropout) for _ in range(layers)
        )
        self.tower = Tower(inputs + size, 1, shape)

    def forward(self, rows: Tensor, lists: Lists) -> Tensor:
        """Return a score per row."""
        x = lists.pad(self.embed(rows).relu())
        for layer in self.attention:
            x = layer(x, lists.mask)
        return self.tower(torch.cat([rows, lists.flatten(x)], 1)).squeeze(1)
