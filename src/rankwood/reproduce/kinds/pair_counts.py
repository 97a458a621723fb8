"""Numbers of pairs of positions that have a weight, against the cutoff k; no data is needed."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood._util.text import plural
from rankwood.diagnostics import pair_counts
from rankwood.render.table import Cell, Table
from rankwood.report.plots import draw_counts
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.recipes.recipe import Item
from rankwood.reproduce.recipes.template import fill

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS: frozenset[str] = frozenset({"n"})


class Counts(NamedTuple):
    """The numbers of pairs of one row by cutoff: ours and the paper's."""

    row: str
    ours: np.ndarray
    paper: np.ndarray  # nan where the paper has none


def check(item: Item) -> None:
    """Raise if the cutoffs are missing, or if a row does not have a count for each of them."""
    if list(item.over) != ["k"]:
        raise checks.InputError(
            f"item {item.name!r}: 'over' must have the cutoffs k, and only them."
        )
    for row in item.rows:
        given = row.values.get("count")
        if given is not None and len(given) != len(item.over["k"]):
            raise checks.InputError(
                f"item {item.name!r}, row {row.name!r}: {plural(len(given), 'count')}, "
                f"expected {len(item.over['k'])}."
            )


def count_pairs(item: Item) -> list[Counts]:
    """Return the numbers of pairs of each row."""
    n, ks = item.extra["n"], item.over["k"]
    made = []
    for row in item.rows:
        ours = [int(pair_counts(fill(row.objective, {"k": k}), n, [k])[0]) for k in ks]
        paper = row.values.get("count", [np.nan] * len(ks))
        made.append(Counts(row.name, np.array(ours), np.array(paper, np.float64)))
    return made


def draw(item: Item, counts: list[Counts]) -> "Figure":
    """Draw a line for each row."""
    names, lines = [line.row for line in counts], [line.ours for line in counts]
    return draw_counts(names, lines, item.over["k"], item.extra["n"])


def show(work: Any, found: Any) -> Content:
    """Return the numbers of pairs as lines and as a table, and whether they are the paper's."""
    item, counts = work.item, count_pairs(work.item)
    ks = item.over["k"]
    rows, records = [], []
    for one in counts:
        other = (one.paper != one.ours) & ~np.isnan(one.paper)
        cells = [
            Cell(str(count), "≠" if differs else "")
            for count, differs in zip(one.ours, other, strict=True)
        ]
        rows.append([Cell(one.row), *cells])
        both = zip(ks, one.ours.tolist(), one.paper.tolist(), strict=True)
        records += [[one.row, *line] for line in both]
    table = Table("", ["row", *(f"k = {k}" for k in ks)], rows, len(ks))
    return Content(
        paragraphs=[_agreement(counts)],
        tables=[table],
        drawings=[Drawing("", draw(item, counts))],
        headings=["row", "k", "ours", "paper"],
        records=records,
    )


def _agreement(counts: list[Counts]) -> str:
    """Say how many of the numbers of the paper are ours."""
    equal = sum(int(np.sum(one.ours == one.paper)) for one in counts)
    total = sum(int(np.sum(~np.isnan(one.paper))) for one in counts)
    if not total:
        return "The paper prints no numbers for these lines."
    if equal == total:
        return f"All {total} numbers are those of the paper."
    return f"{equal} of {total} numbers are those of the paper; ≠ marks the others."
