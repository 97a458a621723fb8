"""Only `render` draws; marks and panels become what matplotlib shows."""

import ast

import numpy as np
import pytest

from rankwood.render import marks, plots
from rankwood.render.curve import Curve, by_round
from tests.helpers.source import trees


def imports_of(tree):
    """Yield the names of modules that a module imports when it runs; imports for type checkers are none."""
    checked = {
        id(node)
        for top in ast.walk(tree)
        if isinstance(top, ast.If) and ast.unparse(top.test) == "TYPE_CHECKING"
        for node in ast.walk(top)
    }
    for node in ast.walk(tree):
        if id(node) in checked:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_render_imports_plotting_and_template_libraries():
    users = {
        path.as_posix()
        for path, tree in trees().items()
        for name in imports_of(tree)
        if name.split(".")[0] in ("matplotlib", "jinja2")
    }
    assert users and all(path.startswith("render/") for path in users), users


def test_a_curve_knows_the_value_at_the_round_that_was_kept():
    assert by_round("a", [0.1, 0.4, 0.2], kept=2).kept_value == 0.4
    assert by_round("a", [0.1], kept=2).kept_value is None
    assert by_round("a", [0.1]).kept_value is None


def test_panels_fill_a_grid_and_share_a_legend():
    def panel(name):
        curve = Curve(name, np.arange(3.0), np.array([1.0, 2.0, 4.0]))
        return plots.Panel([marks.Line(curve)], plots.PlotAxis("x"), title=name)

    grid = plots.PanelGrid(2.0, 2.0, 2, legend={"loc": "outside lower center"})
    figure = plots.draw_panels([panel("a"), panel("b"), panel("c")], grid)
    assert [ax.axison for ax in figure.axes] == [True, True, True, False]
    assert [ax.get_title(loc="left") for ax in figure.axes[:3]] == ["a", "b", "c"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]


def test_intervals_without_an_end_are_points():
    low, high = np.array([0.5, np.nan]), np.array([2.0, np.nan])
    interval = marks.Intervals(np.arange(2), np.array([1.0, 3.0]), low, high)
    (ax,) = plots.draw_panels([plots.Panel([interval])], plots.PanelGrid(2, 2)).axes
    assert ax.get_lines()[0].get_ydata().tolist() == [1.0, 3.0]
    lengths = [float(np.ptp(piece[:, 1])) for piece in ax.collections[0].get_segments()]
    assert lengths == pytest.approx([1.5, 0.0])


def test_a_waterfall_joins_its_steps():
    steps = marks.Waterfall(np.array([3.0, 1.0, 2.0]), ["+2", "-1"])
    (ax,) = plots.draw_panels([plots.Panel([steps])], plots.PanelGrid(2, 2)).axes
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert ends == [(1.0, 3.0), (2.0, 1.0)]
    first, second = ax.patches
    assert first.get_facecolor() != second.get_facecolor()
    assert [text.get_text() for text in ax.texts] == ["+2", "-1"]


@pytest.mark.parametrize(("end", "numbers"), [(8, ["1", "2", "5"]), (500, ["1", "10", "100"])])
def test_numbers_of_a_log_axis(end, numbers):
    """There are several numbers even if there are few powers of 10."""
    curve = Curve("a", np.arange(1.0, end + 1), np.arange(1.0, end + 1))
    panel = plots.Panel([marks.Line(curve)], plots.PlotAxis("x", log=True))
    figure = plots.draw_panels([panel], plots.PanelGrid(4, 3))
    figure.canvas.draw()
    (ax,) = figure.axes
    low, high = ax.get_xlim()
    shown = [
        text.get_text()
        for text in ax.xaxis.get_ticklabels(which="both")
        if text.get_text() and low <= text.get_position()[0] <= high
    ]
    assert shown == numbers


def test_forty_nine_lines_look_different():
    looks = [marks.look(i) for i in range(49)]
    assert len(set(looks)) == 49
    curves = [Curve(str(i), np.arange(2.0), np.full(2, i)) for i in range(49)]
    lines = [marks.Line(curve, *one) for curve, one in zip(curves, looks, strict=True)]
    figure = plots.draw_panels([plots.Panel(lines)], plots.PanelGrid(4, 3))
    figure.canvas.draw()
    (ax,) = figure.axes
    drawn = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in ax.get_lines()}
    assert len(drawn) == 49
