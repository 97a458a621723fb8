"""Curves of named formulas: they need no data, and everything about them stands in the recipe.

Keys of an item: `curves`, each with a name, a formula and its parameters; `domain`, from where to where; `points`, how
many; `at`, where values are printed; `bounds`, pairs of curves of which one is never below the other; and the labels of
the axes.
"""

import inspect
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwood._util import checks
from rankwood.render import plots
from rankwood.render.curve import Curve
from rankwood.render.marks import Line, colour
from rankwood.render.plots import LEGEND, Panel, PanelGrid, PlotAxis
from rankwood.render.table import Cell, Table
from rankwood.reproduce.pages.content import Content, Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankwood.reproduce.found import Found
    from rankwood.reproduce.plan import Work
    from rankwood.reproduce.recipes.recipe import Item

KEYS = frozenset({"curves", "domain", "points", "at", "bounds", "xlabel", "ylabel"})
_POINTS = 1001  # so many that a step looks like one


def _logistic(x: np.ndarray, sigma: float = 1.0, power: float = 1.0) -> np.ndarray:
    """Return a power of the logistic function, which is what a generalised logistic distribution is."""
    return np.exp(-power * np.logaddexp(0.0, -sigma * x))


def _logistic_loss(x: np.ndarray, sigma: float = 1.0, base: float = 2.0) -> np.ndarray:
    """Return the logistic loss, as a logarithm to a base."""
    return np.logaddexp(0.0, -sigma * x) / np.log(base)


def _zero_one(x: np.ndarray) -> np.ndarray:
    """Return 1 where a difference of scores is negative, and 0 elsewhere."""
    return (x < 0).astype(np.float64)


#: Formulas by name; each takes the numbers of the horizontal axis, and its parameters by name.
FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "logistic": _logistic,
    "logistic-loss": _logistic_loss,
    "zero-one": _zero_one,
}


class Bound(NamedTuple):
    """Two curves of which one should never be below the other, and the smallest difference with its place."""

    lower: str
    upper: str
    gap: float
    place: float

    @property
    def holds(self) -> bool:
        """Whether the upper curve is nowhere below the lower one."""
        return self.gap >= 0


class Functions(NamedTuple):
    """The curves of an item, on the same points, and their values at the places where they are printed."""

    x: np.ndarray
    at: np.ndarray
    curves: list[Curve]
    printed: list[np.ndarray]
    bounds: list[Bound]


def compute(keys: Mapping[str, Any]) -> Functions:
    """Return the curves of an item from its keys."""
    low, high = keys["domain"]
    x = np.linspace(low, high, keys.get("points", _POINTS))
    at = np.asarray(keys.get("at", [low, high]), dtype=np.float64)
    curves, printed = [], []
    for row in keys["curves"]:
        formula = FORMULAS[row["formula"]]
        parameters = {k: v for k, v in row.items() if k not in ("name", "formula")}
        curves.append(Curve(row["name"], x, formula(x, **parameters)))
        printed.append(formula(at, **parameters))
    values = {curve.label: curve.y for curve in curves}
    bounds = [_bound(x, values, **pair) for pair in keys.get("bounds", ())]
    return Functions(x, at, curves, printed, bounds)


def _bound(x: np.ndarray, values: Mapping[str, np.ndarray], lower: str, upper: str) -> Bound:
    """Return by how much one curve stays above another."""
    gap = values[upper] - values[lower]
    least = int(np.argmin(gap))
    return Bound(lower, upper, float(gap[least]), float(x[least]))


def draw(functions: Functions, xlabel: str = "", ylabel: str = "") -> "Figure":
    """Return a picture of the curves."""
    dashes = cycle(["-", "--", "-.", ":"])
    lines = [
        Line(curve, colour(i), dash, 1.8)
        for i, (curve, dash) in enumerate(zip(functions.curves, dashes, strict=False))
    ]
    x = PlotAxis(xlabel, ends=(functions.x[0], functions.x[-1]))
    panel = Panel(lines, x, PlotAxis(ylabel, ends=(0, None)), legend=LEGEND)
    return plots.draw_panels([panel], PanelGrid(5.4, 3.6))


def check(item: "Item") -> None:
    """Raise if a key is missing, or if a curve has an unknown formula or parameter."""
    keys, where = item.extra, f"item {item.name!r}"
    for key in ("curves", "domain"):
        if key not in keys:
            raise checks.InputError(f"{where}: the key {key!r} is missing.")
    for curve in keys["curves"]:
        if curve.get("formula") not in FORMULAS:
            near = checks.nearest(str(curve.get("formula")), FORMULAS)
            raise checks.InputError(f"{where}: there is no formula {curve.get('formula')!r}{near}")
        known = [
            "name",
            "formula",
            *list(inspect.signature(FORMULAS[curve["formula"]]).parameters)[1:],
        ]
        for key in curve:
            if key not in known:
                raise checks.InputError(
                    f"{where}: the formula {curve['formula']!r} has no parameter {key!r}"
                    f"{checks.nearest(key, known)}"
                )
    names = [curve.get("name") for curve in keys["curves"]]
    for pair in keys.get("bounds", ()):
        for end in (pair.get("lower"), pair.get("upper")):
            if end not in names:
                raise checks.InputError(
                    f"{where}: there is no curve {end!r}{checks.nearest(str(end), map(str, names))}"
                )


def show(work: "Work", found: "Found") -> Content:
    """Return the picture of the curves, a table of values, and a sentence for each bound."""
    keys, item = work.item.extra, work.item
    functions = compute(keys)
    table = Table(
        "Values",
        ["curve", *(f"{place:g}" for place in functions.at)],
        [
            [Cell(curve.label), *(Cell(f"{value:.{item.digits}f}") for value in printed)]
            for curve, printed in zip(functions.curves, functions.printed, strict=True)
        ],
        functions.at.size,
    )
    figure = draw(functions, keys.get("xlabel", ""), keys.get("ylabel", ""))
    records = [
        [curve.label, place, value]
        for curve, printed in zip(functions.curves, functions.printed, strict=True)
        for place, value in zip(functions.at.tolist(), printed.tolist(), strict=True)
    ]
    return Content(
        [_sentence(bound, functions) for bound in functions.bounds],
        [table],
        [Drawing("", figure, item.title)],
        ["curve", "x", "value"],
        records,
    )


def _sentence(bound: Bound, functions: Functions) -> str:
    """Return what was found of a bound."""
    low, high = functions.x[[0, -1]]
    if bound.holds:
        return (
            f"Between {low:g} and {high:g} the {bound.upper} is nowhere below the {bound.lower}; the smallest "
            f"difference on {functions.x.size} points is {bound.gap:.4f}, at {bound.place:g}."
        )
    return f"The {bound.upper} is below the {bound.lower} by {-bound.gap:.4f} at {bound.place:g}."
