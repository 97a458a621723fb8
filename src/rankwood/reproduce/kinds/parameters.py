"""Tables of parameters: those that a recipe fixes, those that a tuner chose, or the space it searched."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from rankwood._util import checks
from rankwood.render.table import Cell, Table
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.content import Content
from rankwood.reproduce.plan import Request, Work, exists, place_of, requests, row_spec
from rankwood.reproduce.recipes.recipe import Item, Recipe, Row
from rankwood.reproduce.recipes.template import setting_key, settings

KEYS: frozenset[str] = frozenset({"of", "of_protocol", "of_space"})
_CSV = ("role", "group", "row", "setting", "parameter", "ours", "paper")


def check(item: Item) -> None:
    """Raise unless the item says where its parameters are."""
    if len(item.extra) != 1:
        raise checks.InputError(
            f"item {item.name!r}: give one of the keys 'of', 'of_protocol' and 'of_space'."
        )


def needs_data(recipe: Recipe, item: Item) -> bool:
    """Tell whether the parameters are those that a tuner chooses."""
    if "of" not in item.extra:
        return False
    other = _other(recipe, item)
    names = {row.protocol or other.protocol for row in other.rows} - {None}
    return any(recipe.protocols[str(name)].tuner for name in names)


def _other(recipe: Recipe, item: Item) -> Item:
    """Return the item whose rows the parameters are of."""
    name = item.extra["of"]
    if name not in recipe.items:
        near = checks.nearest(str(name), recipe.items)
        raise checks.InputError(f"item {item.name!r}: there is no item {name!r}{near}")
    return recipe.items[name]


def _of_other(work: Work) -> Work:
    """Return the other item with the same data."""
    return Work(work.recipe, _other(work.recipe, work.item), work.options, work.sources)


def _same(other: Item, row: Row) -> Row | None:
    """Return the row of the other item with the same name, of the same group if both have one."""
    named = [r for r in other.rows if r.name == row.name]
    grouped = [r for r in named if not row.group or r.group == row.group]
    return next(iter(grouped or named), None)


def _complete(other: Item, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of names with the first one of each name that the other item has besides."""
    return {**settings(other.over)[0], **setting}


def plan(work: Work) -> list[Request]:
    """Return the tuned cells of the other item, if it is tuned."""
    if not needs_data(work.recipe, work.item):
        return []
    other = _of_other(work)
    found = [_same(other.item, row) for row in work.rows]
    every = [_complete(other.item, setting) for setting in settings(work.item.over)]
    return [r for row in found if row is not None for r in requests(other, row, every)]


class ParameterLine(NamedTuple):
    """The parameters of a row for a role and a setting: ours and the paper's, as texts."""

    role: str
    row: Row
    setting: Mapping[str, Any]
    ours: list[str]
    paper: list[str]


def show(work: Work, found: Found) -> Content:
    """Return one table of all roles and rows."""
    lines = _space_lines(work) if "of_space" in work.item.extra else _lines(work, found)
    names = [str(name) for name in work.item.columns]
    headings = ["role", "row", *(["for"] if work.item.over else [])]
    text_columns = len(headings)
    for name in names:
        headings += [name, "paper"]
    rows = []
    for line in lines:
        name = f"{line.row.group}: {line.row.name}" if line.row.group else line.row.name
        cells = [Cell(line.role), Cell(name)]
        cells += [Cell(setting_key(line.setting))] if work.item.over else []
        for ours, paper in zip(line.ours, line.paper, strict=True):
            cells += [Cell(ours or "–"), Cell(paper or "–")]
        rows.append(cells)
    table = Table("Parameters", headings, rows, len(headings) - text_columns)
    records = [
        [line.role, line.row.group, line.row.name, setting_key(line.setting), *both]
        for line in lines
        for both in zip(names, line.ours, line.paper, strict=True)
    ]
    return Content(tables=[table], headings=_CSV, records=records)


def _lines(work: Work, found: Found) -> list[ParameterLine]:
    tuned = needs_data(work.recipe, work.item)
    every, columns = settings(work.item.over), len(work.item.columns)
    made = []
    for role in work.roles if tuned else work.item.roles:
        for row in work.rows:
            for i, setting in enumerate(every):
                printed = row.printed.get(role, [])[i * columns : (i + 1) * columns]
                paper = [_value_text(value) for value in printed] or [""] * columns
                ours = _ours(work, found, row, role, setting)
                made.append(ParameterLine(role, row, setting, ours, paper))
    return made


def _ours(work: Work, found: Found, row: Row, role: str, setting: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a row: chosen by a tuner, or as the recipe has them."""
    names = [str(name) for name in work.item.columns]
    if "of_protocol" in work.item.extra:
        params = work.recipe.protocols[work.item.extra["of_protocol"]].params
        fixed = {**params.get("*", {}), **params.get(role, {})}
        return [_value_text(fixed.get(name)) for name in names]
    other = _of_other(work)
    same = _same(other.item, row)
    if same is None or not exists(same, _complete(other.item, setting)):
        return [""] * len(names)
    setting = _complete(other.item, setting)
    spec = row_spec(other, same, role, setting)
    if same.model == "first-stage":
        spec = spec["two_stage"]["first"]
    chosen = [r.get("chosen", {}) for r in found.results(place_of(role, same, setting))]
    return [_of_cells(name, spec, chosen) for name in names]


def _of_cells(name: str, spec: Mapping[str, Any], chosen: list[Mapping[str, Any]]) -> str:
    """Return a parameter of a row: those chosen for each fold and seed, or the fixed one."""
    for known in _names_in_spaces(name):
        if any(known in one for one in chosen):
            return " / ".join(_value_text(one.get(known)) for one in chosen)
    if name in spec["params"]:
        return _value_text(spec["params"][name])
    inside = re.search(rf"\b{re.escape(name)}=([^,)]+)", str(spec["objective"]))
    return inside[1] if inside else ""


def _names_in_spaces(name: str) -> list[str]:
    """Return what spaces may call a parameter; the truncation level of a paper is the k of an objective."""
    return [name, f"objective.{name}", *(["objective.k"] if name == "truncation" else [])]


def _value_text(value: Any) -> str:
    """Return a parameter as a text; an empty one for none or NaN."""
    if value is None or value != value:
        return ""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_value_text, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _space_lines(work: Work) -> list[ParameterLine]:
    """Return what the paper says about its space beside what ours says about each parameter."""
    from rankwood import spaces

    space = spaces.named(work.item.extra["of_space"], objective="lambdaloss-ndcg++@10")
    made = []
    for row in work.rows:
        paper = [_value_text(value) for value in row.values.get("space", [])]
        names = [name for name in _names_in_spaces(row.name) if name in space]
        ours = [repr(space[names[0]]) if names else ""] + [""] * (len(paper) - 1)
        made.append(ParameterLine("", row, {}, ours, paper))
    return made
