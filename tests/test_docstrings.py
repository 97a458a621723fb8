"""Public functions, methods and parts have numpydoc sections."""

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

MODULES = [
    *("rankwood", "rankwood.stats", "rankwood.report", "rankwood.report.plots"),
    *(
        "rankwood.report.page",
        "rankwood.callbacks",
        "rankwood.explanation",
        "rankwood.mlflow",
        "rankwood.diagnostics",
        "rankwood.testing",
        "rankwood.parts",
        "rankwood.extend",
    ),
]
WRITERS = {"save_letor", "save_qrels", "save_run"}  # an example would leave a file


def public():
    """Public functions, classes and methods, each once, by a name to report."""
    seen = {}
    for name in MODULES:
        module = import_module(name)
        for attribute in module.__all__:
            found = getattr(module, attribute)
            if getattr(found, "__module__", "").startswith("rankwood"):
                seen.setdefault(id(found), (f"{name}.{attribute}", found))
    for name, found in list(seen.values()):
        yield name, found
        if inspect.isclass(found) and not is_dataclass(found):
            for attribute, method in vars(found).items():
                plain = getattr(method, "__func__", method)
                if not attribute.startswith("_") and inspect.isfunction(plain):
                    yield f"{name}.{attribute}", plain


EVERY = dict(public())


def lacks(name, found):
    doc = inspect.getdoc(found) or ""
    if not doc:
        return ["a docstring"]
    if doc.endswith("deprecated.") or hasattr(
        found, "verb"
    ):  # verbs are listed in the architecture
        return []
    missing = []
    if inspect.isclass(found):
        if is_dataclass(found) and fields(found) and "Parameters\n---" not in doc:
            missing.append("Parameters")
    elif inspect.isfunction(found):
        signature = inspect.signature(found)
        if set(signature.parameters) - {"self", "cls"} and "Parameters\n---" not in doc:
            missing.append("Parameters")
        returns = signature.return_annotation not in (None, "None", inspect.Signature.empty)
        if returns and not any(f"{word}\n---" in doc for word in ("Returns", "Yields")):
            missing.append("Returns")
        if (
            name.count(".") == 1
            and name.split(".")[-1] not in WRITERS
            and "Examples\n---" not in doc
        ):
            missing.append("Examples")
    return missing


@pytest.mark.parametrize("name", EVERY)
def test_numpydoc_sections(name):
    assert lacks(name, EVERY[name]) == []


def test_there_are_many():
    assert len(EVERY) > 150
