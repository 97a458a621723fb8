"""Model files of any kind: the file names the class that reads it."""

import re
from pathlib import Path
from typing import Any

from rankwood.training.estimator import estimator_class

_START = 1024  # bytes that hold the header


def kind_of(path: str | Path) -> str:
    """Return the class that a file starts with; `Ranker.load` reports files that are not a model."""
    try:
        with open(path, "rb") as file:
            found = re.search(rb'"kind"\s*:\s*"(NeuralRanker|TwoStage)"', file.read(_START))
    except OSError:
        return "Ranker"
    return "Ranker" if found is None else found[1].decode()


def load_estimator(path: str | Path) -> Any:
    """Return the fitted `Ranker`, `NeuralRanker` or `TwoStage` of a file."""
    return estimator_class(kind_of(path)).load(path)


def models_of(estimator: Any) -> list[Any]:
    """Return the fitted rankers of an estimator: itself, or those of both stages."""
    return estimator._models() if hasattr(estimator, "second_") else [estimator]
