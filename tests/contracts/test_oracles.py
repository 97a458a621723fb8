"""Oracles are independent: they import nothing from the package, nor what tests share."""

import ast
import sys

import pytest

from tests.helpers.paths import TESTS

ORACLES = sorted((TESTS / "oracles").glob("*.py"))
ALLOWED = {"lightgbm", "numpy", "scipy"}


def imports(tree):
    """Yield the modules that a syntax tree imports, wherever that is, and by a call too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Name) and node.id in ("import_module", "__import__"):
            yield node.id


def own(name):
    """Tell whether a module is the standard library's, an allowed package's, or another oracle."""
    first = name.split(".")[0]
    return first in ALLOWED | sys.stdlib_module_names or name.startswith("tests.oracles")


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_an_oracle_imports_nothing_from_the_package(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [name for name in imports(tree) if not own(name)] == []


@pytest.mark.parametrize(
    "code",
    [
        "import rankwood as rw",
        "def f():\n    from rankwood.forest import Forest",
        "from tests.helpers.oracle import ORACLE",
        "from .. import helpers",
        "import_module('rankwood')",
    ],
)
def test_other_imports_are_seen(code):
    assert [name for name in imports(ast.parse(code)) if not own(name)]


def test_there_are_many():
    assert len(ORACLES) > 10
