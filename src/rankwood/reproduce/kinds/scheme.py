"""A scheme of boxes and arrows: it needs no data, and everything about it stands in the recipe.

Keys of an item: `boxes`, each with an id, a text, the place of its centre, a shape and a colour; `arrows`, from a box
to another; and `labels`, texts at a place.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwood._util import checks
from rankwood.render import plots
from rankwood.render.marks import Diagram, Shape
from rankwood.render.plots import Panel, PanelGrid, PlotAxis
from rankwood.reproduce.pages.content import Content, Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankwood.reproduce.found import Found
    from rankwood.reproduce.plan import Work
    from rankwood.reproduce.recipes.recipe import Item

KEYS = frozenset({"boxes", "arrows", "labels"})
#: Shapes of boxes. A frame is dashed, and lies behind the boxes that it surrounds.
SHAPES = ("square", "circle", "frame")
#: Fillings that black text is readable on, in print too.
COLOURS = {"white": "#ffffff", "grey": "#dddddd", "green": "#bfe3cd", "violet": "#d9c8ea"}
_SIDE = 0.9  # of a square, and the diameter of a circle
_INCH = 0.62  # the picture's inches for each unit of a place
_LETTER = 0.13  # the width of a letter of a label
_TEX = re.compile(r"\\[a-z]+|[${}_^\\]")  # what is in the text of a formula, but not in its picture


class Box(NamedTuple):
    """A box: what it is called in arrows, its text, its centre, its size, its shape and its colour."""

    id: str
    text: str
    at: tuple[float, float]
    shape: str = "square"
    colour: str = "white"
    size: tuple[float, float] = (_SIDE, _SIDE)


class Arrow(NamedTuple):
    """An arrow between two boxes."""

    start: str
    end: str


class Label(NamedTuple):
    """A text; it begins at its place."""

    text: str
    at: tuple[float, float]


class Scheme(NamedTuple):
    """All that is drawn."""

    boxes: list[Box]
    arrows: list[Arrow]
    labels: list[Label]


def read(keys: Mapping[str, Any]) -> Scheme:
    """Return the scheme of an item from its keys."""
    boxes = [Box(**{**box, "at": tuple(box["at"])}) for box in keys["boxes"]]
    arrows = [Arrow(arrow["from"], arrow["to"]) for arrow in keys.get("arrows", ())]
    labels = [Label(label["text"], tuple(label["at"])) for label in keys.get("labels", ())]
    return Scheme(boxes, arrows, labels)


def draw(scheme: Scheme) -> "Figure":
    """Return the picture of a scheme."""
    across, upward = _reach(scheme, 0), _reach(scheme, 1)
    boxes = {
        box.id: Shape(box.text, box.at, box.size, box.shape, COLOURS[box.colour])
        for box in scheme.boxes
    }
    diagram = Diagram(boxes, scheme.arrows, scheme.labels)
    panel = Panel([diagram], PlotAxis(ends=across), PlotAxis(ends=upward), square=True, hidden=True)
    size = (across[1] - across[0]) * _INCH, (upward[1] - upward[0]) * _INCH
    return plots.draw_panels([panel], PanelGrid(*size))


def _reach(scheme: Scheme, axis: int) -> tuple[float, float]:
    """Return from where to where a scheme reaches; labels are given room to the right."""
    low = min(box.at[axis] - box.size[axis] / 2 for box in scheme.boxes)
    high = max(box.at[axis] + box.size[axis] / 2 for box in scheme.boxes)
    for label in scheme.labels:
        wide = (1 - axis) * _LETTER * len(_TEX.sub("", label.text))
        low, high = min(low, label.at[axis]), max(high, label.at[axis] + wide)
    return low - 0.2, high + 0.2


def check(item: "Item") -> None:
    """Raise if boxes lack something, have a name twice, or if an arrow ends nowhere."""
    where = f"item {item.name!r}"
    ids: list[str] = []
    for number, box in enumerate(item.extra.get("boxes", ()), 1):
        for key in ("id", "text", "at"):
            if key not in box:
                raise checks.InputError(f"{where}, box {number}: the key {key!r} is missing.")
        for key in box:
            if key not in Box._fields:
                near = checks.nearest(key, Box._fields)
                raise checks.InputError(f"{where}, box {number}: unknown key {key!r}{near}")
        checks.one_of(box.get("shape", "square"), SHAPES, f"{where}, box {number}: shape")
        checks.one_of(box.get("colour", "white"), COLOURS, f"{where}, box {number}: colour")
        if box["id"] in ids:
            raise checks.InputError(f"{where}: two boxes are called {box['id']!r}.")
        ids.append(box["id"])
    if not ids:
        raise checks.InputError(f"{where}: the key 'boxes' is missing.")
    for arrow in item.extra.get("arrows", ()):
        for end in ("from", "to"):
            if arrow.get(end) not in ids:
                near = checks.nearest(str(arrow.get(end)), ids)
                raise checks.InputError(f"{where}: there is no box {arrow.get(end)!r}{near}")


def show(work: "Work", found: "Found") -> Content:
    """Return the picture of the scheme; its arrows are the rows of the CSV."""
    scheme = read(work.item.extra)
    drawing = Drawing("", draw(scheme), work.item.title)
    return Content(
        drawings=[drawing],
        headings=["from", "to"],
        records=[list(arrow) for arrow in scheme.arrows],
    )
