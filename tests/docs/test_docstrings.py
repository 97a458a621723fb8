"""Every public name has what its page of the reference needs, by numpydoc's own rules.

The list of public modules is that of the site, docs/site/names.py. Examples are run by pytest (--doctest-modules), or
here where pytest doesn't find them. A constant, or an annotation of fields, has a comment of `#:` above it.
"""

import doctest
import importlib.util
import inspect
import sys

import pytest

import rankwood
from tests.helpers.paths import ROOT

#: Rules of numpydoc: docstrings, their summaries, known sections in their order, and all parameters and results.
RULES = {"GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "PR01", "PR02", "RT01", "YD01"}


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


def broken_rules(path, value):
    """Return what numpydoc finds wrong with the docstring of a public name."""
    from numpydoc.validate import validate

    found = validate(path)
    broken = {code: message for code, message in found["errors"] if code in RULES}
    if "\nAttributes\n---" in found["docstring"]:  # users get it from a function
        broken.pop("PR01", None)
    if hasattr(value, "verb"):  # kernels of verbs may return, but their callers get nothing
        broken.pop("RT01", None)
    if path == "rankwood.extend.part":  # it is a decorator with and without arguments
        broken.pop("PR02", None)
    return broken


def test_docstrings_follow_numpydoc():
    values = {path: entry.value for path, entry in EVERY.items() if entry.kind != "data"} | METHODS
    broken = {path: broken_rules(path, value) for path, value in values.items()}
    assert not {path: rules for path, rules in broken.items() if rules}


def test_constants_have_a_comment():
    data = {path: entry for path, entry in EVERY.items() if entry.kind == "data"}
    assert data
    assert not [path for path, entry in data.items() if not entry.comment.endswith(".")]


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
    assert len(EVERY) > 240 and len(METHODS) > 60 and len(HERE) > 15
