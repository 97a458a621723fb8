"""Every public name has what its page of the reference needs.

The list of public modules is that of the site, docs/site/names.py. The rules:

- A function, a verb and a method have Parameters if they have arguments, and Returns (or Yields) if they return
  something.
- A class has Parameters, or Attributes if users get it from a function, unless it takes no arguments.
- Functions and classes have Examples, which are run: by pytest (--doctest-modules), or here where pytest doesn't find
  them. A method needs no example, as that of its class shows how it is used. Methods of parts are called by kernels and
  are not in the reference: the pages of verbs describe them.
- A constant, or an annotation of fields, has a comment of `#:` above it.
"""

import doctest
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import rankwood

ROOT = Path(__file__).parents[1]
SECTIONS = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples"]
#: Examples that can't be run without packages that the tests do without.
NEED_MORE = {"LiveCurve": "ipython", "MLflow": "mlflow", "TensorBoard": "tensorboard"}


def load_names():
    spec = importlib.util.spec_from_file_location("names", ROOT / "docs" / "site" / "names.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("names", module)
    spec.loader.exec_module(module)
    return module


names = load_names()
EVERY = {f"{entry.module}.{entry.name}": entry for entry in names.entries()}
METHODS = {
    f"{path}.{name}": method
    for path, entry in EVERY.items()
    if entry.kind == "class"
    for name, method in names.methods(entry.value)
}


def sections(doc):
    """Return the headings of a docstring, in their order."""
    return re.findall(r"^(\w[\w ]*)\n-{3,}$", doc, re.MULTILINE)


def arguments(found):
    try:
        return set(inspect.signature(found).parameters) - {"self", "cls"}
    except ValueError:  # exceptions
        return set()


def lacks(found):
    """Return the sections that a function, a method or a class must have and doesn't, and sections out of order."""
    doc = inspect.getdoc(found) or ""
    if not doc:
        return ["a docstring"]
    if doc.endswith("deprecated."):
        return []
    has, missing = sections(doc), []
    if inspect.isclass(found):
        if arguments(found) and not {"Parameters", "Attributes"} & set(has):
            missing.append("Parameters")
    else:
        if arguments(found) and "Parameters" not in has:
            missing.append("Parameters")
        annotation = inspect.signature(found).return_annotation
        untyped = annotation is inspect.Signature.empty and re.search(r"\b[Rr]eturns? ", doc)
        returns = untyped or annotation not in (None, "None", inspect.Signature.empty)
        if returns and not {"Returns", "Yields"} & set(has):
            missing.append("Returns")
    order = [SECTIONS.index(title) for title in has if title in SECTIONS]
    return missing + (["sections in order"] if order != sorted(order) else [])


@pytest.mark.parametrize("path", EVERY)
def test_a_name_has_the_sections_of_its_page(path):
    entry = EVERY[path]
    if entry.kind == "data":
        assert entry.comment.endswith("."), f"{path} has no comment of #: above it"
        return
    assert lacks(entry.value) == []


@pytest.mark.parametrize("path", METHODS)
def test_a_method_has_the_sections_of_its_page(path):
    assert lacks(METHODS[path]) == []


def statements(doc):
    """Return the statements of the examples that are run and are more than an import."""
    found = doctest.DocTestParser().get_examples(doc)
    run = [one.source for one in found if not one.options.get(doctest.SKIP)]
    return [one for one in run if not re.match(r"(import|from) ", one)]


WITH_EXAMPLE = {path: entry for path, entry in EVERY.items() if entry.kind != "data"}


@pytest.mark.parametrize("path", WITH_EXAMPLE)
def test_a_name_has_an_example_that_is_run(path):
    entry = WITH_EXAMPLE[path]
    doc = inspect.getdoc(entry.value) or ""
    assert "Examples" in sections(doc)
    example = doc.split("Examples\n---")[1]
    assert bool(statements(example)) == (entry.name not in NEED_MORE)
    if "Attributes" not in sections(doc):  # results come from the function that the example calls
        assert re.search(rf"\b{entry.name}\b", example), "the example shows something else"


def found_by_pytest(found):
    """Tell whether pytest collects the examples of a function or class."""
    module = sys.modules[found.__module__]
    if inspect.isclass(found) or not inspect.isfunction(found):
        return True
    return found.__globals__ is vars(module)


HERE = {
    path: entry.value
    for path, entry in EVERY.items()
    if entry.kind == "function" and not found_by_pytest(entry.value)
}


@pytest.mark.parametrize("path", HERE)
def test_the_example_of_a_verb_prints_what_it_shows(path):
    test = doctest.DocTestParser().get_doctest(
        inspect.getdoc(HERE[path]), {"__name__": "__main__"}, path, None, 0
    )
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


def test_every_module_with_public_names_is_in_the_reference():
    attributes = [f"rankwood.{name}" for name in rankwood._MODULES]
    public = [name for name in attributes if hasattr(importlib.import_module(name), "__all__")]
    assert set(public) <= set(names.MODULES)


def test_there_are_many():
    assert len(EVERY) > 240 and len(METHODS) > 60 and len(HERE) > 25
