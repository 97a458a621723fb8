"""The state of a training run after an epoch: everything that the next epoch depends on."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwood.neural.library import need_torch
from rankwood.neural.scoring import weights_of


@dataclass
class RunState:
    """What a run knows after its last complete epoch.

    Attributes
    ----------
    epochs_done : int
        Complete epochs.
    batch_documents : int
        Documents of a batch; half of what the user gave if a GPU ran out of memory.
    history : dict
        Validation metrics by epoch.
    best_epoch : int or None
        The best epoch, from 1, if a metric decides.
    best_weights : dict or None
        Weights of that epoch, as arrays.
    stopped : str
        Why training ended: "" before, then "epochs", "early stopping", "callback" or "diverged".
    seconds : dict
        Time spent, by step.
    """

    batch_documents: int
    epochs_done: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)
    best_epoch: int | None = None
    best_weights: dict[str, np.ndarray] | None = None
    stopped: str = ""
    seconds: dict[str, float] = field(
        default_factory=lambda: {
            "compiling": 0.0,
            "transform": 0.0,
            "training": 0.0,
            "evaluation": 0.0,
        }
    )


class Snapshot:
    """Network and optimiser as they were after an epoch, on their device."""

    def __init__(self, network: Any, optimiser: Any) -> None:
        self._network, self._optimiser = network, optimiser
        self._weights = deepcopy(network.state_dict())
        self._steps = deepcopy(optimiser.state_dict())

    def restore(self) -> None:
        """Go back to that epoch."""
        self._network.load_state_dict(self._weights)
        self._optimiser.load_state_dict(deepcopy(self._steps))


def optimiser_arrays(optimiser: Any) -> dict[str, np.ndarray]:
    """Return the state of an optimiser as arrays, by the number of the parameter and a name."""
    return {
        f"{i}.{name}": np.asarray(value.detach().cpu()).copy()
        for i, own in optimiser.state_dict()["state"].items()
        for name, value in own.items()
    }


def arrays_of(network: Any, optimiser: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the weights and the state of the optimiser as arrays."""
    return weights_of(network), optimiser_arrays(optimiser)


def load_arrays(
    network: Any, optimiser: Any, weights: dict[str, np.ndarray], steps: dict[str, np.ndarray]
) -> None:
    """Set network and optimiser to arrays that `arrays_of` returned."""
    torch = need_torch()
    network.load_state_dict({name: torch.from_numpy(a) for name, a in weights.items()})
    state: dict[int, dict[str, Any]] = {}
    for name, a in steps.items():
        i, _, what = name.partition(".")
        state.setdefault(int(i), {})[what] = torch.from_numpy(a)
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
