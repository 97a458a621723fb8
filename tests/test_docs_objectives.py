"""docs/objectives.md: each name has its formula, picture, citation, cost, and the parameters it really has."""

import inspect
import re
from pathlib import Path

import pytest

from rankwood.objectives.named import OBJECTIVES

PAGE = (Path(__file__).parents[1] / "docs" / "objectives.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([^`]+)`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
FAMILIES = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
SINGLE = [name for name in OBJECTIVES if "-ex" not in name]
EXTENDED = [name for name in OBJECTIVES if "-ex" in name]


def parameters(text):
    """Names and defaults of a list of parameters, `k` and `name=default`."""
    listed = re.findall(r"`(\w+)(?:=([^`]+))?`", text)
    return {name: default for name, default in listed}


@pytest.mark.parametrize("name", SINGLE)
def test_a_section_tells_everything(name):
    text = SECTIONS[name]
    assert text.count("$$") == 2
    assert f"](pictures/{name}.png)" in text
    assert re.search(r"\[[a-z]+\d{4}", text)
    assert "- Cost: " in text
    known = inspect.signature(OBJECTIVES[name]).parameters
    if name.startswith("lambdagap"):  # said once for the family
        shown = parameters(FAMILIES["LambdaGap"].split("Parameters of all:")[1])
        shown = {k: v for k, v in shown.items() if k != "mu" or "+" in name}
    else:
        shown = parameters(text.split("- Parameters: ")[1])
    assert set(shown) == set(known)
    for parameter, default in shown.items():
        real = known[parameter].default
        if parameter in ("k", "truncation"):  # none, and that of k
            assert real is None and default in ("", "k")
        else:
            assert type(real)(eval(default)) == real, parameter


def test_no_section_is_of_an_unknown_name():
    assert set(SECTIONS) == set(SINGLE)


@pytest.mark.parametrize("name", EXTENDED)
def test_the_extended_family_is_told_by_parts(name):
    text = FAMILIES["Lambda-eX"]
    base, _, rest = name.partition("-ex")
    base += "-ex++" if rest.startswith("++") else "-ex"
    how = rest.removeprefix("++").removesuffix("-bin")
    assert f"| `{base}` |" in text
    assert f"| `{how}` |" in text
    assert f"](pictures/{base}-static.png)" in text
    for parameter in inspect.signature(OBJECTIVES[name]).parameters:
        assert re.search(rf"`{parameter}\b", text), parameter
