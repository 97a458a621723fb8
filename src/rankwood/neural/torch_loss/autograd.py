"""Losses whose gradient is already known, as functions that PyTorch's autograd can differentiate."""

from typing import Any

import torch


def with_gradient(scores: Any, losses: Any, grad: Any, query: Any = None) -> Any:
    """Return `losses` as a function of the scores whose gradient is `grad`.

    Parameters
    ----------
    scores, grad : tensor
        Scores, and the gradient of the sum of all losses with respect to them.
    losses : tensor
        One loss, or several.
    query : tensor, optional
        Which of several losses each score belongs to.
    """
    if not (scores.requires_grad and torch.is_grad_enabled()):
        return losses
    return _WithGradient.apply(scores, losses, grad, query)  # type: ignore[no-untyped-call]


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Any, losses: Any, grad: Any, query: Any) -> Any:
        ctx.save_for_backward(scores, grad, query)
        return losses

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        scores, grad, query = ctx.saved_tensors
        found = _Backward.apply(scores, grad, upstream[0], query)  # type: ignore[no-untyped-call]
        return found, None, None, None


class _Backward(torch.autograd.Function):
    """The backward pass is a function of the scores too; if it were not, second derivatives would silently be 0."""

    @staticmethod
    def forward(ctx: Any, scores: Any, grad: Any, upstream: Any, query: Any) -> Any:
        return grad * (upstream if query is None else upstream[query])

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError(
            "RankingLoss has first derivatives only, and something needs its second ones: omit "
            "create_graph=True, or detach the gradient."
        )
