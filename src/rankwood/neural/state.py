"""Network and optimiser as arrays, and as they were after an epoch."""

from copy import deepcopy
from typing import Any

import numpy as np

from rankwood.neural.library import need_torch
from rankwood.neural.scoring import weights_of


class Snapshot:
    """Network and optimiser as they were after an epoch, on their device."""

    def __init__(self, network: Any, optimiser: Any) -> None:
        self._network, self._optimiser = network, optimiser
        self._weights = deepcopy(network.state_dict())
        self._steps = deepcopy(optimiser.state_dict())

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights of that epoch as arrays."""
        return {name: t.detach().cpu().numpy().copy() for name, t in self._weights.items()}

    def optimiser_arrays(self) -> dict[str, np.ndarray]:
        """Return the state of the optimiser after that epoch as arrays."""
        return _arrays_of(self._steps)

    def restore(self) -> None:
        """Return to that epoch."""
        self._network.load_state_dict(self._weights)
        self._optimiser.load_state_dict(deepcopy(self._steps))


def _arrays_of(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the state of an optimiser as arrays, by the number of the parameter and a name."""
    return {
        f"{i}.{name}": np.asarray(value.detach().cpu()).copy()
        for i, own in state["state"].items()
        for name, value in own.items()
    }


def network_arrays(
    network: Any, optimiser: Any
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the weights and the state of the optimiser as arrays."""
    return weights_of(network), _arrays_of(optimiser.state_dict())


def load_arrays(
    network: Any, optimiser: Any, weights: dict[str, np.ndarray], steps: dict[str, np.ndarray]
) -> None:
    """Set network and optimiser to arrays that `network_arrays` returned."""
    torch = need_torch()
    network.load_state_dict({name: torch.from_numpy(a) for name, a in weights.items()})
    state: dict[int, dict[str, Any]] = {}
    for name, a in steps.items():
        i, _, what = name.partition(".")
        state.setdefault(int(i), {})[what] = torch.from_numpy(a)
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
