"""Three lists for the tests of `RankingLoss`, and gradients of their scores."""

import numpy as np
import torch

SIZES = [1, 6, 5]
Y = np.array([2.0, 0, 3, 1, 0, 2, 0, 1, 0, 0, 2, 1])
# Well apart, so that a small step changes no ranking.
SCORES = np.array([7.0, 3, 9, 0, 5, 11, 2, 8, 1, 10, 4, 6]) * 0.7 - 3.0


def leaf(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def grad_of(loss, scores, *args, **kwargs):
    loss(scores, *args, **kwargs).backward()
    found, scores.grad = scores.grad.clone(), None
    return found
