"""Kinds of items that need no data: curves of formulas, and schemes of boxes and arrows."""

import io
import math
import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from rankwood._util.checks import InputError
from rankwood.reproduce.kinds import functions, scheme
from tests.helpers.recipe_tables import load

LAMBDALOSS, BIVARIATE = load("lambdaloss")["items"], load("bivariate")["items"]


@dataclass
class Item:
    """As much of an item as kinds without data read."""

    extra: dict
    name: str = "figure1"
    title: str = "A figure"
    digits: int = 4


def keys_of(item, kind):
    """Return the keys of an item that only its kind knows."""
    return {key: value for key, value in item.items() if key in kind.KEYS}


def shown(kind, keys):
    """Return the content of a page."""
    return kind.show(SimpleNamespace(item=Item(keys)), None)


@pytest.mark.parametrize(("power", "sigma"), [(0.5, 1), (1, 1), (2, 1), (5, 1), (2, 0.5)])
def test_logistic_powers_by_hand(power, sigma):
    keys = {
        "domain": [-1, 1],
        "at": [-30, -2, 0, 1.5, 30],
        "curves": [{"name": "a", "formula": "logistic", "power": power, "sigma": sigma}],
    }
    wanted = [(1 / (1 + math.exp(-sigma * x))) ** power for x in keys["at"]]
    assert functions.compute(keys).printed[0] == pytest.approx(wanted, rel=1e-12)


def test_larger_exponents_are_below_smaller_ones_and_steeper_on_the_right():
    found = functions.compute(LAMBDALOSS["figure1"])
    for one, next_one in zip(found.curves, found.curves[1:], strict=False):
        assert (one.y > next_one.y).all()
    slopes = [np.gradient(curve.y, found.x).max() for curve in found.curves]
    assert slopes == sorted(slopes)  # the larger the exponent, the sharper the curve


def test_half_way_a_power_of_the_logistic_function_is_that_power_of_a_half():
    found = functions.compute(LAMBDALOSS["figure1"])
    middle = found.at.tolist().index(0)
    powers = [curve["power"] for curve in LAMBDALOSS["figure1"]["curves"]]
    assert [values[middle] for values in found.printed] == pytest.approx([0.5**p for p in powers])


def test_the_logistic_loss_in_bits_bounds_the_zero_one_loss():
    found = functions.compute(LAMBDALOSS["figure2"])
    (bound,) = found.bounds
    assert bound.holds
    losses = {c.label: values for c, values in zip(found.curves, found.printed, strict=True)}
    assert losses["zero-one loss"].tolist() == [1, 1, 0, 0, 0]
    by_hand = [math.log2(1 + math.exp(-x)) for x in (-4, -2, 0, 2, 4)]
    assert losses["logistic loss"] == pytest.approx(by_hand)
    assert losses["logistic loss"][2] == pytest.approx(1)  # it touches the corner of the step


def test_natural_logarithms_are_no_bound():
    keys = {**LAMBDALOSS["figure2"]}
    curves = [dict(curve) for curve in keys["curves"]]
    curves[1]["base"] = math.e
    content = shown(functions, {**keys_of(keys, functions), "curves": curves})
    assert "is below the zero-one loss by" in content.paragraphs[0]


def test_a_page_of_functions_has_values_a_picture_and_a_sentence():
    content = shown(functions, keys_of(LAMBDALOSS["figure2"], functions))
    assert "nowhere below" in content.paragraphs[0]
    (table,) = content.tables
    assert table.headings == ["curve", "-4", "-2", "0", "2", "4"]
    assert [cell.text for cell in table.rows[1]][:4] == [
        "logistic loss", "5.7970", "3.0685", "1.0000",
    ]  # fmt: skip
    assert len(content.records) == 10
    (axes,) = content.drawings[0].figure.axes
    assert [line.get_label() for line in axes.get_lines()] == ["zero-one loss", "logistic loss"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"curves": [{"name": "a", "formula": "logistc"}]}, "no formula 'logistc'.*'logistic'"),
        ({"curves": [{"name": "a", "formula": "zero-one", "sigma": 1}]}, "no parameter 'sigma'"),
        ({"bounds": [{"lower": "a", "upper": "logistic loss"}]}, "no curve 'a'"),
    ],
)
def test_slips_in_functions_are_refused(change, said):
    keys = keys_of(LAMBDALOSS["figure2"], functions)
    functions.check(Item(keys))
    with pytest.raises(InputError, match=said):
        functions.check(Item({**keys, **change}))


def test_functions_need_curves_and_a_domain():
    keys = keys_of(LAMBDALOSS["figure2"], functions)
    for key in ("curves", "domain"):
        with pytest.raises(InputError, match=f"'{key}' is missing"):
            functions.check(Item({k: v for k, v in keys.items() if k != key}))


def test_the_scheme_is_drawn_with_all_its_parts():
    keys = keys_of(BIVARIATE["figure1"], scheme)
    scheme.check(Item(keys))
    content = shown(scheme, keys)
    assert content.records[0] == ["X1", "x12"]
    assert len(content.records) == len(keys["arrows"])
    (axes,) = content.drawings[0].figure.axes
    assert len(axes.patches) == len(keys["boxes"]) + len(keys["arrows"])
    texts = [text.get_text() for text in axes.texts]
    assert texts == [part["text"] for part in (*keys["boxes"], *keys["labels"])]
    svg = io.BytesIO()
    content.drawings[0].figure.savefig(svg, format="svg")
    drawn = re.sub(
        r"<!--.*?-->", "", svg.getvalue().decode()
    )  # comments repeat the sources of texts
    assert "$" not in drawn and r"\bar" not in drawn  # formulas are set, not printed


def test_texts_of_a_scheme_fit_into_their_boxes_and_the_picture():
    keys = keys_of(BIVARIATE["figure1"], scheme)
    figure = shown(scheme, keys).drawings[0].figure
    figure.canvas.draw()
    (axes,) = figure.axes
    outlines = axes.patches[: len(keys["boxes"])]
    whole = figure.bbox
    for i, text in enumerate(axes.texts):
        place = text.get_window_extent()
        room = outlines[i].get_window_extent() if i < len(outlines) else whole
        assert room.x0 <= place.x0 and place.x1 <= room.x1, text.get_text()
        assert room.y0 <= place.y0 and place.y1 <= room.y1, text.get_text()


def test_boxes_of_a_scheme_do_not_overlap():
    boxes = [box for box in scheme.read(BIVARIATE["figure1"]).boxes if box.shape != "frame"]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = [abs(a - b) for a, b in zip(one.at, other.at, strict=True)]
            room = [(a + b) / 2 for a, b in zip(one.size, other.size, strict=True)]
            assert apart[0] >= room[0] or apart[1] >= room[1], (one.id, other.id)


BOX = {"id": "a", "text": "A", "at": [0, 0]}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "'boxes' is missing"),
        ({"boxes": [{"id": "a", "at": [0, 0]}]}, "box 1: the key 'text' is missing"),
        ({"boxes": [{**BOX, "color": "grey"}]}, "unknown key 'color'.*'colour'"),
        ({"boxes": [{**BOX, "shape": "star"}]}, "shape must be one of"),
        ({"boxes": [{**BOX, "colour": "pink"}]}, "colour must be one of"),
        ({"boxes": [BOX, BOX]}, "two boxes are called 'a'"),
        ({"boxes": [BOX], "arrows": [{"from": "a", "to": "b"}]}, "no box 'b'"),
    ],
)
def test_slips_in_schemes_are_refused(keys, said):
    with pytest.raises(InputError, match=said):
        scheme.check(Item(keys))
