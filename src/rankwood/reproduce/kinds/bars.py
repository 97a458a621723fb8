"""Grouped bars: a table of metrics, drawn."""

from dataclasses import replace

import numpy as np

from rankwood.reproduce.found import Found
from rankwood.reproduce.kinds import metrics
from rankwood.reproduce.kinds.curves import label, panel_title
from rankwood.reproduce.pages import figures
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.plan import Request, Work
from rankwood.reproduce.values import role_values, table_columns

KEYS: frozenset[str] = frozenset({"relative"})


def plan(work: Work) -> list[Request]:
    """Return the cells of all rows."""
    return metrics.plan(work)


def show(work: Work, found: Found) -> Content:
    """Return the tables, and bars of the same numbers: a group for each column."""
    heights, titles = [], []
    rows = [row for row in work.rows if not row.pending]
    relative = work.item.extra.get("relative")
    for role in work.roles:
        grid = [line for line in role_values(work, found, role) if not line[0].row.pending]
        values = np.array([[value.ours for value in line] for line in grid])
        if relative is not None:
            values = values - values[[row.name for row in rows].index(relative)]
        heights.append(values)
        titles.append(panel_title(work, role, {}))
    groups = [c.title for c in table_columns(work)]
    unit = ", percent" if work.item.scale == 100 else ""
    y = (f"difference to {relative}" if relative else "mean over queries") + unit
    figure = figures.bars_figure(titles, [label(row) for row in rows], groups, heights, y)
    return replace(metrics.show(work, found), drawings=[Drawing("", figure, work.item.title)])
