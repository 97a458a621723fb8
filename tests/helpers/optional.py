"""Packages that need not be installed: a test that uses one which isn't there is skipped (see conftest.py)."""

from importlib import import_module
from typing import Any


class LazyPackage:
    """A package that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pytest asks every name of a module for some of these
            raise AttributeError(name)
        module = import_module(self._name)
        if not hasattr(module, name):
            import_module(f"{self._name}.{name}")
        return getattr(module, name)
