"""Heat maps of the weight of each pair of positions, one map for each row; no data is needed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood.diagnostics import heat
from rankwood.render.table import Cell, Table
from rankwood.report.plots import draw_maps
from rankwood.reproduce.pages.content import Content, Drawing
from rankwood.reproduce.recipes.recipe import Item
from rankwood.reproduce.recipes.template import fill, setting_text, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS: frozenset[str] = frozenset({"n"})


class WeightMap(NamedTuple):
    """The weights of one row: those of the pair of positions i and j are in row i, column j."""

    row: str
    setting: Mapping[str, Any]
    title: str
    weights: np.ndarray

    @property
    def used(self) -> np.ndarray:
        """The weights of the pairs that are used, each pair once."""
        above = self.weights[np.triu_indices(len(self.weights), 1)]
        return above[above != 0]


def weight_maps(item: Item) -> list[WeightMap]:
    """Return the map of each row for each combination of the values of `over`."""
    every = settings(dict(item.over))
    made = []
    for setting in every:
        for row in item.rows:
            title = f"{row.name}, {setting_text(setting)}" if len(every) > 1 else row.name
            weights = heat(fill(row.objective, setting), item.extra["n"])
            made.append(WeightMap(row.name, setting, title, weights))
    return made


def draw(maps: Sequence[WeightMap]) -> "Figure":
    """Draw all maps, each on a scale from 0 to its own largest weight."""
    shares = [one.weights / (one.weights.max() or 1.0) for one in maps]
    return draw_maps([one.title for one in maps], shares)


def show(work: Any, found: Any) -> Content:
    """Return the maps, and a table of how many pairs each row uses and how much they weigh."""
    maps = weight_maps(work.item)
    rows = [
        [
            Cell(one.title),
            Cell(f"{one.used.size:,}"),
            *(Cell(f"{f(one.used):g}" if one.used.size else "") for f in (np.min, np.max)),
        ]
        for one in maps
    ]
    table = Table("", ["row", "pairs used", "smallest weight", "largest weight"], rows, 3)
    records = [
        [one.row, *one.setting.values(), i + 1, j + 1, float(one.weights[i, j])]
        for one in maps
        for i, j in np.ndindex(one.weights.shape)
    ]
    caption = "Weights as shares of the largest weight of each map; grey pairs are not used."
    return Content(
        tables=[table],
        drawings=[Drawing("", draw(maps), caption)],
        headings=["row", *work.item.over, "position", "other position", "weight"],
        records=records,
    )
