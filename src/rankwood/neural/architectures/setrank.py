"""SetRank: blocks of self-attention over a list, with or without inducing points [pang2020]."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from rankwood.neural.architectures.attention import attend
from rankwood.neural.architectures.glorot import glorot_dense
from rankwood.neural.architectures.lists import Lists

_EPSILON = 1e-8  # of layer normalisation
_WIDER = 4  # the inner layer of a feed-forward part has so many times the units
_SPREAD = 0.1  # standard deviation of the inducing points before training


class Attention(nn.Module):
    """Multi-head attention with ReLU projections, residual, layer normalisation."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = glorot_dense(size, size)
        self.key = glorot_dense(size, size)
        self.value = glorot_dense(size, size)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(size, _EPSILON)

    def forward(self, x: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """Return new values of x, which attends to the keys where the mask is true."""
        projected = (self.query(x).relu(), self.key(keys).relu(), self.value(keys).relu())
        return self.norm(x + attend(*projected, mask, self.heads, self.dropout))


class WideAttention(Attention):
    """Attention, and a feed-forward part with residual and layer normalisation."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__(size, heads, dropout)
        self.wide = glorot_dense(size, _WIDER * size)
        self.narrow = glorot_dense(_WIDER * size, size)
        self.wide_norm = nn.LayerNorm(size, _EPSILON)

    def forward(self, x: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """Return new values of x, which attends to the keys where the mask is true."""
        x = super().forward(x, keys, mask)
        return self.wide_norm(x + self.narrow(self.wide(x).relu()))


class InducedBlock(nn.Module):
    """Inducing points attend to the documents, and the documents to them: linear in the length of the list."""

    #: How inducing points attend to documents.
    gathering: ClassVar[type[Attention]] = Attention

    def __init__(self, size: int, heads: int, dropout: float, inducing: int) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.empty(inducing, size))
        nn.init.normal_(self.points, std=_SPREAD)
        self.gather = self.gathering(size, heads, dropout)
        self.spread = WideAttention(size, heads, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return new values of padded lists."""
        points = self.points.to(x.dtype).expand(x.shape[0], -1, -1)
        return self.spread(x, self.gather(points, x, mask), None)


class AttentionBlock(nn.Module):
    """The documents attend to each other."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = WideAttention(size, heads, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return new values of padded lists."""
        return self.attention(x, x, mask)


class SetRank(nn.Module):
    """Two dense layers with layer normalisation, blocks, and a dense layer to the score."""

    #: What comes after the second dense layer.
    second: ClassVar[type[nn.Module]] = nn.Identity
    induced: ClassVar[type[InducedBlock]] = InducedBlock

    def __init__(
        self,
        inputs: int,
        *,
        layers: int,
        heads: int,
        size: int,
        attention_dropout: float,
        inducing: int | None,
    ) -> None:
        super().__init__()
        self.embed = nn.Sequential(
            glorot_dense(inputs, _WIDER * size),
            nn.ReLU(),
            nn.LayerNorm(_WIDER * size, _EPSILON),
            glorot_dense(_WIDER * size, size),
            self.second(),
            nn.LayerNorm(size, _EPSILON),
            nn.Dropout(attention_dropout),
        )
        self.blocks = nn.ModuleList(
            AttentionBlock(size, heads, attention_dropout)
            if inducing is None
            else self.induced(size, heads, attention_dropout, inducing)
            for _ in range(layers)
        )
        self.score = glorot_dense(size, 1)

    def forward(self, rows: Tensor, lists: Lists) -> Tensor:
        """Return a score per row."""
        x = lists.pad(self.embed(rows))
        for block in self.blocks:
            x = block(x, lists.mask)
        return self.score(lists.flatten(x)).squeeze(1)


class EarlierInducedBlock(InducedBlock):
    """The block of files up to 0.4: a feed-forward part after both attentions."""

    gathering = WideAttention


class EarlierSetRank(SetRank):
    """The network of files up to 0.4, which must predict as they did; nothing trains it."""

    second = nn.ReLU
    induced = EarlierInducedBlock
