"""Trained trees as flat arrays, the same for every engine, and a fast scorer made from them."""

from rankwood.forest.convert.conversion import forest_of
from rankwood.forest.record import Forest

__all__ = ["Forest", "forest_of"]
