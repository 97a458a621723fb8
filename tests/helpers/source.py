"""The package's own source, as syntax trees."""

import ast
from functools import cache
from pathlib import Path

import rankwood

PACKAGE = Path(rankwood.__file__).parent


@cache
def trees():
    """Return the syntax tree of every module, by its path in the package."""
    found = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE): ast.parse(path.read_text("utf-8")) for path in found}


def room(path):
    """Return the folder at the top, or the module at the top, that a path belongs to."""
    return path.parts[0].removesuffix(".py")
