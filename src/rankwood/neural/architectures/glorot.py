"""Dense layers with initial weights as in Keras: Glorot's uniform distribution, and biases of 0."""

import math

from torch import nn


def glorot_dense(inputs: int, outputs: int, fans: int | None = None) -> nn.Linear:
    """Return a dense layer; `fans` is the sum of fan-in and fan-out where it isn't `inputs + outputs`."""
    layer = nn.Linear(inputs, outputs)
    limit = math.sqrt(6.0 / (fans or inputs + outputs))
    nn.init.uniform_(layer.weight, -limit, limit)
    nn.init.zeros_(layer.bias)
    return layer
