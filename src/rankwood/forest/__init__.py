"""Trained trees as flat arrays, the same for every engine, and a fast scorer made from them."""

from rankwood.forest.conversion import forest_of
from rankwood.forest.early_exit import EarlyExit
from rankwood.forest.record import Forest

__all__ = ["EarlyExit", "Forest", "forest_of"]
