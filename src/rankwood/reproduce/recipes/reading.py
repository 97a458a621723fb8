"""Reading recipes: TOML files, checked key by key, so that a mistake is an error that names its place."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood.reproduce import kinds
from rankwood.reproduce.recipes.recipe import (
    Item,
    MetricColumn,
    Paper,
    Protocol,
    Recipe,
    Row,
    SignificanceTest,
)

_FOLDER = Path(__file__).parent
_SPLITS = ("test", "valid", "train", "gap")
_MODELS = ("trees", "perfect", "random", "two-stage", "first-stage")
#: Kinds whose `columns` are metrics on parts of the data; those of others are names of something else.
_METRIC_KINDS = ("metrics", "bars")


def recipe_names() -> list[str]:
    """Return the names of all papers with a recipe."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def load_recipe(name: str) -> Recipe:
    """Return the recipe of a paper by its name."""
    if name not in recipe_names():
        near = checks.nearest(name, recipe_names())
        raise checks.InputError(f"there is no paper {name!r} to reproduce{near}")
    return read_recipe(_FOLDER / f"{name}.toml")


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file; raise if anything in it is unknown, missing or of the wrong form."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise checks.InputError(f"{path.name} can't be read: {error}.") from None
    where = path.name
    _check_keys(content, {"paper", "protocols", "items"}, where)
    paper = _paper(content.get("paper", {}), f"{where}, [paper]")
    if paper.name != path.stem:
        raise checks.InputError(f"{where}: paper.name is {paper.name!r}, expected {path.stem!r}.")
    protocols = {
        name: _made(Protocol, {**given, "name": name}, f"{where}, protocol {name!r}")
        for name, given in content.get("protocols", {}).items()
    }
    items = {
        name: _item(name, given, f"{where}, item {name!r}")
        for name, given in content.get("items", {}).items()
    }
    recipe = Recipe(paper, protocols, items)
    for item in items.values():
        _check_names(recipe, item, f"{where}, item {item.name!r}")
    return recipe


def _made(kind: type, given: Mapping[str, Any], where: str) -> Any:
    """Return a record made of a table of the file; raise if a key is unknown or a needed one is missing."""
    if not isinstance(given, Mapping):
        raise checks.InputError(f"{where} must be a table, got {given!r}.")
    known = {f.name: f for f in fields(kind)}
    _check_keys(given, set(known), where)
    for name, one in known.items():
        needed = one.default is MISSING and one.default_factory is MISSING
        if needed and name not in given:
            raise checks.InputError(f"{where}: the key {name!r} is missing.")
    return kind(**given)


def _check_keys(given: Mapping[str, Any], known: set[str] | frozenset[str], where: str) -> None:
    for key in given:
        if key not in known:
            raise checks.InputError(f"{where}: unknown key {key!r}{checks.nearest(key, known)}")


def _paper(given: Mapping[str, Any], where: str) -> Paper:
    test = _made(SignificanceTest, given.get("test", {}), f"{where}, test")
    checks.one_of(test.kind, ("permutation", "t"), f"{where}, test: kind")
    checks.one_of(test.sides, (1, 2), f"{where}, test: sides")
    if len(test.levels) != len(test.marks):
        raise checks.InputError(f"{where}, test: levels and marks must be equally many.")
    made: Paper = _made(Paper, {**given, "test": test}, where)
    return made


def _item(name: str, given: Mapping[str, Any], where: str) -> Item:
    """Return an item; keys that only its kind knows are kept in `extra`."""
    if "kind" not in given:
        raise checks.InputError(f"{where}: the key 'kind' is missing.")
    kind = kinds.find(given["kind"], where)
    common = {f.name for f in fields(Item)} - {"extra", "name"}
    _check_keys(given, common | kind.KEYS, where)
    own = {key: value for key, value in given.items() if key in common}
    row_keys: frozenset[str] = getattr(kind, "ROW_KEYS", frozenset())
    own["rows"] = tuple(
        _row(row, i, row_keys, f"{where}, row {i + 1}") for i, row in enumerate(own.get("rows", ()))
    )
    if given["kind"] in _METRIC_KINDS:
        own["columns"] = tuple(_column(c, where) for c in own.get("columns", ()))
    extra = {key: value for key, value in given.items() if key not in common}
    item: Item = _made(Item, {**own, "name": name, "extra": extra}, where)
    _check_rows(item, where)
    if hasattr(kind, "check"):
        kind.check(item)
    return item


def _row(given: Mapping[str, Any], index: int, more: frozenset[str], where: str) -> Row:
    """Return a row; keys that only the kind of its item knows are kept in `extra`."""
    extra = {key: value for key, value in given.items() if key in more}
    own = {key: value for key, value in given.items() if key not in more}
    row: Row = _made(Row, {**own, "index": index, "extra": extra}, where)
    if not row.pending:
        checks.one_of(row.model, _MODELS, f"{where}: model")
    return row


def _column(given: Any, where: str) -> MetricColumn:
    column = (
        MetricColumn(given)
        if isinstance(given, str)
        else _made(MetricColumn, given, f"{where}, column")
    )
    checks.one_of(column.split, _SPLITS, f"{where}, column: split")
    return column


def _check_rows(item: Item, where: str) -> None:
    """Raise if two rows are the same, or if printed values are of a role or a number that the item lacks."""
    names = [row.name for row in item.rows]
    seen = [(row.group, row.name, repr(row.only)) for row in item.rows]
    for one in seen:
        if seen.count(one) > 1:
            raise checks.InputError(f"{where}: two rows of one group are called {one[1]!r}.")
    if item.baseline not in (None, "best", *names):
        near = checks.nearest(str(item.baseline), names)
        raise checks.InputError(f"{where}: the baseline {item.baseline!r} is not a row{near}")
    wanted = len(item.columns)
    for values in item.over.values():
        wanted *= len(values)
    for row in item.rows:
        for role, printed in {**row.printed}.items():
            if role not in item.roles:
                raise checks.InputError(
                    f"{where}, row {row.name!r}: printed values of {role!r}, which is not a role of the item."
                )
            if item.kind == "metrics" and len(printed) != wanted:
                raise checks.InputError(
                    f"{where}, row {row.name!r}: {len(printed)} printed values of {role!r}, expected {wanted}."
                )


def _check_names(recipe: Recipe, item: Item, where: str) -> None:
    """Raise if an item or one of its rows names a protocol that the recipe lacks."""
    for name in [item.protocol, *(row.protocol for row in item.rows)]:
        if name is not None and name not in recipe.protocols:
            near = checks.nearest(name, recipe.protocols)
            raise checks.InputError(f"{where}: there is no protocol {name!r}{near}")
