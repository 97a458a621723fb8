"""Tables of metrics: rows are models, columns are metrics; ours beside the paper's."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np

from rankwood.render.table import Cell, Table
from rankwood.reproduce import significance
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.content import Content
from rankwood.reproduce.plan import Request, Work, requests
from rankwood.reproduce.recipes.recipe import MetricColumn, Row
from rankwood.reproduce.recipes.template import setting_key, settings
from rankwood.reproduce.values import BEST, TableColumn, Value, better, role_values, table_columns

KEYS: frozenset[str] = frozenset()

#: Parts of the data in which the best number stands out; high values on training data may be overfitting.
_RANKED = {"test", "valid"}
_CSV = (
    *("role", "data", "group", "row", "setting", "metric", "split", "ours", "paper", "difference"),
    *("paper_test_p", "paper_test_mark", "our_mark", "printed_mark", "pending"),
)


def plan(work: Work) -> list[Request]:
    """Return the cells of all rows."""
    splits = {c.split for c in work.item.columns}
    wants = {f"split:{part}" for part in ("train", "valid") if part in splits}
    wants |= {"split:train"} if "gap" in splits else set()
    every = settings(work.item.over)
    return [request for row in work.rows for request in requests(work, row, every, wants)]


def show(work: Work, found: Found) -> Content:
    """Return a table for each role, and one of what the paper printed where the data is another."""
    tables: list[Table] = []
    records: list[list[Any]] = []
    for role in work.roles:
        values = role_values(work, found, role)
        tables += _tables(work, role, values)
        records += _records(work, role, values)
    return Content(tables=tables, headings=_CSV, records=records)


def _tables(work: Work, role: str, grid: list[list[Value]]) -> list[Table]:
    source, columns = work.sources[role], table_columns(work)
    has_printed = any(row.printed.get(role) for row in work.rows)
    beside = source.published and has_printed
    headings = _row_headings(work)
    for c in columns:
        headings += [c.title, "paper", "difference"] if beside else [c.title]
    best = _best(grid)
    rows = [
        [*_row_cells(work, i), *_cells(line, best[i], beside, work.item.digits)]
        for i, line in enumerate(grid)
    ]
    text_columns = len(_row_headings(work))
    numeric = len(headings) - text_columns
    made = [Table(work.title(role), headings, rows, numeric, _notes(work), _breaks(work.rows))]
    if has_printed and not source.published:
        made.append(_printed_table(work, role, grid, columns))
    return made


def _row_headings(work: Work) -> list[str]:
    grouped = any(row.group for row in work.rows)
    return [*(["group"] if grouped else []), "row"]


def _row_cells(work: Work, index: int) -> list[Cell]:
    """Return the name of a row, after its group where that is a new one."""
    row = work.rows[index]
    name = f"{row.name} (not run: {row.pending})" if row.pending else row.name
    if work.test.letters and work.item.baseline is not None and index < len(ascii_lowercase):
        name = f"({ascii_lowercase[index]}) {name}"
    new = index == 0 or work.rows[index - 1].group != row.group
    return [*([Cell(row.group if new else "")] if len(_row_headings(work)) > 1 else []), Cell(name)]


def _printed_table(
    work: Work, role: str, grid: list[list[Value]], columns: Sequence[TableColumn]
) -> Table:
    """Return what the paper printed for a role that other data fills: for reading, not for comparing."""
    rows = [
        [
            *_row_cells(work, i),
            *(Cell(_text(v.paper, work.item.digits), v.printed_mark) for v in line),
        ]
        for i, line in enumerate(grid)
    ]
    headings = [*_row_headings(work), *(c.title for c in columns)]
    title = f"What the paper printed for {role}, which is other data"
    return Table(title, headings, rows, len(columns), breaks=_breaks(work.rows))


def _breaks(rows: Sequence[Row]) -> list[int]:
    """Return the rows with which a new group begins."""
    return [i for i in range(1, len(rows)) if rows[i].group != rows[i - 1].group]


def _best(grid: list[list[Value]]) -> list[set[int]]:
    """Return for each row the columns in which its number is the best, among those of the same metric."""
    best: list[set[int]] = [set() for _ in grid]
    for j in range(len(grid[0]) if grid else 0):
        families: dict[MetricColumn, dict[int, float]] = {}
        for i, line in enumerate(grid):
            column = line[j].column.of(line[j].row)
            if line[j].trained and column.split in _RANKED:
                families.setdefault(column, {})[i] = better(column.metric) * line[j].ours
        for members in families.values():
            for i, value in members.items():
                if value == max(members.values()):
                    best[i].add(j)
    return best


def _cells(line: list[Value], best: set[int], beside: bool, digits: int) -> list[Cell]:
    made = []
    for j, value in enumerate(line):
        marks = value.paper_mark + value.our_mark
        made.append(Cell(_text(value.ours, digits), marks, j in best))
        if beside:
            made.append(Cell(_text(value.paper, digits), value.printed_mark))
            made.append(Cell(_signed(value.ours - value.paper, digits)))
    return made


def _text(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:+.{digits}f}"


def _notes(work: Work) -> list[str]:
    notes = []
    splits = {column.split for column in work.item.columns}
    if work.item.baseline is not None and "test" in splits:  # only these have values by query
        notes += significance.sentences(work.test, work.item.baseline, work.item.baseline == BEST)
    return [*notes, *(["Bold: the best of the trained models."] if splits & _RANKED else [])]


def _records(work: Work, role: str, grid: list[list[Value]]) -> list[list[Any]]:
    source = work.sources[role]
    made: list[list[Any]] = []
    for v in (value for line in grid for value in line):
        column = v.column.of(v.row)
        setting = setting_key(v.column.setting)
        where = [role, source.name, v.row.group, v.row.name, setting, column.metric, column.split]
        difference = v.ours - v.paper if source.published else float("nan")
        marks = [v.paper_mark, v.our_mark, v.printed_mark, v.row.pending]
        made.append([*where, v.ours, v.paper, difference, v.p, *marks])
    return made
