"""Public modules and their names: what the reference shows, and what tests/docs/test_docstrings.py checks."""

import ast
import inspect
import re
import types
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

#: Public modules in the order of the reference, and what each is for.
MODULES = {
    "rankwood": "What most programs need: data, training, evaluation, comparison.",
    "rankwood.datasets": "Public data sets: reading them as they are distributed, checking and describing them.",
    "rankwood.metrics": "Metrics as parts, for compositions that have no name.",
    "rankwood.objectives": "Objectives, and the parts that they are composed of.",
    "rankwood.callbacks": "Functions that `fit` calls after each round: logs, files, live curves, trackers.",
    "rankwood.diagnostics": "What an objective does: its pairs, their weights, and pushes in the wrong direction.",
    "rankwood.report": "Comparison of models, and tables of their best and worst queries.",
    "rankwood.report.plots": "Pictures of objectives, models and queries.",
    "rankwood.report.page": "The report page: one HTML file about one model or several.",
    "rankwood.explanation": "Why a document is where it is: contributions, importances, partial dependence.",
    "rankwood.forest": "The trees of a model as flat arrays.",
    "rankwood.export": "Models for search engines and other programs.",
    "rankwood.mlflow": "Models in MLflow.",
    "rankwood.stats": "Tests of significance, intervals and effect sizes for paired differences.",
    "rankwood.tuning": "The search for parameters and its result.",
    "rankwood.spaces": "Search spaces.",
    "rankwood.distributed": "Clusters: the error of a lost worker, and metrics of Dask collections.",
    "rankwood.reproduce": "Tables and figures of papers.",
    "rankwood.neural": "Networks with the interface of `Ranker`.",
    "rankwood.torch": "Objectives as losses in PyTorch.",
    "rankwood.extend": "What objectives and metrics of your own need.",
    "rankwood.testing": "Checks of parts of your own, and gradients by plain loops.",
    "rankwood.parts": "The parts of `rankwood.metrics` and `rankwood.objectives`, by one import.",
}
_COMMENT = r"(?P<text>(?:^#:.*\n)+)^{name}\b\s*[:=]"


class Entry(NamedTuple):
    """A public name: its module, itself, and what it stands for."""

    module: str
    name: str
    value: Any

    @property
    def kind(self) -> str:
        """Return "class", "function", or "data" for constants and annotations."""
        if inspect.isclass(self.value):
            return "class"
        # Compiled kernels are objects with the function inside.
        return "function" if inspect.isfunction(_plain(self.value)) else "data"

    @property
    def comment(self) -> str:
        """Return the comment above the definition of a constant, without its marks; "" if there is none."""
        return _comment(self.module, self.name)


def entries() -> Iterator[Entry]:
    """Yield the public names of all modules; one that several modules have comes once, with the first of them."""
    seen: set[int] = set()
    for module in MODULES:
        loaded = import_module(module)
        for name in sorted(loaded.__all__, key=str.lower):
            entry = Entry(module, name, getattr(loaded, name))
            if isinstance(entry.value, types.ModuleType) or name == "__version__":
                continue
            if entry.kind != "data" and id(entry.value) in seen:
                continue
            seen.add(id(entry.value))
            yield entry


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class that the package defines, those of its own base classes included.

    Parts have none for users: kernels call their methods.
    """
    for name in [] if is_part(cls) else dir(cls):
        found = inspect.getattr_static(cls, name)
        method = getattr(found, "__func__", found)
        if name.startswith("_") or name in getattr(cls, "__dataclass_fields__", ()):
            continue
        if inspect.isfunction(method) and method.__module__.startswith("rankwood"):
            yield name, method


def is_part(cls: Any) -> bool:
    """Tell whether a class is a part."""
    return hasattr(cls, "Lowered")


def _plain(value: Any) -> Any:
    return getattr(value, "py_func", value)


@cache
def _comment(module: str, name: str) -> str:
    file = import_module(module).__file__
    assert file is not None
    source = Path(file).read_text(encoding="utf-8")
    found = re.search(_COMMENT.format(name=name), source, re.MULTILINE)
    if found:
        return re.sub(r"^#: ?", "", found["text"], flags=re.MULTILINE).strip()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return _comment(node.module or "", name)
    return ""
