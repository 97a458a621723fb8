"""Tables of data sets: numbers of queries, documents, features, labels, by role and part of the data."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankwood._util import checks
from rankwood.render.table import Cell, Table
from rankwood.reproduce.cells import RecipeCell
from rankwood.reproduce.found import Found
from rankwood.reproduce.pages.content import Content
from rankwood.reproduce.plan import Place, Request, Work
from rankwood.reproduce.programs import programs_of
from rankwood.reproduce.recipes.recipe import Item, Row
from rankwood.reproduce.sources import DataRef

KEYS: frozenset[str] = frozenset({"top"})
_PARTS = ("train", "valid", "test", "all")
_CSV = ("role", "data", "row", "split", "statistic", "ours", "paper", "difference")


class CountedPart:
    """What statistics are made of: lengths of lists, labels, and the number of features."""

    def __init__(self, counted: Mapping[str, Any], top: int) -> None:
        self.features = int(counted["features"])
        lengths = np.array(counted["lengths"], dtype=np.int64).reshape(-1, 2)
        labels = np.array(counted["labels"], dtype=np.float64).reshape(-1, 2)
        self.lengths = np.repeat(lengths[:, 0], lengths[:, 1])
        self.labels = {float(label): float(count) for label, count in labels}
        self.shortened = np.minimum(self.lengths, top)

    def share(self, label: float) -> float:
        """Return the share of documents with a label."""
        return self.labels.get(label, 0.0) / max(self.lengths.sum(), 1)


STATISTICS: dict[str, Callable[[CountedPart], float]] = {
    "queries": lambda part: part.lengths.size,
    "documents": lambda part: part.lengths.sum(),
    "features": lambda part: part.features,
    "pairs": lambda part: (part.lengths * (part.lengths - 1) // 2).sum(),
    "labels": lambda part: len(part.labels),
    "documents_per_query": lambda part: part.lengths.mean(),
    "documents_min": lambda part: part.lengths.min(),
    "documents_median": lambda part: np.median(part.lengths),
    "documents_max": lambda part: part.lengths.max(),
    "relevant_share": lambda part: 1 - part.share(0),
    "irrelevant_share": lambda part: part.share(0),
    "irrelevant_percent": lambda part: 100 * part.share(0),
    "top_documents": lambda part: part.shortened.sum(),
    "top_pairs": lambda part: (part.shortened * (part.shortened - 1)).sum(),
    "listwise_features": lambda part: 5 * (part.features + 1),
    "pair_features": lambda part: 11 * (part.features + 1),
    **{f"label_share_{i}": lambda part, i=i: part.share(i) for i in range(32)},  # type: ignore[misc]
}


def check(item: Item) -> None:
    """Raise if a statistic or a part of the data is unknown."""
    for name in item.columns:
        if name not in STATISTICS:
            near = checks.nearest(str(name), STATISTICS)
            raise checks.InputError(f"item {item.name!r}: unknown statistic {name!r}{near}")
    for row in item.rows:
        checks.one_of(row.split, _PARTS, f"item {item.name!r}, row {row.name!r}: split")


def plan(work: Work) -> list[Request]:
    """Return a cell for each role, of the first fold."""
    made = []
    for role in work.roles:
        source = work.sources[role]
        spec: dict[str, Any] = {"model": "statistics", "data": source.folds[0]}
        spec["programs"] = programs_of(spec)
        ref = DataRef(source.folder, role, 0, work.options.queries, source.missing)
        about = f"statistics, {source.name}"
        made.append(Request(Place(role, 0), RecipeCell(spec), ref, frozenset(), about))
    return made


def show(work: Work, found: Found) -> Content:
    """Return a table for each role."""
    tables, records = [], []
    for role in work.roles:
        counted = found.results(Place(role, 0))[0]["parts"]
        lines = []
        for row in work.rows:
            ours = _ours(work, counted, row)
            paper = row.printed.get(role, [float("nan")] * len(ours))
            lines.append((row, ours, [float(value) for value in paper]))
        tables.append(_table(work, role, lines))
        records += _records(work, role, lines)
    return Content(tables=tables, headings=_CSV, records=records)


def _ours(work: Work, counted: Mapping[str, Any], row: Row) -> list[float]:
    part = CountedPart(
        _joined(counted) if row.split == "all" else counted[str(row.split)], _top(work)
    )
    return [float(STATISTICS[str(name)](part)) for name in work.item.columns]


def _top(work: Work) -> int:
    top = int(work.item.extra.get("top", 20))
    return top if work.options.top is None else min(top, work.options.top)


def _joined(counted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of all parts together."""
    parts = list(counted.values())
    return {
        "features": parts[0]["features"],
        **{name: _summed(parts, name) for name in ("lengths", "labels")},
    }


def _summed(parts: list[Mapping[str, Any]], name: str) -> list[list[float]]:
    total: dict[float, float] = {}
    for part in parts:
        for value, count in part[name]:
            total[value] = total.get(value, 0) + count
    return [[value, count] for value, count in sorted(total.items())]


Lines = list[tuple[Row, list[float], list[float]]]


def _table(work: Work, role: str, lines: Lines) -> Table:
    source, item = work.sources[role], work.item
    beside = any(row.printed.get(role) for row, _, _ in lines)
    headings = ["part"]
    for name in item.columns:
        title = str(name).replace("_", " ")
        headings += [title, "paper"] if beside else [title]
    rows = []
    for row, ours, paper in lines:
        cells = [Cell(row.name)]
        for mine, printed in zip(ours, paper, strict=True):
            same = number(mine, item.digits) == number(printed, item.digits)
            differs = source.published and not np.isnan(printed) and not same
            cells.append(Cell(number(mine, item.digits), "≠" if differs else ""))
            cells += [Cell(number(printed, item.digits))] if beside else []
        rows.append(cells)
    return Table(work.title(role), headings, rows, len(headings) - 1)


def number(value: float, digits: int) -> str:
    """Return a number as people write it: whole numbers without a fraction."""
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}f}"


def _records(work: Work, role: str, lines: Lines) -> list[list[Any]]:
    source = work.sources[role]
    made: list[list[Any]] = []
    for row, ours, paper in lines:
        for name, mine, printed in zip(work.item.columns, ours, paper, strict=True):
            difference = mine - printed if source.published else float("nan")
            where = [role, source.name, row.name, row.split, str(name)]
            made.append([*where, mine, printed, difference])
    return made
