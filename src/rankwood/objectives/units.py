"""What an objective says of itself: the unit it is about, and how it reads labels."""

from typing import Any

import numpy as np


def unit_of(objective: Any) -> str:
    """Return what an objective has gradients of: "documents", or "pairs" of documents."""
    return getattr(objective, "unit", "documents")


def base_of(objective: Any) -> Any:
    """Return the objective of documents: itself, or the one that was lifted to pairs."""
    return objective.base if unit_of(objective) == "pairs" else objective


def has_pairs(objective: Any) -> bool:
    """Tell whether an objective, or the one that was lifted, is a sum over pairs of documents."""
    return hasattr(base_of(objective), "pairs")


def read_labels(objective: Any, y: np.ndarray) -> np.ndarray:
    """Return the labels as an objective reads them: as its part `labels` says, or as they are."""
    return objective.labels.read(y) if hasattr(objective, "labels") else y
