"""What pytest doesn't import, the order of files, and tests of packages that aren't installed."""

import re
from collections import Counter
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

_NEEDS_CUDA = ("compiled", "compiled_columns", "launch")  # these need numba-cuda
collect_ignore = (
    []
    if find_spec("numba_cuda")
    else [f"src/rankwood/_core/cuda/{name}.py" for name in _NEEDS_CUDA]
)
#: Where parts are.
_PARTS = (
    "src/rankwood/_core/",
    "src/rankwood/extend.py",
    "src/rankwood/metrics/",
    "src/rankwood/objectives/",
)
#: Files that take long though they have few tests; each is the work of one process (--dist loadfile).
_LONG = (
    "tests/test_docs.py",
    "tests/test_ranker.py",
    "tests/test_examples.py",
    "tests/neural/test_ranker.py",
    "tests/neural/test_files.py",
    "tests/engines/test_catboost.py",
    "tests/engines/test_bi_engines.py",
    "tests/reproduce/test_running.py",
    "tests/test_scikit_learn.py",
    "tests/test_cli.py",
    "tests/test_twostage.py",
    "tests/tuning/test_tune.py",
    "tests/reproduce/test_pages.py",
)


#: Packages of the extra `test-all` in pyproject.toml that `test` hasn't got, by the names that they are imported by.
_LARGE = (
    *(
        "catboost",
        "dask",
        "distributed",
        "fastapi",
        "flaml",
        "httpx",
        "ir_measures",
        "mlflow",
        "onnx",
    ),
    *("onnxruntime", "optuna", "polars", "pyarrow", "pytrec_eval", "safetensors", "shap", "torch"),
    *("treelite", "ruff", "mypy"),
)
_ABSENT = {name for name in _LARGE if find_spec(name) is None}
#: Modules that can't be imported without a package; pytest would leave them half imported.
_MODULES = {
    "catboost": [
        f"src/rankwood/engines/catboost/{name}.py" for name in ("engine", "model", "parameters")
    ],
    "torch": ["src/rankwood/torch", "src/rankwood/neural/architectures", "tests/torch_lists.py"],
}
collect_ignore += [path for name in _ABSENT & _MODULES.keys() for path in _MODULES[name]]
#: What an error says that is due to a missing package, whether a test sees it itself or in the output of a program.
_MISSING = re.compile(r"No module named '(\w+)|needs? the package (\w+)|(pyarrow) is required")


def _skip_if_absent(report, path):
    """Let a test, or a file of tests, that failed for want of a package count as skipped."""
    if report.failed and _ABSENT:
        found = {name for names in _MISSING.findall(str(report.longrepr)) for name in names}
        if absent := sorted(found & _ABSENT):
            report.outcome = "skipped"
            report.longrepr = (str(path), 0, f"Skipped: {absent[0]} is not installed")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Skip tests of packages that aren't installed."""
    return _skip_if_absent((yield), item.path)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip files of tests of packages that aren't installed."""
    return _skip_if_absent((yield), getattr(collector, "path", ""))


def pytest_collection_modifyitems(items):
    """Start with long files, then those with many tests, so that no process is left alone with a long one."""
    root = Path(__file__).parent
    file = {item: item.path.relative_to(root).as_posix() for item in items}
    tests = Counter(file.values())
    rank = {name: place for place, name in enumerate(_LONG)}
    items.sort(key=lambda item: (rank.get(file[item], len(_LONG)), -tests[file[item]], file[item]))


@pytest.fixture(autouse=True)
def _example(request):
    """Run an example with what it imports alone, in an empty folder; forget the names that it registers.

    Examples of parts run as plain Python: each part is of a type of its own, which would take seconds to compile.
    """
    if not isinstance(request.node, DoctestItem):
        yield
        return
    request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
    from rankwood._core.parts import PARTS
    from rankwood.metrics.registry import METRICS
    from rankwood.objectives.families.registry import OBJECTIVES
    from rankwood.testing import interpreted

    request.node.dtest.globs.clear()
    request.node.dtest.globs["__name__"] = "__main__"
    before = [(table, dict(table)) for table in (PARTS, METRICS, OBJECTIVES)]
    path = request.path.relative_to(Path(__file__).parent).as_posix()
    with interpreted() if path.startswith(_PARTS) else nullcontext():
        yield
    for table, kept in before:
        table.clear()
        table.update(kept)
