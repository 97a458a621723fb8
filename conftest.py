"""What pytest doesn't import, and the order of files: those that take longest start first."""

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
