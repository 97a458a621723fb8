"""Packages that need not be installed: a test that uses one which isn't there is skipped (see conftest.py)."""

from importlib import import_module
from typing import Any


class LazyPackage:
    """A package that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        module = import_module(self._name)
        try:
            return getattr(module, name)
        except AttributeError:
            return import_module(f"{self._name}.{name}")
