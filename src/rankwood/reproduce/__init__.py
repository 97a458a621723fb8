"""Every table and figure of the papers by one command: recipes are data, and one runner runs them all."""

from rankwood.reproduce.reproduction import ItemInfo, items, run
from rankwood.reproduce.result import Result

__all__ = ["ItemInfo", "Result", "items", "run"]
