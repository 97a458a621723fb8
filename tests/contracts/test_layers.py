"""Imports go one way, from the rooms of a layer to those of the same layer and of the layers before it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankwood
from tests.helpers.source import PACKAGE, room, trees

LAYERS = [
    ["_version", "_util"],
    ["_kernels"],
    ["render", "stats"],
    ["data"],
    ["metrics"],
    ["objectives"],
    ["parts", "testing"],
    ["diagnostics"],
    ["engines"],
    ["extend"],
    ["forest", "export", "explanation"],
    ["fit", "callbacks"],
    ["neural", "torch", "cluster", "distributed"],
    ["report", "datasets"],
    ["estimators"],
    ["mlflow"],
    ["tuning", "spaces"],
    ["reproduce"],
    ["cli", "__main__"],
]

#: Folders that no user imports.
INSIDE = ("cli", "cluster", "estimators", "fit", "render")
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


#: Rooms that import a later room by a string, and must not: (room, imported room).
BACKWARD: set[tuple[str, str]] = set()
MODULE = re.compile(r"rankwood\.(\w+)(\.\w+)*")


def imported(path, tree):
    """Yield the rooms that a module imports, wherever in the module that is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] for parts in names if parts[0] == "rankwood" and len(parts) > 1)
        elif isinstance(node, ast.ImportFrom):
            folders = path.parent.parts[: len(path.parent.parts) + 1 - node.level]
            below = ".".join(["rankwood", *folders]) if node.level else ""
            parts = ".".join(filter(None, [below, node.module])).split(".")
            if parts[0] == "rankwood":
                yield from (
                    [parts[1]] if parts[1:] else [room_of(alias.name) for alias in node.names]
                )


def room_of(name):
    """Return the room that a name of the package itself comes from."""
    if name in LEVEL:
        return name
    module = rankwood._LATER.get(name) or getattr(rankwood, name).__module__
    return module.split(".")[1]


def called_by_name(node):
    """Return the start of the name that a call of import_module or __import__ has, or None."""
    function = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    if function not in ("import_module", "__import__") or not node.args:
        return None
    text = node.args[0]
    if isinstance(text, ast.JoinedStr):
        text = text.values[0]
    return text.value if isinstance(text, ast.Constant) else None


def imported_by_string(tree):
    """Yield the rooms in arguments of `import_module`, and in texts that are the name of a module and nothing else."""
    for node in ast.walk(tree):
        text = None
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            text = called_by_name(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value if MODULE.fullmatch(node.value) else None
        found = MODULE.match(text or "")
        if found and found[1] in LEVEL:
            yield found[1]


def files():
    # The package itself, and the face of the networks, show names of later rooms.
    faces = (Path("__init__.py"), Path("neural/__init__.py"))
    found = {path: tree for path, tree in trees().items() if path not in faces}
    assert len(found) > 20
    return found.items()


def test_no_import_goes_backward():
    for path, tree in files():
        for name in imported(path, tree):
            assert LEVEL[name] <= LEVEL[room(path)], f"{path} imports {name}"


def test_no_import_by_a_string_goes_backward():
    found = {
        (room(path), name): path
        for path, tree in files()
        for name in imported_by_string(tree)
        if LEVEL[name] > LEVEL[room(path)]
    }
    assert not found.keys() - BACKWARD, found
    assert not BACKWARD - found.keys(), "these no longer are: take them from the list"


@pytest.mark.parametrize(
    "code",
    [
        'import_module("rankwood.cli.main")',
        'importlib.import_module(f"rankwood.cli.{name}")',
        '__import__("rankwood.cli")',
        'WHERE = {"a": "rankwood.cli.main"}',
        'def later():\n    return import_module("rankwood.cli", None)',
    ],
)
def test_imports_by_strings_are_seen(code):
    assert set(imported_by_string(ast.parse(code))) == {"cli"}


@pytest.mark.parametrize(
    "code",
    [
        "import rankwood.cli.main",
        "from rankwood.cli import main",
        "from rankwood import cli",
        "def later():\n    from rankwood.cli.main import a",
        "from .. import cli",
        "from ..cli import main",
    ],
)
def test_imports_are_seen(code):
    assert list(imported(Path("data/groups.py"), ast.parse(code))) == ["cli"]


def test_only_kernels_imports_numba():
    for path, tree in trees().items():
        names = [
            alias.name if isinstance(node, ast.Import) else node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        ]
        assert room(path) == "_kernels" or not any(n.split(".")[0] == "numba" for n in names), path


def test_importing_has_no_side_effects():
    code = (
        "import sys, os, random, numpy as np, logging\n"
        "before = (random.getstate(), np.random.get_state()[1].tobytes(), dict(os.environ), logging.root.handlers[:])\n"
        "import rankwood\n"
        "after = (random.getstate(), np.random.get_state()[1].tobytes(), dict(os.environ), logging.root.handlers[:])\n"
        "assert before == after\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'lightgbm' not in sys.modules and 'sklearn' not in sys.modules and 'pandas' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_modules_are_attributes():
    code = "import rankwood as rw\n" + "\n".join(
        f"assert rw.{name}.__name__ == 'rankwood.{name}'" for name in rankwood._MODULES
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for folder in (path.parent for path in PACKAGE.glob("[a-z]*/__init__.py")):
        assert folder.name in {*rankwood._MODULES, *INSIDE}, folder


def test_every_printed_composition_can_be_imported_from_one_place():
    from rankwood import parts
    from rankwood.metrics.registry import METRICS
    from rankwood.objectives.families.registry import OBJECTIVES

    scope = {name: getattr(parts, name) for name in parts.__all__}
    for name, row in OBJECTIVES.items():
        text = f"{name}@7" if any(p.name == "k" for p in row.parameters) else name
        for made in (rankwood.objective(text), rankwood.objective(f"bi-{text}")):
            assert eval(repr(made), scope) == made, text
    for name in METRICS:
        made = rankwood.metric(name if name in ("arp", "rprec") else f"{name}@7")
        assert eval(repr(made), scope) == made, name
