"""Versions of the packages behind a result."""

from importlib import metadata

#: Packages that are installed under several names.
_NAMES = {"xgboost": ("xgboost", "xgboost-cpu")}


def version_of(package: str) -> str | None:
    """Return the version of a package by the name that it is imported by; None if it isn't installed."""
    for name in _NAMES.get(package, (package,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None
