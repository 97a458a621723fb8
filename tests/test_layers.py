"""Imports go one way: _core <- data <- metrics <- objectives <- engines <- forest <- export <- training <- neural <-
report, datasets <- tuning <- reproduce <- cli."""

import ast
import subprocess
import sys
from pathlib import Path

import rankwood

ROOT = Path(rankwood.__file__).parent
LAYERS = [
    ["_version", "_core"],
    ["stats"],
    ["data"],
    ["metrics"],
    ["objectives"],
    ["extend", "parts", "testing", "torch"],
    ["diagnostics", "diagnosis", "_position_weights"],
    ["engines"],
    ["forest"],
    ["export"],
    ["training", "ranker", "twostage"],
    ["neural", "distributed"],
    ["report", "datasets"],
    ["explanation"],
    ["callbacks"],
    ["mlflow"],
    ["tuning", "spaces"],
    ["reproduce"],
    ["cli", "__main__"],
]

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("rankwood"):
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]


def test_no_import_goes_backward():
    files = [p for p in ROOT.rglob("*.py") if p.name != "__init__.py" or p.parent != ROOT]
    assert len(files) > 20
    for path in files:
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for name in imported(path):
            level = LEVEL.get(name, LEVEL["training"])  # names of the package itself
            assert level <= LEVEL[own], f"{path.name} of {own} imports {name}"


def test_only_core_imports_numba():
    for path in ROOT.rglob("*.py"):
        names = [
            alias.name if isinstance(node, ast.Import) else node.module or ""
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        ]
        own = path.relative_to(ROOT).parts[0]
        assert own == "_core" or not any(n.split(".")[0] == "numba" for n in names), path


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
    for folder in (path.parent for path in ROOT.glob("[a-z]*/__init__.py")):
        assert folder.name in {*rankwood._MODULES, "cli"}, folder


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
