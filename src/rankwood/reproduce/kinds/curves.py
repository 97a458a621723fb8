"""Curves over rounds: a line for each row, a panel for each role and setting."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.fit.observers.recording import RECORDS
from rankwood.render.curve import Curve, by_round
from rankwood.render.table import Cell, Table
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages import figures
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.plan import Request, Work, exists, place_of, requests
from rankwood.reproduce.recipes.recipe import Item, Row
from rankwood.reproduce.recipes.template import fill, setting_key, setting_text, settings
from rankwood.reproduce.values import better

KEYS: frozenset[str] = frozenset({"curve", "skip", "log", "definition"})
_RECORD_OF = {curve: name for name, curves in RECORDS.items() for curve in curves}
#: What recorded curves are called in figures.
LABELS = {
    "effective_pairs": "share of effective pairs",
    "incoherent": "share of queries with an incoherent pair",
    "false_over_missed": "share of queries with a false document over a missed one",
}
_CSV = ("role", "data", "group", "row", "setting", "round", "value")


def check(item: Item) -> None:
    """Raise if there is no such curve."""
    curves = ("valid", "train", *_RECORD_OF)
    checks.one_of(item.extra.get("curve"), curves, f"item {item.name!r}: curve")
    known = (None, "program", "paper")
    checks.one_of(item.extra.get("definition"), known, f"item {item.name!r}: definition")


def wants_of(curve: str, setting: Mapping[str, Any], definition: str | None = None) -> set[str]:
    """Return what is to be recorded for a curve.

    False and missed documents are those of the setting's cutoff, by one of two definitions.
    """
    if curve == "train":
        return {"train_curve"}
    if curve not in _RECORD_OF:
        return set()
    at = f"@{setting['k']}" if curve == "false_over_missed" and "k" in setting else ""
    by = "" if definition is None else f"(definition={definition})"
    return {f"record:{_RECORD_OF[curve]}{at}{by}"}


def plan(work: Work) -> list[Request]:
    """Return the cells of all rows, with the curve."""
    curve, definition = work.item.extra["curve"], work.item.extra.get("definition")
    return [
        request
        for row in work.rows
        for setting in settings(work.item.over)
        for request in requests(work, row, [setting], wants_of(curve, setting, definition))
    ]


#: A row, and its curve: one value per round.
RowCurve = tuple[Row, Curve]


def show(work: Work, found: Found) -> Content:
    """Return the figure, and a table of where each curve is best and where it ends."""
    panels, tables, records = [], [], []
    lacking: dict[str, None] = {}
    for role in work.roles:
        for setting in settings(work.item.over):
            curves = _curves(work, found, role, setting)
            title = panel_title(work, role, setting)
            lacking |= _without(work, curves, setting)
            panels.append(_panel(work, title, curves))
            tables.append(_table(work, title, setting, curves))
            records += _records(work, role, setting, curves)
    figure = figures.lines_figure(panels, _axis(work))
    said = [
        *_convention(work),
        *([f"Rows without a curve: {', '.join(lacking)}."] if lacking else []),
    ]
    return Content(said, tables, [Drawing("", figure, work.item.title)], _CSV, records)


def _without(work: Work, curves: list[RowCurve], setting: Mapping[str, Any]) -> dict[str, None]:
    """Return the names of rows that were trained and have no such curve, in their order."""
    drawn = {row.index for row, _ in curves}
    rows = [r for r in work.rows if exists(r, setting) and r.index not in drawn]
    return {label(row): None for row in rows}


def _convention(work: Work) -> list[str]:
    """Return how curves of metrics differ from tables of the same metric, if they do."""
    rules = {**work.paper.conventions, **work.item.conventions}
    if work.item.extra["curve"] not in ("valid", "train") or rules.get("empty") != 1:
        return []
    return [
        "The curves are those by which the best round is chosen: queries without a relevant document count 0 in them, "
        "so they are lower than the values of the paper's tables, where such queries count 1."
    ]


def panel_title(work: Work, role: str, setting: Mapping[str, Any]) -> str:
    """Return the data of a panel, and the values of names if there are several."""
    source = work.sources[role]
    name = role if source.published else f"{source.name} as {role}"
    return f"{name}, {setting_text(setting)}" if setting else name


def _curves(work: Work, found: Found, role: str, setting: Mapping[str, Any]) -> list[RowCurve]:
    curves = []
    for row in work.rows:
        y = found.curve(place_of(role, row, setting), work.item.extra["curve"])
        if y is not None and y.size:
            curves.append((row, by_round(label(row), y * work.item.scale)))
    return curves


def _panel(work: Work, title: str, curves: list[RowCurve]) -> figures.CurvePanel:
    skip = int(work.item.extra.get("skip", 0))
    if max((curve.y.size for _, curve in curves), default=0) < 2 * skip:
        skip = 0  # a run of few rounds: its first ones are what there is to see
    shown = []
    for _, curve in curves:
        some = figures.thinned(curve.y.size, len(work.rows) * _panels(work), skip)
        shown.append(Curve(curve.label, curve.x[some], curve.y[some]))
    return figures.CurvePanel(title, shown)


def _panels(work: Work) -> int:
    return len(work.roles) * len(settings(work.item.over))


def label(row: Row, setting: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return the name of a row in a legend, without a group that its panel's title says."""
    said = not row.group or row.group in row.name or row.group == setting_text(setting)
    return row.name if said else f"{row.group}: {row.name}"


def with_unit(label: str, scale: float, unit: str = "percent") -> str:
    """Return a label of an axis that says if its numbers are percent, or points of percent."""
    return f"{label}, {unit}" if scale == 100 else label


def _axis(work: Work) -> figures.FigureAxis:
    curve = work.item.extra["curve"]
    y = LABELS.get(curve)
    if y is None:
        stop = work.recipe.protocols[str(work.item.protocol)].stop
        part = {"valid": "validation", "train": "training"}.get(curve, "")
        y = f"{stop} of the {part} data".replace("@{k}", "@k")
    log = work.item.extra.get("log") == "x"
    return figures.FigureAxis("round", with_unit(y, work.item.scale), log=log, whole=not log)


def _table(work: Work, title: str, setting: Mapping[str, Any], curves: list[RowCurve]) -> Table:
    rows = []
    for row, curve in curves:
        best = int(np.argmax(_sign(work, row, setting) * curve.y))
        texts = [f"{curve.y[best]:.4g}", f"{best + 1}", f"{curve.y[-1]:.4g}", f"{curve.y.size}"]
        rows.append([Cell(curve.label), *map(Cell, texts)])
    extreme = "best" if work.item.extra["curve"] in ("valid", "train") else "largest"
    return Table(title, ["row", extreme, "at round", "last", "rounds"], rows, 4)


def _sign(work: Work, row: Row, setting: Mapping[str, Any]) -> int:
    """Return 1 if the curve is better the higher it is, or if it isn't a metric."""
    protocol = work.protocol(row)
    if work.item.extra["curve"] not in ("valid", "train") or protocol.stop is None:
        return 1
    return better(fill(row.stop or protocol.stop, {**setting, **row.let}))


def _records(
    work: Work, role: str, setting: Mapping[str, Any], curves: list[RowCurve]
) -> list[list[Any]]:
    """Return some points of each curve; cells have them all."""
    records: list[list[Any]] = []
    for row, curve in curves:
        where = [role, work.sources[role].name, row.group, row.name, setting_key(setting)]
        for i in figures.thinned(curve.y.size, 1):
            records.append([*where, int(i) + 1, float(curve.y[i])])
    return records
