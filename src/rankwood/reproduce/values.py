"""The numbers of a table of metrics: ours, the paper's, and marks by both tests of significance."""

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from rankwood.metrics.registry import metric as to_metric
from rankwood.metrics.verbs import higher_is_better
from rankwood.reproduce import significance
from rankwood.reproduce.found import Found
from rankwood.reproduce.plan import FROM_LABELS, Work, exists, place_of
from rankwood.reproduce.recipes.recipe import MetricColumn, Row
from rankwood.reproduce.recipes.template import fill, setting_text, settings

#: The baseline that is not a row but the best one of each group and column.
BEST = "best"
_NAN = float("nan")


class TableColumn(NamedTuple):
    """A column: the values of the names in braces, the metric with these names, and its place among printed values."""

    position: int
    setting: Mapping[str, Any]
    column: MetricColumn
    title: str

    def of(self, row: Row) -> MetricColumn:
        """Return the metric and the part of the data for a row, which may have values of names of its own."""
        return MetricColumn(
            fill(self.column.metric, {**self.setting, **row.let}), self.column.split
        )


class Value(NamedTuple):
    """A number of the table: ours, the paper's, and the marks of both tests."""

    row: Row
    column: TableColumn
    ours: float
    paper: float
    p: float = _NAN
    paper_mark: str = ""
    our_mark: str = ""
    printed_mark: str = ""

    @property
    def trained(self) -> bool:
        """Whether a model was trained for it."""
        return self.row.model not in FROM_LABELS and not np.isnan(self.ours)


def better(metric: str) -> int:
    """Return 1 if higher values of a metric are better, else -1."""
    return 1 if higher_is_better(to_metric(metric)) else -1


def table_columns(work: Work) -> list[TableColumn]:
    """Return the columns of an item: those of its list for each setting."""
    made: list[TableColumn] = []
    for setting in settings(work.item.over):
        for column in work.item.columns:
            title = _title(work, column, setting)
            made.append(TableColumn(len(made), setting, column, title))
    titles = [c.title for c in made]
    if len(set(titles)) == len(titles):
        return made
    return [c._replace(title=f"{c.title} ({setting_text(c.setting)})") for c in made]


def _title(work: Work, column: MetricColumn, setting: Mapping[str, Any]) -> str:
    """Return the name of a column; a metric that differs between rows is called so."""
    own = {name for row in work.item.rows for name in row.let}
    named = fill(column.metric, {**dict.fromkeys(own, "metric of the group"), **setting})
    shown = str(named).upper() if "@" in str(named) or not own else str(named)
    splits = {c.split for c in work.item.columns}
    return f"{shown}, {column.split}" if splits != {"test"} else shown


def role_values(work: Work, found: Found, role: str) -> list[list[Value]]:
    """Return the numbers of a role, row by row, with marks."""
    columns = table_columns(work)
    grid = [[_value(work, found, role, row, c) for c in columns] for row in work.rows]
    if work.item.baseline is None:
        return grid
    marked = _marked(work, found, role, grid)
    return _lettered(work, found, role, marked) if work.test.letters else marked


def _value(work: Work, found: Found, role: str, row: Row, c: TableColumn) -> Value:
    ours = _NAN
    if exists(row, c.setting):
        ours = found.mean(place_of(role, row, c.setting), c.of(row)) * work.item.scale
    printed, marks = row.printed.get(role), row.marks.get(role)
    paper = float(printed[c.position]) if printed else _NAN
    return Value(row, c, ours, paper, printed_mark=marks[c.position] if marks else "")


def _marked(work: Work, found: Found, role: str, grid: list[list[Value]]) -> list[list[Value]]:
    """Return the numbers with the marks of the tests against their baselines."""
    made = [list(line) for line in grid]
    tested = []
    for i, line in enumerate(grid):
        for j, value in enumerate(line):
            other = _baseline(work, value, [other[j] for other in grid])
            if other is not None and other.row is not value.row:
                d = _differences(found, role, value, other)
                tested.append((i, j, d))
    arrows = significance.our_marks([d for _, _, d in tested])
    upward = 1 if work.item.baseline != BEST else -1  # the best one marks those that are worse
    for (i, j, d), arrow in zip(tested, arrows, strict=True):
        if d is not None:
            made[i][j] = made[i][j]._replace(
                p=significance.paper_p(d * upward, work.test),
                paper_mark=significance.paper_mark(d * upward, work.test),
                our_mark=arrow,
            )
    return made


def _baseline(work: Work, value: Value, column: list[Value]) -> Value | None:
    """Return the number that a number is tested against: that of the baseline, of the same group if it has one."""
    others = [other for other in column if other.trained]
    if work.item.baseline == BEST:
        group = [other for other in others if other.row.group == value.row.group]
        sign = better(value.column.of(value.row).metric)
        return max(group, key=lambda other: sign * other.ours, default=None)
    base = work.baseline(value.row, value.column.setting)
    return next((other for other in others if other.row is base), None)


def _differences(found: Found, role: str, value: Value, other: Value) -> np.ndarray | None:
    """Return the differences of two numbers by query, above 0 where the first is better; None without any."""
    column = value.column.of(value.row)
    if column.split != "test" or not value.trained or column != other.column.of(other.row):
        return None
    setting = value.column.setting
    values = found.per_query(place_of(role, value.row, setting), column.metric)
    others = found.per_query(place_of(role, other.row, setting), column.metric)
    if values is None or others is None:
        return None
    return significance.differences(values, others, better(column.metric))


def _lettered(work: Work, found: Found, role: str, grid: list[list[Value]]) -> list[list[Value]]:
    """Return the numbers with the letters of the rows that they beat in place of the paper's marks."""
    made = []
    for line in grid:
        marked = []
        for j, value in enumerate(line):
            beaten = ""
            for letter, other in zip(ascii_lowercase, (o[j] for o in grid), strict=False):
                if other.row is not value.row and other.trained:
                    d = _differences(found, role, value, other)
                    if d is not None and significance.paper_mark(d, work.test):
                        beaten += letter
            marked.append(value._replace(paper_mark=beaten))
        made.append(marked)
    return made
