"""Checkpoints: a run on disk after each epoch, so that a killed one goes on."""

import os
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from rankwood._core import checks
from rankwood.data.ranking_data import RankingData
from rankwood.neural.run import NeuralRun
from rankwood.neural.state import RunState, arrays_of, load_arrays
from rankwood.neural.tensors import from_text, nested, prefixed, to_text
from rankwood.training import model_file
from rankwood.training.fingerprints import full_digest

_KIND = "checkpoint of a NeuralRanker"
#: Parameters that change nothing that is computed.
_FREE = ("n_jobs", "verbose")
#: Fields of `RunState` in the file, and all fields of the file, with their types.
_STATE_FIELDS = {
    "batch_documents": int,
    "epochs_done": int,
    "history": dict,
    "best_epoch": (int, NoneType),
    "stopped": str,
    "seconds": dict,
}
_FIELDS = {"params": dict, "data": list, **_STATE_FIELDS, "state": str}


class EpochFile:
    """The file of a run with its parameters and its data, which must be the same when it goes on.

    Parameters
    ----------
    path : path
        The file.
    ranker : NeuralRanker
        Its parameters are written.
    sets : list of RankingData
        Training and validation data.
    """

    def __init__(self, path: str | Path, ranker: Any, sets: list[RankingData]) -> None:
        self.path = path
        self._params = {
            name: value for name, value in model_file.params_of(ranker).items() if name not in _FREE
        }
        self._data = list(map(full_digest, sets))
        folder = Path(path).parent
        if not folder.is_dir():
            raise checks.InputError(f"{path} can't be written: there is no directory {folder}.")

    def read(self) -> dict[str, Any] | None:
        """Return the content of the file, None if there is none; raise if it is of another run."""
        if not os.path.exists(self.path):
            return None
        content = model_file.read_content(self.path, _KIND)
        model_file.require(content, _FIELDS, self.path)
        for name, value in self._params.items():
            if content["params"].get(name) != value:
                raise checks.InputError(
                    f"{self.path} belongs to a run with {name}={content['params'].get(name)!r}, and now it is "
                    f"{value!r}: give another name for the checkpoint, or delete the file."
                )
        if content["data"] != self._data:
            raise checks.InputError(
                f"{self.path} belongs to a run on other data: give another name for the checkpoint, or delete the file."
            )
        return content

    def state(self, content: dict[str, Any]) -> RunState:
        """Return the state of the run."""
        arrays = from_text(content["state"], self.path)
        own = {name: content[name] for name in _STATE_FIELDS}
        return RunState(**own, best_weights=nested(arrays, "best.") or None)

    def load(self, content: dict[str, Any], network: Any, optimiser: Any) -> None:
        """Set network and optimiser as they were."""
        arrays = from_text(content["state"], self.path)
        try:
            load_arrays(network, optimiser, nested(arrays, "network."), nested(arrays, "steps."))
        except (RuntimeError, KeyError, ValueError):
            raise checks.InputError(
                f"{self.path} is damaged: its weights are not those of the network."
            ) from None

    def write(self, run: NeuralRun) -> None:
        """Write the run after an epoch; the file before is replaced once this one is complete."""
        weights, steps = arrays_of(run.parts.network, run.parts.optimiser)
        best: dict[str, np.ndarray] = run.state.best_weights or {}
        arrays = {
            **prefixed(weights, "network."),
            **prefixed(steps, "steps."),
            **prefixed(best, "best."),
        }
        own = {name: getattr(run.state, name) for name in _STATE_FIELDS}
        content = {"params": self._params, "data": self._data, **own, "state": to_text(arrays)}
        model_file.write_content(content, self.path, _KIND)
