"""The digest of kernels covers every module with compiled code, and no prose."""

import ast
import inspect

import pytest

from rankwood._kernels import parts, verbs
from rankwood._kernels.compile import jit
from rankwood._kernels.compile.digest import code_of, kernel_files
from rankwood.data.letor import parse
from rankwood.metrics.parts import dcg
from tests.helpers.source import PACKAGE, trees

#: What makes compiled code of a function, or a part of a class.
DECORATORS = {"jit", "inner", "inline", "uncounted", "uncounted_inline", "verb", "part", "overload"}


def decorators(tree):
    """Yield the names of all decorators of a module."""
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            yield getattr(called, "id", getattr(called, "attr", ""))


def test_decorators_are_called_so():
    assert all(hasattr(jit, name) for name in DECORATORS - {"verb", "part", "overload"})
    assert verbs.verb and parts.part


def test_every_module_with_compiled_code_counts():
    compiled = {path for path, tree in trees().items() if DECORATORS & set(decorators(tree))}
    assert len(compiled) > 50
    covered = {path.relative_to(PACKAGE) for path in kernel_files()}
    assert not compiled - covered, "name these in _kernels/compile/digest.py"


def test_every_file_of_the_digest_exists():
    assert all(path.is_file() for path in kernel_files())


@pytest.mark.parametrize("module", [parse, dcg])
def test_prose_does_not_count_and_code_does(module):
    source = inspect.getsource(module)
    opening = ast.get_docstring(ast.parse(source), clean=False)
    assert code_of(source.replace(opening, "Text of another edition.")) == code_of(source)
    assert code_of(f"# A comment.\n{source}") == code_of(source)
    assert code_of(f"{source}\nCHANGED = True\n") != code_of(source)
