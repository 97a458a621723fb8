"""The first rows of a data set as a table for notebooks."""

from typing import TYPE_CHECKING

import numpy as np

from rankwood.data.tables.frames import dense
from rankwood.render.html import cells_html

if TYPE_CHECKING:
    from rankwood.data.ranking_data import RankingData

_ROWS, _FEATURES = 5, 8  # that are shown


def data_html(data: "RankingData", about: str) -> str:
    """Return the first rows as HTML: query, label and the first features; `about` stands below."""
    labels = data.schema.labels()
    more = ["…"] if len(labels) > _FEATURES else []
    rows = [["qid", "label", *labels[:_FEATURES], *more]]
    X, qid = dense(data.X[:_ROWS]), data.qid[:_ROWS]
    for row, values in enumerate(X[:, :_FEATURES]):
        cells = [_cell(data, name, value) for name, value in zip(labels, values, strict=False)]
        rows.append([str(qid[row]), f"{data.y[row]:g}", *cells, *more])
    if len(data) > _ROWS:
        rows.append(["…"] * len(rows[0]))
    return cells_html(rows, range(1, len(rows[0])), 1, about)


def _cell(data: "RankingData", name: str, value: float) -> str:
    """Return the value of a feature, of a categorical one its category; nothing if it is missing."""
    if np.isnan(value):
        return ""
    return str(data.categories[name][int(value)]) if name in data.categories else f"{value:.4g}"
