"""What pytest doesn't import, and tests of packages that aren't installed."""

import re
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

_NEEDS_CUDA = ("compiled", "compiled_columns", "launch")  # these need numba-cuda
collect_ignore = (
    []
    if find_spec("numba_cuda")
    else [f"src/rankwood/_kernels/cuda/{name}.py" for name in _NEEDS_CUDA]
)
#: Where parts are.
_PARTS = (
    "src/rankwood/_kernels/",
    "src/rankwood/extend.py",
    "src/rankwood/metrics/",
    "src/rankwood/objectives/",
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
    *("treelite", "ruff", "mypy", "numpydoc"),
)
_ABSENT = {name for name in _LARGE if find_spec(name) is None}
#: Modules that can't be imported without a package; pytest would leave them half imported.
_MODULES = {
    "catboost": [
        f"src/rankwood/engines/catboost/{name}.py" for name in ("engine", "model", "parameters")
    ],
    "torch": [
        "src/rankwood/torch",
        "src/rankwood/neural/architectures",
        "tests/helpers/torch_lists.py",
    ],
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


@pytest.fixture(autouse=True)
def _example(request):
    """Run an example with what it imports alone, in an empty folder; forget the names that it registers.

    Examples of parts run as plain Python: each part is of a type of its own, which would take seconds to compile.
    """
    if not isinstance(request.node, DoctestItem):
        yield
        return
    request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
    from rankwood._kernels.parts import PARTS
    from rankwood.engines.base import ENGINES
    from rankwood.metrics.registry import METRICS
    from rankwood.objectives.families.registry import OBJECTIVES
    from rankwood.testing import interpreted

    request.node.dtest.globs.clear()
    request.node.dtest.globs["__name__"] = "__main__"
    before = [(table, dict(table)) for table in (PARTS, METRICS, OBJECTIVES, ENGINES)]
    path = request.path.relative_to(Path(__file__).parent).as_posix()
    with interpreted() if path.startswith(_PARTS) else nullcontext():
        yield
    for table, kept in before:
        table.clear()
        table.update(kept)
