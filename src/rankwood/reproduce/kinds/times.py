"""Tables of times: ratios to the baseline, measured in turns, so that a busy moment of the machine hits all rows."""

from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.render.table import Cell, Table
from rankwood.reproduce.cells import RecipeCell
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.content import Content
from rankwood.reproduce.plan import Place, Request, Work, exists, place_of, requests
from rankwood.reproduce.recipes.recipe import Item, Row
from rankwood.reproduce.recipes.template import setting_key, setting_text, settings

KEYS: frozenset[str] = frozenset({"repeats"})
#: What can be measured, and its name in a result.
MEASURES = {
    "training": "training",
    "best": "until_best",
    "objective call": "objective_call",
    "tree": "tree",
}
_CSV = ("role", "data", "group", "row", "setting", "measure", "ratio", "milliseconds", "paper")
_NOTE = "Every number of ours is the geometric mean of the ratios to the baseline in the same turn; rows take turns."
_MILLISECONDS = "Geometric means over turns; they depend on the machine."
_SEED = 0


def check(item: Item) -> None:
    """Raise if there is no baseline, or if a measure is unknown."""
    if item.baseline is None:
        raise checks.InputError(f"item {item.name!r}: times need a baseline.")
    for name in item.columns:
        checks.one_of(name, MEASURES, f"item {item.name!r}: a column")


def plan(work: Work) -> list[Request]:
    """Return a cell for each turn and row, of the first fold and one seed."""
    every = settings(work.item.over)
    made = []
    for turn in range(_turns(work)):
        for row in work.rows:
            for request in requests(work, row, every):
                spec = request.cell.spec
                first = request.data.fold == 0 and spec["seed"] == _SEED
                if first and spec["model"] in ("trees", "two-stage"):
                    timed = RecipeCell({**spec, "timing": turn})
                    about = f"time of {request.about}, turn {turn + 1}"
                    made.append(request._replace(cell=timed, wants=frozenset(), about=about))
    return made


def _turns(work: Work) -> int:
    turns = int(work.item.extra.get("repeats", 3))
    return min(turns, work.options.seeds or turns)


def show(work: Work, found: Found) -> Content:
    """Return a table of ratios and one of milliseconds for each role."""
    tables, records = [], []
    for role in work.roles:
        ratios, times = [], []
        for row in work.rows:
            name = Cell(f"{row.group}: {row.name}" if row.group else row.name)
            ratios.append([name])
            times.append([name])
            for position, (setting, column) in enumerate(_columns(work)):
                ours, milliseconds = _measured(work, found, role, row, setting, column)
                paper = _printed_ratio(work, role, row, setting, position)
                for ratio in (ours, paper):
                    ratios[-1].append(Cell(_text(ratio * work.item.scale, work.item.digits)))
                times[-1].append(Cell("–" if np.isnan(milliseconds) else f"{milliseconds:.3g}"))
                where = [role, work.sources[role].name, row.group, row.name, setting_key(setting)]
                records.append([*where, column, ours, milliseconds, paper])
        tables += _tables(work, role, ratios, times)
    lead = (
        f"Times of {plural(_turns(work), 'turn')}, all on one machine, of fold 1 with seed {_SEED}."
    )
    return Content([lead], tables, headings=_CSV, records=records)


def _columns(work: Work) -> list[tuple[dict[str, Any], str]]:
    return [(s, str(column)) for s in settings(work.item.over) for column in work.item.columns]


def _tables(
    work: Work, role: str, ratios: list[list[Cell]], times: list[list[Cell]]
) -> list[Table]:
    """Return a table of ratios beside the paper's, and one of milliseconds."""
    names = [f"{c}, {setting_text(setting)}" if setting else c for setting, c in _columns(work)]
    beside = [heading for name in names for heading in (name, "paper")]
    title = work.title(role)
    return [
        Table(title, ["row", *beside], ratios, len(beside), [_NOTE]),
        Table(f"{title}, milliseconds", ["row", *names], times, len(names), [_MILLISECONDS]),
    ]


def _seconds(found: Found, place: Place, measure: str) -> np.ndarray:
    return np.array([r["timing"][MEASURES[measure]] for r in found.results(place)])


def _measured(
    work: Work, found: Found, role: str, row: Row, setting: dict[str, Any], measure: str
) -> tuple[float, float]:
    """Return the ratio to the baseline, and milliseconds, both as geometric means over turns."""
    base = work.baseline(row, setting)
    if base is None or not exists(row, setting):
        return float("nan"), float("nan")
    mine = _seconds(found, place_of(role, row, setting), measure)
    theirs = _seconds(found, place_of(role, base, setting), measure)
    if not mine.size or mine.size != theirs.size:
        return float("nan"), float("nan")
    tiny = 1e-9  # a clock may not see a short call
    ratio = np.exp(np.mean(np.log((mine + tiny) / (theirs + tiny))))
    return float(ratio), float(np.exp(np.mean(np.log(mine + tiny))) * 1000)


def _printed_ratio(
    work: Work, role: str, row: Row, setting: dict[str, Any], position: int
) -> float:
    """Return the paper's number as a ratio to its own baseline."""
    base = work.baseline(row, setting)
    printed, theirs = row.printed.get(role), None if base is None else base.printed.get(role)
    if not printed or not theirs or not theirs[position]:
        return float("nan")
    return float(printed[position]) / float(theirs[position])


def _text(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{max(digits, 2)}f}"
