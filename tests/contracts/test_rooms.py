"""Rooms stay small, a public name has one meaning, and nothing below estimators takes an estimator."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

from tests.helpers.source import PACKAGE, trees

LARGEST = 15
#: Folders with more modules than that, and how many they have at most. "." is the top.
CROWDED: dict[str, int] = {}

#: Modules that answer to the same calls: a name that they share has one meaning.
FAMILIES = (
    *("cli/commands/*", "reproduce/kinds/*", "forest/export/targets/*", "forest/convert/from_*"),
    *(f"engines/*/{name}" for name in ("engine", "model", "parameters", "text_check")),
)
SHARED = Path(__file__).with_name("shared_names.txt")


def family(path):
    """Return what stands for a module: the pattern of its family, or its own path."""
    return next((pattern for pattern in FAMILIES if path.match(f"{pattern}.py")), path.as_posix())


def public_names():
    """Return where each public function and class at the top of a module is defined."""
    found = defaultdict(set)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_":
                found[node.name].add(family(path))
    return found


def test_a_name_has_one_meaning():
    """Names with several meanings are in shared_names.txt, with their number; both only become smaller."""
    several = {name: sorted(where) for name, where in public_names().items() if len(where) > 1}
    lines = [line for line in SHARED.read_text("utf-8").splitlines() if line[:1] != "#"]
    listed = {name: int(count) for name, count in map(str.split, lines)}
    new = {name: where for name, where in several.items() if len(where) > listed.get(name, 1)}
    assert not new, f"these names have another meaning already: {new}"
    fewer = {name: len(several.get(name, [1])) for name in listed}
    assert fewer == listed, f"these have fewer meanings now: write the numbers into {SHARED.name}"
    assert lines == sorted(lines)


def test_folders_are_small():
    modules = Counter(p.parent.as_posix() for p in trees() if p.name != "__init__.py")
    crowded = {folder: count for folder, count in modules.items() if count > LARGEST}
    assert not crowded.keys() - CROWDED.keys(), crowded
    assert all(count <= CROWDED[folder] for folder, count in crowded.items()), crowded
    assert not CROWDED.keys() - crowded.keys(), "these are small now: take them from the list"


def test_nothing_below_estimators_takes_an_estimator():
    argument = re.compile(r"\b(?:ranker|estimator): Any\b")
    found = Counter()
    for path in trees():
        if path.parts[0] not in ("estimators", "cli"):
            found[path.as_posix()] += len(argument.findall((PACKAGE / path).read_text("utf-8")))
    assert not +found, +found
