"""Attention between the documents of a list."""

import math

from torch import Tensor, nn


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, heads: int, drop: nn.Module
) -> Tensor:
    """Return for each query the mean of the values, weighted by the softmax of scaled products with the keys.

    Tensors are lists by places by heads times units; keys where `mask`, lists by places, is false have weight 0.
    """
    # The products are written out: fused kernels need not be bit-identical in each run on a GPU.
    q, k, v = (_split(x, heads) for x in (query, key, value))
    products = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
    if mask is not None:
        products = products.masked_fill(~mask[:, None, None, :], -math.inf)
    return (drop(products.softmax(3)) @ v).transpose(1, 2).flatten(2)


def _split(x: Tensor, heads: int) -> Tensor:
    """Return lists by heads by places by units."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)
