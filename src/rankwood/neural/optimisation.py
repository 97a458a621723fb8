"""Optimisers and learning-rate schedules by name."""

import math
from collections.abc import Callable
from typing import Any

from rankwood.neural.library import need_torch

OPTIMISERS = ("adagrad", "adam")
#: Default learning rates.
LEARNING_RATES = {"adagrad": 0.05, "adam": 1e-3}
_START = 0.1  # what Adagrad's sums of squares begin with, as in TensorFlow

#: The factor on the learning rate, by the share of the epochs that is done.
SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: (1.0 + math.cos(math.pi * done)) / 2.0,
}


def make_optimiser(name: str, parameters: Any, rate: float, weight_decay: float) -> Any:
    """Return an optimiser of PyTorch."""
    torch = need_torch()
    if name == "adagrad":
        return torch.optim.Adagrad(
            parameters, rate, weight_decay=weight_decay, initial_accumulator_value=_START
        )
    parameters = list(parameters)
    fused = parameters[0].is_cuda  # one kernel for all weights
    return torch.optim.Adam(parameters, rate, weight_decay=weight_decay, fused=fused)


def set_rate(optimiser: Any, rate: float, schedule: str, epoch: int, epochs: int) -> None:
    """Set the learning rate of an epoch, counted from 0."""
    for group in optimiser.param_groups:
        group["lr"] = rate * SCHEDULES[schedule](epoch / epochs)
