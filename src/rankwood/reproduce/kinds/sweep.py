"""Lines over a parameter: a model is trained for each of its values; a panel for each role and setting."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.render.curve import Curve
from rankwood.render.table import Cell, Table
from rankwood.reproduce.found import Found
from rankwood.reproduce.kinds.curves import LABELS, label, panel_title, wants_of, with_unit
from rankwood.reproduce.pages import figures
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.plan import Request, Work, exists, place_of, requests, row_spec
from rankwood.reproduce.recipes.recipe import Item, MetricColumn, Row
from rankwood.reproduce.recipes.template import fill, setting_key, settings

KEYS: frozenset[str] = frozenset({"x", "values", "metric", "record", "reduce", "relative", "log"})
_REDUCE: dict[str, Callable[[np.ndarray], Any]] = {
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "last": lambda curve: curve[-1],
}
_WORDS = {"mean": "mean", "max": "largest", "min": "smallest", "last": "last"}
_TICKS = 8  # values that have a name each on the axis
_CSV = ("role", "data", "group", "row", "setting", "x", "ours", "paper")


def check(item: Item) -> None:
    """Raise unless there are values of a name, and either a metric or a recorded curve."""
    for key in ("x", "values"):
        if key not in item.extra:
            raise checks.InputError(f"item {item.name!r}: the key {key!r} is missing.")
    if ("metric" in item.extra) == ("record" in item.extra):
        raise checks.InputError(f"item {item.name!r}: give one of the keys 'metric' and 'record'.")
    checks.one_of(item.extra.get("reduce", "mean"), _REDUCE, f"item {item.name!r}: reduce")
    if "relative" in item.extra:
        checks.one_of(item.extra["relative"], item.extra["values"], "relative")


def _settings(work: Work) -> list[dict[str, Any]]:
    """Return the settings of `over`, each with all values of x."""
    name, values = work.item.extra["x"], work.item.extra["values"]
    return [{**setting, name: value} for setting in settings(work.item.over) for value in values]


def plan(work: Work) -> list[Request]:
    """Return the cells of all rows for all values; those of rows without the parameter are the same."""
    record = str(work.item.extra.get("record", ""))
    return [
        request
        for row in work.rows
        for setting in _settings(work)
        for request in requests(work, row, [setting], wants_of(record, setting))
    ]


class Series(NamedTuple):
    """The values of a row, ours and the paper's, and whether the row has the parameter at all."""

    row: Row
    ours: np.ndarray
    paper: np.ndarray
    level: bool


def show(work: Work, found: Found) -> Content:
    """Return the figure, and a table of all values for each panel."""
    panels, tables, records = [], [], []
    for role in work.roles:
        for setting in settings(work.item.over):
            series = [
                _series(work, found, role, row, setting)
                for row in work.rows
                if exists(row, setting)
            ]
            title = panel_title(work, role, setting)
            x = _positions(work)
            curves = [Curve(label(s.row, setting), x, _relative(work, s.ours)) for s in series]
            levels = frozenset(label(s.row, setting) for s in series if s.level)
            panels.append(figures.CurvePanel(title, curves, levels))
            tables += _tables(work, role, title, series)
            records += _records(work, role, setting, series)
    figure = figures.lines_figure(panels, _axis(work))
    return Content((), tables, [Drawing("", figure, work.item.title)], _CSV, records)


def _positions(work: Work) -> np.ndarray:
    values = work.item.extra["values"]
    texts = any(isinstance(value, str) for value in values)
    return np.arange(len(values)) if texts else np.array(values, dtype=np.float64)


def _axis(work: Work) -> figures.FigureAxis:
    extra = work.item.extra
    y = str(extra.get("metric", "")).replace("@{k}", "@k").replace("{metric}", "metric")
    if "record" in extra:
        y = f"{_WORDS[extra.get('reduce', 'mean')]} {LABELS.get(extra['record'], extra['record'])}"
    if "relative" in extra:
        base = f"{extra['x']} = {extra['relative']}".replace(" ", "\N{NO-BREAK SPACE}")
        y = f"change of {y} from {base}"
    few = len(extra["values"]) <= _TICKS
    ticks = (
        dict(zip(_positions(work).tolist(), map(str, extra["values"]), strict=True)) if few else {}
    )
    unit = "points" if "relative" in extra else "percent"
    y = with_unit(y, work.item.scale, unit)
    return figures.FigureAxis(extra["x"], y, extra.get("log") == "x", ticks, markers=True)


def _series(work: Work, found: Found, role: str, row: Row, setting: Mapping[str, Any]) -> Series:
    name, values = work.item.extra["x"], work.item.extra["values"]
    ours = [_point(work, found, role, row, {**setting, name: value}) for value in values]
    printed = row.printed.get(role, [float("nan")] * len(values))
    specs = [row_spec(work, row, role, {**setting, name: value}) for value in values[:2]]
    level = len(specs) == 2 and specs[0] == specs[1]
    return Series(row, np.array(ours), np.array(printed, dtype=np.float64), level)


def _point(work: Work, found: Found, role: str, row: Row, setting: Mapping[str, Any]) -> float:
    place = place_of(role, row, setting)
    if "metric" in work.item.extra:
        metric = fill(work.item.extra["metric"], {**setting, **row.let})
        return found.mean(place, MetricColumn(metric)) * work.item.scale
    curve = found.curve(place, work.item.extra["record"])
    if curve is None or not curve.size:
        return float("nan")
    return float(_REDUCE[work.item.extra.get("reduce", "mean")](curve)) * work.item.scale


def _relative(work: Work, values: np.ndarray) -> np.ndarray:
    """Return differences to the value at one x, if the item wants that."""
    if "relative" not in work.item.extra:
        return values
    at = list(work.item.extra["values"]).index(work.item.extra["relative"])
    return values - values[at]


def _tables(work: Work, role: str, title: str, series: list[Series]) -> list[Table]:
    values, digits = work.item.extra["values"], work.item.digits
    headings = ["row", *(f"{work.item.extra['x']} = {value}" for value in values)]

    def table(title: str, rows: list[tuple[Row, np.ndarray]]) -> Table:
        lines = [[Cell(label(row)), *(Cell(_text(v, digits)) for v in y)] for row, y in rows]
        return Table(title, headings, lines, len(values))

    made = [table(title, [(s.row, s.ours) for s in series])]
    printed = [(s.row, s.paper) for s in series if not np.isnan(s.paper).all()]
    if printed:
        made.append(table(f"What the paper printed for {role}", printed))
    return made


def _text(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def _records(
    work: Work, role: str, setting: Mapping[str, Any], series: list[Series]
) -> list[list[Any]]:
    source, key = work.sources[role].name, setting_key(setting)
    return [
        [role, source, s.row.group, s.row.name, key, x, float(ours), float(paper)]
        for s in series
        for x, ours, paper in zip(work.item.extra["values"], s.ours, s.paper, strict=True)
    ]
