"""What an objective has gradients of: documents, or ordered pairs of documents."""

from typing import Any, Literal

Unit = Literal["documents", "pairs"]


def unit_of(objective: Any) -> Unit:
    """Return what an objective has gradients of; objectives of pairs say so by a class attribute `unit`."""
    return getattr(objective, "unit", "documents")


def has_pair_set(objective: Any) -> bool:
    """Return whether an objective, or the one that it lifts to pairs, sums over a pair set, as `Lambda` does."""
    return hasattr(getattr(objective, "base", objective), "pairs")
