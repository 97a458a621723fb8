"""What the rest of the package knows of an engine: it turns gradients into trees, round by round."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from rankwood import _check
from rankwood.data.lists import RankingData

#: The driver's half of a round: scores in, gradients and hessians out.
Gradients = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Model(Protocol):
    """A trained ensemble that predicts, and that goes into a file as text."""

    text: str

    def predict(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return one score per row."""

    def importances(self) -> np.ndarray:
        """Return what splits on each feature gained in all."""


class Engine(Protocol):
    """One training run."""

    #: False if later rounds change earlier trees, so that the best round can't be kept.
    keeps_rounds: bool

    def update(self, gradients: Gradients) -> bool:
        """Grow a tree; False if there is nothing left to split."""

    def valid_scores(self) -> np.ndarray:
        """Scores of the validation data after the last round."""

    def model(self, rounds: int) -> Model:
        """Return the ensemble of the first `rounds` trees."""


_ENGINES = {"lightgbm": "rankwood.engines.lightgbm"}


def find(name: Any) -> Any:
    """Return the module of an engine: `start(params, train, valid)` and `load(text)`."""
    if not isinstance(name, str) or name not in _ENGINES:
        raise _check.InputError(f"unknown engine {name!r}{_check.nearest(str(name), _ENGINES)}")
    return import_module(_ENGINES[name])


def start(
    name: str, params: dict[str, Any], train: RankingData, valid: RankingData | None
) -> Engine:
    """Begin a training run."""
    engine: Engine = find(name).start(params, train, valid)
    return engine
